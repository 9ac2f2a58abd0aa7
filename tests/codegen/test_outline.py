"""Which loops of a host function become compiled functions, and what they are given."""

from __future__ import annotations

import pytest

from porter.codegen.host.outline import Known, outlined

KNOWN = Known(
    kernels=frozenset({"step"}),
    arrays=frozenset({"a", "b", "total"}),
    integers=frozenset({"n"}),
    types=frozenset({"T"}),
)


def taken(body: str) -> tuple[str, list[str]]:
    """The host function of a body after its loops are taken out, and their functions."""
    lines = "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
    found = outlined(f"def f(a, b, n, x):\n{lines}", "f", KNOWN)
    return found.text, found.functions


def test_a_loop_of_launches_is_a_function_that_gives_back_what_is_read_behind_it() -> None:
    text, functions = taken("""
total = np.empty((), a.dtype)
# a step
for t in range(1, n):
    step(a, b, T(x), t - 1, total.reshape(1))
    a, b = b, a
return a""")
    assert functions == [
        "@njit(cache=True)\n"
        "def f_steps(n, a, b, x, total):\n"
        "    # a step\n"
        "    for t in range(1, n):\n"
        "        step(a, b, T(x), t - 1, total.reshape(1))\n"
        "        a, b = b, a\n"
        "    return a"
    ]
    assert text.endswith("    a = f_steps(n, a, b, x, total)\n    return a")


@pytest.mark.parametrize(
    "line",
    [
        "step(a, b / x)",  # Python raises where Numba has its own rules
        "step(_apart(a, b), b)",
        "step(a, b[()])",
        "step(a, b, x * 2.0)",
        "a = np.sort(b)",
        "if x > 0.5: step(a, b)",
        "raise ValueError('no')",
        "print(t)",
    ],
)
def test_what_numba_may_understand_in_another_way_stays_on_the_host(line: str) -> None:
    _, functions = taken(f"for t in range(n):\n    step(a, b)\n    {line}")
    assert not functions


def test_a_loop_without_launches_stays() -> None:
    assert not taken("for t in range(n):\n    pass")[1]


def test_inner_loops_are_taken_where_the_outer_one_stays() -> None:
    text, functions = taken("""
for t in range(n):
    print(t)
    for k in range(n):
        step(a, b)
        a, b = b, a
return b""")
    assert len(functions) == 1
    # both are read by the next iteration
    assert "        a, b = f_steps(n, a, b)" in text


def test_a_name_that_may_have_no_value_stays_pythons_to_miss() -> None:
    assert not taken("for t in range(n):\n    step(a, b)\n    k = t + 1\nreturn k")[1]
