"""What random programs found wrong in generated text, which the interpreter does not see."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.convert.function import convert_function
from porter.source.module import SourceModule
from porter.verify.run import verify_module
from tests.corpus.convert import converted
from tests.corpus.inputs import CASES
from tests.support.paths import CORPUS

SOURCE = CORPUS / "found.py"
FUNCTIONS = {f.name: f for f in SourceModule(SOURCE.read_text(), "found.py").functions}
APART = "z and x are one array: pass a copy of x"


def text_of(name: str) -> str:
    return "".join(convert_function(FUNCTIONS[name], CASES[f"found:{name}"].signature).text.parts)


@pytest.mark.parametrize("name", ["sums_of_itself", "products_of_itself", "from_the_largest"])
def test_folds_of_a_thread_are_verified(name: str, tmp_path: Path) -> None:
    module = converted(f"found:{name}", tmp_path)
    (function,) = verify_module(module, on=("simulator",))
    (evidence,) = function.evidence
    assert evidence.status == "passed"
    assert not function.failed and evidence.detail["values"] > 0


def test_the_largest_is_looked_for_once() -> None:
    assert text_of("from_the_largest").count(" = maximum(") == 1


@pytest.mark.parametrize("name", ["kept_beside_a_store", "flat_beside_a_store"])
def test_what_is_kept_of_x_must_not_be_z(name: str) -> None:
    text = text_of(name)
    assert APART in text and "d_x = d_z" not in text


def test_a_check_of_the_axes_keeps_other_numbers_of_axes_out(tmp_path: Path) -> None:
    """An elementwise kernel serves any number of them, the function does not."""
    module = converted("host_objects:elementwise_of_one_axis", tmp_path)
    assert '_array(x, "x", 1, ' in module.read_text()
    (function,) = verify_module(module, on=("simulator",))
    assert function.verified, function.to_json()
