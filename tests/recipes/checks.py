"""What the recipes do with what they have added: convert a function and verify its module."""

from __future__ import annotations

import tempfile
from pathlib import Path

from porter.config import Config
from porter.convert.files import FunctionOutcome, convert_file
from porter.convert.function import convert_function
from porter.options import ConvertOptions
from porter.schedule.printer import plan_text
from porter.source.files import SourceFile
from porter.source.module import SourceModule
from porter.verify.run import verify_module


def outcome(
    source: str, function: str, signature: str, folder: Path, target: str = "cuda"
) -> FunctionOutcome:
    """What `porter convert -f` makes of a function; its module is `f_cuda.py` in the folder."""
    (folder / "f.py").write_text(source, "utf-8")
    options = ConvertOptions(
        ("f.py",), functions=(function,), signature=signature, target=target, verify=False
    )
    place = folder / "f_cuda.py"
    file = convert_file(
        SourceFile(str(folder / "f.py"), source), options, Config(), place, lambda _: None
    )
    place.write_text(file.text or "", "utf-8")
    (found,) = [f for f in file.functions if f.name == function]
    return found


def verified(source: str, function: str, signature: str, target: str = "cuda") -> None:
    """The module does what NumPy does, on the simulator."""
    with tempfile.TemporaryDirectory() as folder:
        found = outcome(source, function, signature, Path(folder), target)
        assert found.status == "converted", found.diagnostics
        (evidence,) = verify_module(Path(folder) / "f_cuda.py", on=("simulator",), cases=12)
        assert evidence.mismatch is None and not evidence.failed, evidence


def refused(source: str, function: str, signature: str) -> str:
    """Why the function is refused."""
    with tempfile.TemporaryDirectory() as folder:
        found = outcome(source, function, signature, Path(folder))
    assert found.status == "refused", found.status
    return found.diagnostics[-1].message


def plan_of(source: str, function: str, signature: str) -> str:
    """What `--emit plan` prints."""
    (found,) = (f for f in SourceModule(source, "f.py").functions if f.name == function)
    return plan_text(convert_function(found, signature).plan)
