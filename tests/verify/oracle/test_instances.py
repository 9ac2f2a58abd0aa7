"""Methods are called with the attributes that they read."""

from __future__ import annotations

from porter.verify.oracle.instances import by_attributes
from tests.support.shell import Shell

SCALER = """class _Scaler:
    def __init__(self, low, span):
        self.__low = low
        self.__span__ = span

    def unscale(self, x):
        return (x - self.__low) * self.__span__
"""


def test_private_attributes_have_the_names_that_python_gives_them() -> None:
    scope: dict[str, type] = {}
    exec(SCALER, scope)
    owner = scope["_Scaler"]
    names = ("x", "self___low", "self___span__")
    assert by_attributes(owner.unscale, owner, names)(5, 2, 10) == 30  # type: ignore[attr-defined]


def test_a_module_reads_them_by_these_names(shell: Shell) -> None:
    shell.write("f.py", SCALER)
    assert shell.convert("f.py", "-f", "_Scaler.unscale", "-o", "-") == 0
    assert "    self___low = self._Scaler__low\n" in shell.out
    assert "    self___span__ = self.__span__\n" in shell.out
