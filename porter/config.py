"""`[tool.porter]` in the pyproject.toml nearest to what is worked on."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from porter.diagnostics import UsageError

_LISTS = ("select", "ignore", "exclude")


@dataclass(frozen=True)
class Config:
    """Settings of a project.

    `select` and `ignore` are codes or prefixes, `exclude` gitignore-style patterns,
    `signatures` maps a function's name to its argument types in Numba's syntax; `allow_serial`
    lets loops that can only run in order run on one thread.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    signatures: Mapping[str, str] = field(default_factory=dict)
    allow_serial: bool = False


def load_config(path: str) -> Config:
    """The settings for a file or folder (`-` means the current folder).

    Raises `UsageError` when the table does not hold what it should.
    """
    start = Path.cwd() if path == "-" else Path(path).resolve()
    for folder in (start, *start.parents):
        file = folder / "pyproject.toml"
        if file.is_file():
            return _read(file)
    return Config()


def _read(file: Path) -> Config:
    try:
        table = tomllib.loads(file.read_text("utf-8")).get("tool", {}).get("porter", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{file}: cannot be read as TOML ({error})") from error
    for key, value in table.items():
        if key in _LISTS:
            good = isinstance(value, list) and all(isinstance(v, str) for v in value)
        elif key == "signatures":
            good = isinstance(value, dict) and all(isinstance(v, str) for v in value.values())
        elif key == "allow-serial":
            good = isinstance(value, bool)
        else:
            raise UsageError(f"{file}: [tool.porter] has no setting `{key}`")
        if not good:
            kind = _KINDS.get(key, "a list of strings")
            raise UsageError(f"{file}: `{key}` in [tool.porter] must be {kind}")
    lists = {key: tuple(table.get(key, ())) for key in _LISTS}
    return Config(
        **lists,
        signatures=dict(table.get("signatures", {})),
        allow_serial=table.get("allow-serial", False),
    )


_KINDS = {"signatures": "a table of strings", "allow-serial": "true or false"}
