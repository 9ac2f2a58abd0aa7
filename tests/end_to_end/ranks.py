"""Calls with other ranks and axes of size 1 than a function was converted for, beside NumPy.

    python -m tests.end_to_end.ranks PATTERN ... [--all | --elementwise] [--kinds] [--cures]
                                     [--part K/N]

PATTERN is a part of a corpus case's name, and K counts from 0.  Prints a JSON line for each
function that takes any rank (with --all, for every one; with --elementwise, for examples and
elementwise functions): its calls, those that are wrong or refused, and how many it takes more than
the original.  With --kinds, integers, bools, lists, numbers and arrays of mixed widths follow; with
--cures, what the first refusal of each class says to do is done.  A summary for elementwise
functions and examples, and one for the rest, goes to stderr (`tests.end_to_end.refusals` adds up
those of several parts).  Needs NUMBA_ENABLE_CUDASIM=1 before Numba is imported.
"""

from __future__ import annotations

import copy
import json
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from porter.codegen.module.module import module_text
from porter.convert.function import Converted, convert_function
from porter.diagnostics import Refusal
from porter.resolve.globals import Globals
from porter.schedule.elementwise import is_elementwise
from porter.source.module import SourceModule
from porter.support.reserved import MARK
from tests.corpus.check import compare
from tests.end_to_end.refusals import class_of, cured, summary
from tests.programs.calls import arrays_as, numbers_as
from tests.programs.simulator import SMALL

Arguments = tuple[Any, ...]


def ranks(arguments: Arguments, arrays: Sequence[int]) -> Iterator[tuple[str, Arguments]]:
    """The arguments with these arrays raised or lowered: all of them, and each alone."""
    for change in (-2, -1, 1, 2, 3):
        yield (
            f"all {change:+}",
            _with(arguments, {i: _ranked(arguments[i], change) for i in arrays}),
        )
    if len(arrays) > 1:
        for i in arrays:
            for change in (-1, 1, 2):
                raised = {i: _ranked(arguments[i], change)}
                yield f"argument {i} {change:+}", _with(arguments, raised)
    wide = _with(arguments, {i: _ranked(arguments[i], 1) for i in arrays})
    for base in (arguments, wide):
        for i in arrays:
            for axis in range(np.ndim(base[i])):
                yield f"argument {i} axis {axis} 1", _with(base, {i: base[i].take([0], axis)})


def kinds(arguments: Arguments) -> Iterator[tuple[str, Arguments]]:
    """The arguments with each in turn of another kind, then with all arrays of it.

    Arrays of integers stay arrays of integers: they may be indices.
    """
    floats = [i for i, a in enumerate(arguments) if np.ndim(a) and np.asarray(a).dtype.kind in "fc"]
    for i, a in enumerate(arguments):
        if i in floats:
            others = arrays_as(np.asarray(a))
        elif isinstance(a, (int, float)) and not isinstance(a, bool) and np.isfinite(a):
            others = numbers_as(a)
        else:
            continue
        yield from ((f"argument {i} as {what}", _with(arguments, {i: v})) for what, v in others)
    for what in ("int64", "int8", "number", "integer", "list", "float32"):
        made = {i: dict(arrays_as(np.asarray(arguments[i]))).get(what) for i in floats}
        yield (
            f"arrays as {what}",
            _with(arguments, {i: v for i, v in made.items() if v is not None}),
        )
    if len(floats) > 1:
        for k in (0, 1):
            narrow = {i: np.asarray(arguments[i]).astype(np.float32) for i in floats[k::2]}
            yield f"float32 and float64, from {k}", _with(arguments, narrow)


def _with(arguments: Arguments, changed: dict[int, Any]) -> Arguments:
    return tuple(changed.get(i, copy.deepcopy(a)) for i, a in enumerate(arguments))


def _ranked(array: Any, change: int) -> Any:
    """So many leading axes more, with other numbers in them, or fewer."""
    for _ in range(-change):
        array = array[0] if np.ndim(array) else array
    for k in range(change):
        array = np.stack([np.roll(array, n + k) for n in range(2 + k % 2)])
    return np.asarray(array)


def loaded(made: Converted) -> Callable[..., Any]:
    """The host function, with small blocks."""
    text = module_text(made.texts, "")
    for name, size in SMALL.items():
        text = re.sub(rf"^{name} = \d+", f"{name} = {size}", text, flags=re.M)
    scope: dict[str, Any] = {"__name__": "generated"}
    exec(compile(text, "<generated>", "exec"), scope)
    found: Callable[..., Any] = scope[made.name]
    return found


def group_of(key: str, made: Converted) -> str:
    """What a function is, as the figures are divided."""
    if key.startswith("examples/"):
        return "example"
    return "elementwise" if is_elementwise(made.plan) else "rest"


def converted(source: str, name: str, signature: str | None) -> Converted:
    """A function of a source, converted."""
    module = SourceModule(source, "f.py")
    function = next(f for f in module.functions if f.name == name)
    return convert_function(function, signature, Globals(module))


