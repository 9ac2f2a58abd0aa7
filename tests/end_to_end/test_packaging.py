"""A wheel, an editable install and a checkout all run, and all find the templates.

Nothing is downloaded: the dependencies come from the environment that runs the tests.
"""

from __future__ import annotations

import importlib.util
import os
import tomllib
import zipfile
from pathlib import Path

import pytest
from jinja2 import UndefinedError
from packaging.requirements import Requirement

import porter
from porter.codegen.templates import environment
from tests.support.wheels import ROOT, build_wheel, install, new_environment, run

TEMPLATES = {path.name for path in (ROOT / "templates").iterdir()}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WHERE = """
from porter.codegen.templates import environment, template_folder
from porter.output.report.page import as_html
import porter
environment().list_templates()
assert as_html(()).startswith("<!doctype html>")
print(porter.__file__, template_folder(), sep="\\n")
"""


def check(python: Path, cwd: Path) -> tuple[Path, Path]:
    """Where that interpreter finds porter and the templates, once both have been used."""
    assert "verify" in run(python, "-m", "porter", "--help", cwd=cwd)
    code, templates = (Path(line) for line in run(python, "-c", WHERE, cwd=cwd).splitlines())
    assert {path.name for path in templates.iterdir()} == TEMPLATES
    return code, templates


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


def test_there_are_templates() -> None:
    assert TEMPLATES


def test_wheel(wheel: Path, tmp_path: Path) -> None:
    python = new_environment(tmp_path / "venv")
    install(python, str(wheel), cwd=tmp_path)
    code, templates = check(python, tmp_path)
    assert tmp_path / "venv" in code.parents
    assert templates == code.parent / "_templates"
    script = python.with_name("porter.exe" if os.name == "nt" else "porter")
    assert "verify" in run(script, "--help", cwd=tmp_path)


def test_an_installed_porter_traces_a_script(wheel: Path, tmp_path: Path) -> None:
    """The script imports what lies beside porter in site-packages, and still not porter's own."""
    python = new_environment(tmp_path / "venv")
    install(python, str(wheel), cwd=tmp_path)
    beside = next((tmp_path / "venv").rglob("site-packages")) / "beside.py"
    beside.write_text("factor = 2.0\n")
    project = tmp_path / "project"
    project.mkdir()
    (project / "work.py").write_text("def twice(x, factor):\n    return x * factor\n")
    (project / "main.py").write_text(
        "import sys\nimport beside\nimport numpy as np\nimport work\n"
        "work.twice(np.ones(3), beside.factor)\nassert len(set(sys.path)) == len(sys.path)\n"
    )
    said = run(python, "-m", "porter", "trace", "main.py", cwd=project)
    assert "work.py:1 twice" in said and "1 function" in said
    assert (project / ".porter" / "trace.json").is_file()


def test_editable_install(tmp_path: Path) -> None:
    python = new_environment(tmp_path / "venv")
    install(python, "--editable", str(ROOT), cwd=tmp_path)
    code, templates = check(python, tmp_path)
    assert code == ROOT / "porter" / "__init__.py"
    assert templates == ROOT / "templates"
    site = next((tmp_path / "venv").rglob("site-packages"))
    assert not (site / "porter").exists()


def test_checkout(tmp_path: Path) -> None:
    python = new_environment(tmp_path / "venv")
    code, templates = check(python, ROOT)
    assert code == ROOT / "porter" / "__init__.py"
    assert templates == ROOT / "templates"


def test_templates_of_a_team_go_before_ours(tmp_path: Path) -> None:
    (tmp_path / "own.j2").write_text("{% if true %}\n    x = {{ value }}\n{% endif %}\n")
    name = min(n for n in TEMPLATES if n.endswith(".j2"))
    (tmp_path / name).write_text("theirs")
    templates = environment((tmp_path,))
    assert templates.get_template("own.j2").render(value=1) == "    x = 1\n"
    assert templates.get_template(name).render() == "theirs"
    ours = {p.relative_to(ROOT / "templates").as_posix()
            for p in (ROOT / "templates").rglob("*") if p.is_file()}  # fmt: skip
    assert set(templates.list_templates()) == ours | {"own.j2"}
    with pytest.raises(UndefinedError):
        templates.get_template("own.j2").render()


def test_wheel_holds_what_belongs_in_it(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tables = {Path(n).stem.split("-")[0] for n in names if n.startswith("porter/support/")}
    assert {"cpu", "cuda", "builtin"} <= tables
    metadata = f"porter-{porter.__version__}.dist-info"
    assert "porter/py.typed" in names
    assert f"{metadata}/licenses/LICENSE" in names
    assert {name.split("/")[0] for name in names} == {"porter", metadata}
    assert not [name for name in names if "__pycache__" in name]


def test_cuda_extra_is_for_the_platforms_with_wheels() -> None:
    extra = [Requirement(text) for text in PROJECT["optional-dependencies"]["cuda"]]

    def wanted(platform: str, machine: str) -> set[str]:
        where = {"sys_platform": platform, "platform_machine": machine}
        chosen = [r for r in extra if r.marker is not None and r.marker.evaluate(where)]
        return {f"{r.name}{r.specifier}" for r in chosen}

    full = {"numba-cuda>=0.30", "numpy<2.5"}
    assert wanted("linux", "x86_64") == wanted("linux", "aarch64") == full
    assert wanted("win32", "AMD64") == full
    assert wanted("darwin", "arm64") == wanted("darwin", "x86_64") == set()
    assert wanted("win32", "ARM64") == wanted("linux", "ppc64le") == set()


def quick_start(readme: str, number: int) -> str:
    """`.ci/quick_start.py` as a module: it lies outside every package."""
    spec = importlib.util.spec_from_file_location("quick_start", ROOT / ".ci" / "quick_start.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return str(module.quick_start(readme, number))


README = """
# porter
```bash
not this
```
## Quick Start ##
Text.
```console
# a comment, not a heading
$ pip install -e . && porter convert examples/
converted
```
### And the tests
~~~~ bash
pip install -e ".[test]"
pytest
~~~~
## Next
```
nor this
```
"""


def test_quick_start_commands_are_found() -> None:
    assert quick_start(README, 1) == "pip install -e . && porter convert examples/"
    assert quick_start(README.replace("\n", "\r\n"), 2) == 'pip install -e ".[test]"\npytest'


@pytest.mark.parametrize("readme", ["", "# Quick start\n```\nonly one\n```\n", README + README])
def test_quick_start_has_exactly_two_commands(readme: str) -> None:
    with pytest.raises(ValueError, match="not 2"):
        quick_start(readme, 2)


def test_our_readme_has_a_quick_start() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "pytest" in quick_start(readme, 2)
