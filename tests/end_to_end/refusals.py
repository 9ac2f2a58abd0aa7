"""What becomes of refused calls: their classes, what their texts name, and whether the cure works.

    python -m tests.end_to_end.refusals FILE ...

adds up the JSON lines that `tests.end_to_end.ranks` printed.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from porter.diagnostics import Refusal, UsageError
from tests.corpus.check import compare

Arguments = tuple[Any, ...]
Function = Callable[..., Any]
#: the class of a refusal, by the first of these that its text has
CLASSES = {
    "real for complex": re.compile(r"has dtype .* take complex|compute in complex128"),
    "integers of which NumPy computes narrow floats, or that wrap": re.compile(
        r" (bool|u?int(8|16)), with which NumPy does not|narrow floats|too large to be"
    ),
    "integers for floats": re.compile(r"(has dtype|is|are) (bool|u?int\d+)\b(?!.*take complex)"),
    "mixed or other widths": re.compile(r"one dtype|has dtype float"),
    "in place": re.compile(r"in place|would be changed"),
    "too few dimensions": re.compile(r"has \d dimensions instead of \d or more"),
    "other dimensions": re.compile(r"dimensions instead of"),
    "broadcast": re.compile("broadcast|changes its shape"),
    "Python's number for an array": re.compile("is Python's"),
    "number of another kind": re.compile("made for an integer|other dtypes|promote"),
}
#: how many kinds of a class a summary shows
SHOWN = 12
_COMMAND = re.compile(r"run `(porter convert .*)`")
_PASSED = re.compile(
    r"pass ((?:np\.asarray|np\.atleast_1d|np\.broadcast_to|float|int|complex)"
    r"\((\w+)(?:, (?:np\.\w+|\([\d, ]*\)))?\)"
    r"(?:\.astype\(np\.\w+\))?|(\w+)\.(?:astype|item)\([^)]*\))"
)


def class_of(text: str) -> str:
    """What kind of refusal a text is."""
    return next((name for name, words in CLASSES.items() if words.search(text)), "other")


def names_all(text: str, names: Sequence[str]) -> bool:
    """Whether a text names a parameter, what it was, and a cure."""
    named = any(re.search(rf"\b{re.escape(n)}\b", text) for n in names)
    return named and bool(_COMMAND.search(text) or _PASSED.search(text))


def cured(
    text: str, names: Sequence[str], call: Arguments, original: Function, function: Function,
    made: Callable[[str], Function],
) -> str:  # fmt: skip
    """What comes of the cure that a text names: `equal`, or what differs; '' if it names none.

    `made` gives the function of the command for a signature.
    """
    command = _COMMAND.search(text)
    results = []
    if command is not None:
        words = shlex.split(command[1])
        try:
            other = made(words[words.index("--signature") + 1])
        except (Refusal, UsageError) as e:
            results.append(f"refused: {getattr(e, 'diagnostic', e)}")
        else:
            results.append(compare(original, other, call) or "equal")
    passed = _PASSED.search(text)
    if passed is not None and "equal" not in results:
        changed = dict(zip(names, call, strict=False))
        name = passed[2] or passed[3]
        try:
            changed[name] = eval(passed[1], {"np": np, **changed})
        except (AttributeError, NameError, TypeError, ValueError) as e:
            results.append(f"{passed[0]} fails: {e}")
        else:
            results.append(compare(original, function, tuple(changed.values())) or "equal")
    return "equal" if "equal" in results else "; ".join(results)


def summary(lines: Iterable[Mapping[str, Any]]) -> str:
    """Calls, equal, refused by class: for elementwise functions and examples, and for the rest."""
    found: dict[str, Counter[str]] = {}
    classes: dict[str, Counter[str]] = {}
    for line in lines:
        group = "the rest" if line["group"] == "rest" else "elementwise functions and examples"
        counts = found.setdefault(group, Counter())
        counts["functions"] += 1
        counts["calls"] += line["calls"]
        counts["equal"] += line["calls"] - line["more"] - len(line["wrong"]) - len(line["refused"])
        counts["taken where NumPy raises"] += line["more"]
        counts["wrong"] += len(line["wrong"])
        counts["refused"] += len(line["refused"])
        for text, after in zip(line["refused"], line["after"], strict=True):
            kinds = classes.setdefault(group, Counter())
            kinds[class_of(text)] += 1
            counts["refused with a cure"] += names_all(text, line["names"])
            counts["cures tried"] += bool(after)
            counts["equal after the cure"] += after == "equal"
    texts = []
    for group, counts in sorted(found.items()):
        texts.append(f"{group}: " + ", ".join(f"{n:,} {what}" for what, n in counts.items()))
        for name, n in classes.get(group, Counter()).most_common(SHOWN):
            texts.append(f"  {n:5} {name}")
    return "\n".join(texts)


def main() -> None:
    """Print the summary of some files."""
    rows = (row for path in sys.argv[1:] for row in Path(path).read_text("utf-8").splitlines())
    print(summary(json.loads(row) for row in rows if row.startswith("{")))


if __name__ == "__main__":
    main()
