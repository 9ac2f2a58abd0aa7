"""Where the templates are, and the Jinja environment that renders them."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from porter.schedule.writing import Lines

_PACKAGE = Path(__file__).resolve().parent.parent


def template_folder() -> Path:
    """The folder with our `*.py.j2` files.

    A wheel carries them inside the package; in a checkout, and in an editable install of
    one, they are the top-level `templates/`.
    """
    packaged = _PACKAGE / "_templates"
    return packaged if packaged.is_dir() else _PACKAGE.parent / "templates"


# every environment compiles its templates
@lru_cache(maxsize=8)
def environment(first: tuple[Path, ...] = (), own: str = "") -> Environment:
    """The environment for all templates; those in the folders `first` go before ours.

    Of ours, those in the folder `own` go before the others.
    An undefined name in a template raises `jinja2.UndefinedError`, an unknown template
    `jinja2.TemplateNotFound`.
    """
    return Environment(
        loader=FileSystemLoader(
            [*first, *([template_folder() / own] if own else []), template_folder()]
        ),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # the output is Python, not HTML
    )


@lru_cache(maxsize=8)
def kernel_environment(first: tuple[Path, ...] = (), own: str = "") -> Environment:
    """The environment for templates of kernels, in which a slot may be any number of lines."""
    found = environment(first, own).overlay(finalize=_slot)
    found.globals["pad"] = lambda depth: "    " * depth
    return found


#: between the lines of a slot; no Python source holds it
_BREAK = "\0"


def _slot(value: object) -> object:
    """What stands in a line for several, or for none."""
    if isinstance(value, str) and "\n" in value:
        value = Lines(expanded(value).rstrip("\n").split("\n"))
    if isinstance(value, Lines):
        return "".join(_BREAK + line for line in value) or _BREAK
    return value


def expanded(text: str) -> str:
    """The text with the lines of each slot indented as the slot is; without them, no line."""
    lines: list[str] = []
    for line in text.split("\n"):
        head, *rest = line.split(_BREAK)
        lines += [head + each for each in rest if each] if rest else [head]
    return "\n".join(lines)