def any_rank(made: Converted) -> list[str]:
    """The arguments that may have any number of leading axes."""
    if is_elementwise(made.plan):
        return [p.name for p in made.plan.parameters if p.ndim is not None]
    return list(made.plan.leading.arrays) if made.plan.leading else []


#: with more axes of indices than of values, `np.add.at` of NumPy 2.4 reads past the values
WITH_VALUES = ("add_at", "subtract_at", "maximum_at", "minimum_at")


def _spread(original: Callable[..., Any]) -> Callable[..., Any]:
    """`np.add.at(target, indices, values)` with as many values as indices."""

    def call(target: Any, indices: Any, values: Any) -> Any:
        if np.ndim(indices) > np.ndim(values) > 0:
            values = np.broadcast_to(values, np.shape(indices)).copy()
        return original(target, indices, values)

    return call


def judged(
    made: Converted,
    original: Callable[..., Any],
    arguments: Arguments,
    every: bool = False,
    of_kinds: bool = False,
    cure: Callable[[str], Callable[..., Any]] | None = None,
) -> dict[str, Any]:
    """The calls of one function, by what became of them; `cure` makes it for a signature."""
    names = [p.name for p in made.plan.parameters]
    served = [names.index(n) for n in any_rank(made)]
    names = [n.removesuffix(MARK) for n in names]  # as the caller writes them
    if every:
        served = [i for i, p in enumerate(made.plan.parameters) if p.ndim]
    result: dict[str, Any] = {
        "function": made.name,
        "calls": 0,
        "more": 0,
        "wrong": [],
        "refused": [],
        "after": [],
        "names": names,
    }
    function = loaded(made)
    tried: set[str] = set()
    calls = [*ranks(arguments, [i for i in served if i < len(arguments)])]
    for what, given in (*calls, *(kinds(arguments) if of_kinds else ())):
        result["calls"] += 1
        found = compare(original, function, given)
        if found and any(isinstance(a, list) for a in given):
            # lists become arrays, also where Python's operators do something else with them
            found = compare(_of_arrays(original), function, given)
        pairs = list(zip(given, arguments, strict=True))
        # a number has no methods and no axes, an array of it has; a bool is no size of an array
        loose = any(np.ndim(b) and not np.ndim(a) for a, b in pairs) or any(
            isinstance(a, (bool, np.bool_)) and isinstance(b, int) for a, b in pairs
        )
        if found.startswith("no exception") and loose:
            result["more"] += 1
        elif found:
            strict = found.startswith(("raises ValueError", "raises TypeError"))
            result["refused" if strict else "wrong"].append(f"{what}: {found}")
            if strict:
                text = _message(function, given)
                result["refused"][-1] = f"{what}: {text}"
                kind, after = class_of(text), ""
                if cure is not None and kind not in tried:
                    after = cured(text, names, given, original, function, cure)
                tried.add(kind)
                result["after"].append(after)
    return result


def _message(function: Callable[..., Any], given: Arguments) -> str:
    """The whole text of the error that a call raises."""
    try:
        function(*copy.deepcopy(given))
    except (TypeError, ValueError) as e:
        return f"raises {type(e).__name__}: {e}"
    raise AssertionError("the second call of the same arguments is taken")


def _of_arrays(original: Callable[..., Any]) -> Callable[..., Any]:
    """The function with arrays in place of lists."""
    return lambda *given: original(*(np.asarray(a) if isinstance(a, list) else a for a in given))


def main() -> None:
    """Judge the corpus."""
    from tests.corpus.inputs import CASES
    from tests.corpus.simulator import install
    from tests.corpus.sources import original, source_of

    install()
    warnings.simplefilter("ignore")
    words = sys.argv[1:]
    place = words.index("--part") if "--part" in words else len(words)
    part, of = (int(n) for n in (words[place + 1] if words[place:] else "0/1").split("/"))
    patterns = [a for a in words[:place] if not a.startswith("-")]
    done = []
    for number, (key, case) in enumerate(CASES.items()):
        chosen = not patterns or any(p in key for p in patterns)
        if not chosen or case.serial or case.refused or number % of != part:
            continue
        name, source = key.partition(":")[2], source_of(key).read_text("utf-8")
        try:
            made = converted(source, name, case.signature)
        except Refusal:
            continue
        if "--elementwise" in sys.argv and group_of(key, made) == "rest":
            continue
        if any_rank(made) or "--all" in sys.argv:
            arguments = case.make(np.random.default_rng(0), 5)
            call = _spread(original(key)) if name in WITH_VALUES else original(key)
            again = cache(lambda types, of=(source, name): loaded(converted(*of, types)))
            cure = again if "--cures" in sys.argv else None
            found = judged(made, call, arguments, "--all" in sys.argv, "--kinds" in sys.argv, cure)
            done.append({"key": key, "group": group_of(key, made), **found})
            print(json.dumps(done[-1]), flush=True)
    print(summary(done), file=sys.stderr)


if __name__ == "__main__":
    main()
