"""Where the templates are, and the Jinja environment that renders them."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

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
def environment(first: tuple[Path, ...] = ()) -> Environment:
    """The environment for all templates; those in the folders `first` go before ours.

    An undefined name in a template raises `jinja2.UndefinedError`, an unknown template
    `jinja2.TemplateNotFound`.
    """
    return Environment(
        loader=FileSystemLoader([*first, template_folder()]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # the output is Python, not HTML
    )
