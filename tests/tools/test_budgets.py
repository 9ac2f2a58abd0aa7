"""The size and form that code in porter/ keeps, so that one sitting suffices to read a file."""

from __future__ import annotations

import re
from collections.abc import Set

from tests.tools.measures import (
    FILES,
    Function,
    branchy,
    folders,
    functions,
    length,
    lines,
    named,
    states,
)
from tests.tools.reviewed import BRANCHES, LARGE_STATES, LONG_FILES, LONG_FUNCTIONS

UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|NotImplementedError|xfail)\b")
#: folders with one thing a file: as many as there are
ONE_THING_A_FILE = re.compile(r"lowering/functions|rules/\w+")


def no_more_than(found: Set[str], listed: Set[str]) -> None:
    """Nothing new is over the limit, and what is not any more leaves the list."""
    assert found - listed == set()
    assert listed - found == set(), "within the limit now: take it off the list"


def unannotated(node: Function) -> list[str]:
    """The parameters (and `return`) without an annotation."""
    arguments = node.args
    named = [*arguments.posonlyargs, *arguments.args]
    if named and named[0].arg in ("self", "cls"):
        named = named[1:]
    named += [*arguments.kwonlyargs, *filter(None, (arguments.vararg, arguments.kwarg))]
    missing = [a.arg for a in named if a.annotation is None]
    return missing + ["return"] * (node.returns is None)


def test_files_are_short() -> None:
    no_more_than({named(path) for path in FILES if lines(path) > 500}, LONG_FILES)


def test_functions_are_short() -> None:
    """Those that declare the options of the command line apart."""
    found = {named(path, f.name) for path, f in functions() if length(f) > 60}
    found = {name for name in found if not name.startswith(("cli.py", "commands/"))}
    no_more_than(found, LONG_FUNCTIONS)


def test_few_functions_have_many_branches() -> None:
    no_more_than(branchy(15), BRANCHES.keys())
    assert len(BRANCHES) <= 10 and all(BRANCHES.values())


def test_folders_are_small() -> None:
    found = {name: count for name, count in folders().items() if count > 15}
    assert [name for name in found if not ONE_THING_A_FILE.fullmatch(name)] == []


def test_states_are_small() -> None:
    no_more_than({name for name, count in states().items() if count > 10}, LARGE_STATES)


def test_functions_are_annotated() -> None:
    missing = {f"{named(path, f.name)}:{f.lineno}": unannotated(f) for path, f in functions()}
    assert {name: names for name, names in missing.items() if names} == {}


def test_nothing_is_left_unfinished() -> None:
    found = [
        f"{named(path)}: {line.strip()}"
        for path in FILES
        for line in path.read_text(encoding="utf-8").splitlines()
        if UNFINISHED.search(line)
    ]
    assert found == []
