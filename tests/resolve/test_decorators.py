"""Decorators of the project's own that compile with Numba: they leave functions as they are."""

from __future__ import annotations

import pytest

from tests.support.shell import Shell

OWN = """
import functools

import numba as nb

partly = functools.partial(nb.njit, cache=False)


def typed(n, *, cache=True):
    assert n > 0
    signatures = []
    for T in (nb.float32, nb.float64):
        signatures.append(T[:](T[:], *[T for _ in range(n)]))
    return custom(signatures, cache=cache)


def custom(signatures, cache=True):
    return nb.njit(signatures, cache=False, error_model="numpy")


def either(f=None, **options):
    def outer(function):
        return nb.njit(**options)(function)

    if f is None:
        return outer
    return nb.njit(f)


def timed(f):
    def wrapper(*args):
        return f(*args)

    return wrapper


def sometimes(f):
    if f.__name__ == "f":
        return timed(f)
    return nb.njit(f)


def another(f):
    f = timed(f)
    return f


def handed(compiler):
    def outer(function):
        return compiler(function)

    return outer


def passed(f):
    def wrapper(x, a):
        return x

    return wrapper


def replaced(f):
    def wrapper(x, a):
        return nb.njit(x)

    if f is not None:
        return wrapper
    return f


def circle(f):
    return circle(f)


KNOWN = {}


def registered(kind):
    def outer(f):
        f.kind = kind
        setattr(f, "known", True)
        KNOWN[f.__name__] = f
        return f

    return outer


def noted(f):
    KNOWN[f.__name__], f.__doc__ = f, "Noted."
    return f


def emptied(f):
    f.__defaults__ = (0.0,)
    return f


def unpacked(f):
    (f, *_), KNOWN["last"] = [timed(f)], f
    return f
"""
DECORATORS = {
    "partly": True, "typed(1)": True, "custom(None)": True, "either": True,
    "either(cache=False)": True, "timed": False, "sometimes": False, "another": False,
    "handed(timed)": False, "passed": False, "replaced": False, "circle": False,
    "registered('simple')": True, "noted": True, "emptied": False, "unpacked": False,
}  # fmt: skip


@pytest.mark.parametrize("decorator", DECORATORS)
def test_what_compiles_is_told_from_what_changes(shell: Shell, decorator: str) -> None:
    shell.write("own.py", OWN)
    name = decorator.partition("(")[0]
    imports = ", ".join(dict.fromkeys((name, "timed")))
    text = f"from own import {imports}\n\n\n@{decorator}\ndef f(x, a):\n    return x * 2 + a\n"
    shell.write("f.py", text)
    code = shell.convert("f.py", "--signature", "float64[:], float64")
    assert code == (0 if DECORATORS[decorator] else 1)
    if code:
        assert f"the decorator `{decorator}` may change what `f` computes" in shell.out


def test_the_function_itself_is_the_reference(shell: Shell) -> None:
    """Compiled for two signatures it would take no integers, and raise no exceptions of NumPy's."""
    shell.write("own.py", OWN)
    text = "from own import typed\n\n\n@typed(1)\ndef f(x, a):\n    return x * 2 + a\n"
    shell.write("f.py", text)
    assert shell.convert("f.py", "--signature", "float64[:], float64", verify=True) == 0
