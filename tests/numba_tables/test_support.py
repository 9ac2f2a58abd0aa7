"""The tables of what Numba supports, against the installed Numba and numba-cuda."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pytest

from porter.rules.nopython.calls import KNOWN, MODULES
from porter.support.tables import FOLDER, table
from tests.tools import make_support


def call(text: str) -> ast.Call:
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.Call)
    return node


def differences(kept: dict[str, Any], asked: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What two tables say differently of the names that both were asked about: another Python
    or NumPy has more names, or fewer."""

    def spoken(table: dict[str, Any], group: str) -> dict[str, Any]:
        only = set(table.get("arrays_only", {}).get(group, ()))
        known = {n: (s, n in only) for n, s in table["supported"][group].items()}
        return {**dict.fromkeys(table["unsupported"][group]), **known}

    found = {}
    for group in kept["supported"]:
        old, new = spoken(kept, group), spoken(asked, group)
        assert len(old.keys() & new.keys()) > 10
        found |= {f"{group}.{n}": (old[n], new[n]) for n in old.keys() & new if old[n] != new[n]}
    return found


def agrees(target: str) -> None:
    asked = make_support.asked(target)
    path = make_support.path(asked)
    again = f"run `python -m tests.tools.make_support {target}`"
    assert path.exists(), again
    assert differences(json.loads(path.read_text("utf-8")), asked) == {}, again


def test_a_name_that_comes_or_goes_is_a_difference() -> None:
    kept = json.loads(next(FOLDER.glob("cpu-*.json")).read_text("utf-8"))
    asked = json.loads(json.dumps(kept))
    assert differences(kept, asked) == {}
    asked["supported"]["numpy"]["mean"] = ["a axis?"]
    del asked["supported"]["math"]["sqrt"]
    asked["unsupported"]["math"] += ["sqrt", "new"]
    assert sorted(differences(kept, asked)) == ["math.sqrt", "numpy.mean"]


def test_cpu_table_is_what_the_installed_numba_says() -> None:
    agrees("cpu")


@pytest.mark.slow
@pytest.mark.parametrize("target", [pytest.param("cuda", marks=pytest.mark.long), "builtin"])
def test_cuda_tables_are_what_compiles(target: str) -> None:
    if target == "cuda":
        try:
            version("numba-cuda")
        except PackageNotFoundError:
            pytest.skip("numba-cuda is not installed")
    agrees(target)


def test_every_target_has_a_table() -> None:
    assert {p.stem.split("-")[0] for p in FOLDER.glob("*.json")} == {"cpu", "cuda", "builtin"}


@pytest.mark.parametrize(
    ("group", "name", "text", "misfit"),
    [
        ("numpy", "mean", "mean(x)", None),
        ("numpy", "mean", "mean(x, axis=0)", "parameter `axis`"),
        ("numpy", "mean", "mean(x, 0)", "2 positional arguments"),
        ("numpy", "mean", "mean(*x)", None),
        ("numpy", "mean", "mean(x, **k)", None),
        ("numpy", "sum", "sum(x, axis=0)", None),
        ("numpy", "add", "add(x, y, z)", None),
        ("numpy", "add", "add(x, y, out=z)", "parameter `out`"),
        ("methods", "max", "max(0)", "1 positional arguments"),
        ("methods", "astype", "astype(t)", None),
        ("methods", "astype", "astype(t, copy=False)", "parameter `copy`"),
        ("methods", "reshape", "reshape(1, 2, 3)", None),
    ],
)
def test_misfit_says_what_numba_does_not_take(
    group: str, name: str, text: str, misfit: str | None
) -> None:
    assert table("cpu").misfit(group, name, call(text)) == misfit


MODULES_SCRIPT = """
import importlib, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
from numba import njit
from numba.core.registry import cpu_target
njit(lambda a: np.sum(a))(np.ones(3))  # loads the implementations
for name in sys.argv[1:]:
    try:
        module = importlib.import_module(name)
    except ImportError:
        continue
    for attribute in dir(module):
        value = getattr(module, attribute)
        home = (getattr(value, "__module__", None) or "").split(".")[0].lstrip("_")
        if callable(value) and home == name and not isinstance(value, type):
            try:
                cpu_target.typing_context.resolve_value_type(value)
            except Exception:
                continue
            print(f"{name}.{attribute}")
"""


def test_modules_that_are_said_not_to_compile_have_nothing_that_does() -> None:
    standard = sorted(MODULES & sys.stdlib_module_names)
    command = [sys.executable, "-c", MODULES_SCRIPT, *standard]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= KNOWN
