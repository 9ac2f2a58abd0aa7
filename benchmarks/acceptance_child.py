"""Functions of one repository for `acceptance.py`: makes their calls, compares.

    python acceptance_child.py REQUEST

REQUEST is a JSON file: for each function the original's file and name, its module and the calls;
and the seconds that one call may take.  The originals are loaded once, and each function is
called in a fork of this process.  The last line of the output has the verdicts of each function.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import json
import math
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from acceptance_load import MissingModule, load

ROOT = Path(__file__).resolve().parent.parent
Function = Callable[..., Any]
#: units of the coarsest dtype's eps
TOLERANCE = 2000
#: NumPy raises one of these, a module another one, both before anything is written
CHECKED = (ValueError, TypeError, IndexError, AssertionError)


class Late(BaseException):
    """A call did not finish in time."""


class Made(NamedTuple):
    """What one call did."""

    positional: tuple[Any, ...]
    named: dict[str, Any]
    result: Any
    error: Exception | None


class Verdict(NamedTuple):
    """equal, refused, wrong, slow or unrunnable, and why."""

    word: str
    text: str = ""
    named: bool = True
    cured: bool = True


@contextlib.contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raises Late when the block takes longer."""

    def ring(number: int, frame: object) -> None:
        raise Late

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def arguments(expression: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What the call expression `f(...)` hands over: new objects each time, of the same seed."""
    names = {
        "np": np,
        "math": math,
        "rng": np.random.default_rng(22),
        "f": lambda *positional, **named: (positional, named),
    }
    made: tuple[tuple[Any, ...], dict[str, Any]] = eval(expression, names)
    return made


def call(function: Function, expression: str) -> Made:
    """Call the function with arguments of its own."""
    positional, named = arguments(expression)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return Made(positional, named, consumed(function(*positional, **named)), None)
        except Exception as error:
            return Made(positional, named, None, error)


def consumed(result: Any) -> Any:
    """The items of an iterator that is not a range, as a list."""
    return list(result) if hasattr(result, "__next__") else result


def judge(original: Function, module: Function | str, expression: str, seconds: float) -> Verdict:
    """Compare one call; `module` is the reason where there is none."""
    try:
        with limit(seconds):
            expected = call(original, expression)
        if isinstance(expected.error, MissingModule):
            return Verdict("unrunnable", f"{expected.error} is not installed")
        if isinstance(module, str):
            # a refused conversion names the statement, not an argument
            return Verdict("refused", module)
        with limit(seconds):
            actual = call(module, expression)
    except Late:
        return Verdict("slow", f"more than {seconds:.0f} s")
    if actual.error is not None and not matches(expected.error, actual.error):
        said = " ".join(str(actual.error).split())
        words = set(re.findall(r"\w+", said))
        known = bool(words & set(inspect.signature(original).parameters))
        text = f"{type(actual.error).__name__}: {said}"
        kind = "refused" if expected.error is None else "wrong"
        refuses = isinstance(actual.error, (ValueError, TypeError, NotImplementedError))
        return Verdict(kind if refuses else "wrong", text, known, "porter convert" in said)
    if expected.error is not None and actual.error is None:
        raised = f"{type(expected.error).__name__}: {expected.error}"
        return Verdict("wrong", f"no exception, the original raises {raised}")
    difference = "" if expected.error is not None else differs(expected, actual)
    return Verdict("wrong", difference) if difference else Verdict("equal")


def matches(expected: Exception | None, actual: Exception) -> bool:
    """Whether the original raises, too, and the same or another of the exceptions of checks."""
    return isinstance(actual, (*CHECKED, type(expected))) if expected is not None else False


def differs(expected: Made, actual: Made) -> str:
    """The first difference: result, Python types, which argument is which result, mutation."""
    from tests.corpus.check import Precision, _differs  # `main` has imported it

    precision = Precision(TOLERANCE, coarsest(expected))
    found = _differs("result", expected.result, actual.result, precision)
    found = found or types_differ("result", expected.result, actual.result)
    for name, a, b in each_argument(expected, actual):
        found = found or _differs(f"argument {name} afterwards", a, b, precision)
    if found:
        return found
    if shared(expected) != shared(actual):
        return f"results share memory with arguments: {shared(actual)}, not {shared(expected)}"
    return ""


def each_argument(expected: Made, actual: Made) -> Iterator[tuple[str, Any, Any]]:
    """The arguments that NumPy may change, as both calls left them."""
    pairs = zip(expected.positional, actual.positional, strict=True)
    yield from ((str(k), a, b) for k, (a, b) in enumerate(pairs) if isinstance(a, np.ndarray))
    named = expected.named.items()
    yield from ((k, a, actual.named[k]) for k, a in named if isinstance(a, np.ndarray))


def coarsest(made: Made) -> float:
    """The largest eps among the floats of the arguments."""
    arrays = [a for a in leaves((*made.positional, *made.named.values()))]
    kinds = [a.dtype for a in arrays if a.dtype.kind in "fc"]
    return max((float(np.finfo(d).eps) for d in kinds), default=0.0)


def leaves(value: Any) -> Iterator[Any]:
    """The arrays within."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from leaves(item)


def types_differ(what: str, expected: Any, actual: Any) -> str:
    """Where an object is not of the very type that the original returns."""
    if type(expected) is not type(actual):
        return f"{what}: {type(actual).__name__} instead of {type(expected).__name__}"
    if isinstance(expected, (tuple, list)):
        pairs = enumerate(zip(expected, actual, strict=True))
        found = (types_differ(f"{what} {k}", e, a) for k, (e, a) in pairs)
        return next(filter(None, found), "")
    return ""


def shared(made: Made) -> list[tuple[int, int]]:
    """Which result shares memory with which argument."""
    given = list(leaves((*made.positional, *made.named.values())))
    pairs = [(i, j) for i, _ in enumerate(leaves(made.result)) for j, _ in enumerate(given)]
    results = list(leaves(made.result))
    return [(i, j) for i, j in pairs if np.shares_memory(results[i], given[j])]


def converted(path: str, name: str) -> Function | str:
    """The module's function, or why there is none."""
    if not os.path.exists(path):
        return "not converted"
    spec = importlib.util.spec_from_file_location("converted_module", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Function = getattr(module, name)
    return found


def verdicts(asked: dict[str, Any], original: Function, seconds: float) -> list[Verdict]:
    """Those of one function's calls."""
    module = asked["refused"] or converted(asked["module"], asked["function"])
    return [judge(original, module, expression, seconds) for expression in asked["calls"]]


def forked(asked: dict[str, Any], original: Function, seconds: float) -> list[Verdict]:
    """The same from a fork, whose end ends nothing else; it gets twice the time of its calls."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(out)
        answer = json.dumps(verdicts(asked, original, seconds))
        with os.fdopen(into, "w") as pipe:
            pipe.write(answer)
        os._exit(0)
    os.close(into)
    try:
        with limit(2 * seconds * len(asked["calls"])), os.fdopen(out) as pipe:
            answer = pipe.read()
    except Late:
        os.kill(child, signal.SIGKILL)
        answer = ""
    _, status = os.waitpid(child, 0)
    if answer:
        return [Verdict(*v) for v in json.loads(answer)]
    code = os.waitstatus_to_exitcode(status)
    word = "slow" if code == -signal.SIGKILL else "wrong"
    return [Verdict(word, f"exit code {code}", False, False)] * len(asked["calls"])


def main() -> None:
    """Answer on the last line of the output."""
    sys.path.insert(0, str(ROOT))
    warnings.simplefilter("ignore")
    request = json.loads(Path(sys.argv[1]).read_text())
    # now, because a checkout may have a package `tests`, too
    import tests.corpus.check
    from tests.corpus.simulator import install

    assert tests.corpus.check
    install()
    functions = request["functions"]
    originals = [load(Path(f["source"]), f["function"]) for f in functions]
    pairs = zip(functions, originals, strict=True)
    answers = [[v._asdict() for v in forked(f, o, request["seconds"])] for f, o in pairs]
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
