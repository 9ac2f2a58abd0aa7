"""`[tool.porter]` in the pyproject.toml nearest to what is worked on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from porter.cost.machine import setting_names
from porter.diagnostics import UsageError
from porter.source.regular import read_regular_text

if TYPE_CHECKING:
    # start-up: most projects exclude nothing
    from pathspec import GitIgnoreSpec


@dataclass(frozen=True)
class Config:
    """Settings of a project; `file` is where they were read, None without a pyproject.toml.

    `select` and `ignore` are codes or prefixes, `exclude` gitignore-style patterns,
    `per_file_ignores` such patterns with the codes that matching files are not told of;
    `signatures` maps a function's name to its argument types in Numba's syntax; `allow_serial`
    lets loops that can only run in order run on one thread; `cache_folder` is where answers are
    kept; `timeout` is how many seconds each verification of a function may take; `cost` sets
    constants of the model of cost by name (docs/cost.md); `inputs` is a file of hypothesis
    strategies, which `porter verify` runs.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    signatures: Mapping[str, str] = field(default_factory=dict)
    allow_serial: bool = False
    cache_folder: str | None = None
    timeout: float | None = None
    cost: Mapping[str, float] = field(default_factory=dict)
    inputs: str | None = None
    file: Path | None = None
    given: frozenset[str] = frozenset()

    @property
    def folder(self) -> Path:
        """Where relative paths of the settings start."""
        return self.file.parent if self.file else Path.cwd()

    def ignored_in(self, path: str) -> tuple[str, ...]:
        """The codes that a file is not told of, whatever is ignored elsewhere."""
        if not self.per_file_ignores:
            return ()
        place = Path(path).resolve()
        if not place.is_relative_to(self.folder.resolve()):
            return ()
        name = place.relative_to(self.folder.resolve()).as_posix()
        found: list[str] = []
        for pattern, codes in self.per_file_ignores.items():
            # ruff's notation: ! in front means every file that does not match
            if _spec(pattern.removeprefix("!")).match_file(name) != pattern.startswith("!"):
                found += codes
        return tuple(found)


def _spec(pattern: str) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines([pattern])


def load_config(path: str) -> Config:
    """The settings for a file or folder (`-` means the current folder).

    Raises `UsageError` when the table does not hold what it should.
    """
    start = Path.cwd() if path == "-" else Path(os.path.realpath(path))
    for folder in (start, *start.parents):
        file = folder / "pyproject.toml"
        if file.is_file():
            return _read(file)
    return Config()


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(v, str) for v in value)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(v, str) for v in value.values())


def _is_lists(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_list(v) for v in value.values())


def _is_positive(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0


def _is_rates(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_positive(v) for v in value.values())


def _check_cost(file: Path, names: Iterable[str]) -> None:
    """Raise UsageError for a constant that the model of cost does not have."""
    for name in names:
        if name not in setting_names():
            known = ", ".join(setting_names())
            raise UsageError(f"{file}: [tool.porter.cost] has no `{name}`; it has {known}")


_LIST = (_is_list, "a list of strings")
_KINDS = {
    "select": _LIST,
    "ignore": _LIST,
    "exclude": _LIST,
    "per-file-ignores": (_is_lists, "a table of lists of strings"),
    "signatures": (_is_table, "a table of strings"),
    "allow-serial": (lambda value: isinstance(value, bool), "true or false"),
    "cache-folder": (lambda value: isinstance(value, str), "a string"),
    "timeout": (_is_positive, "a number of seconds"),
    "cost": (_is_rates, "a table of positive numbers"),
    "inputs": (lambda value: isinstance(value, str), "a string"),
}


def _read(file: Path) -> Config:
    # a third of the time that it takes to read a cache: only where there are settings
    import tomllib

    try:
        table = tomllib.loads(read_regular_text(file)).get("tool", {}).get("porter", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{file}: cannot be read as TOML ({error})") from error
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in _KINDS:
            raise UsageError(f"{file}: [tool.porter] has no setting `{key}`")
        good, kind = _KINDS[key]
        if not good(value):
            raise UsageError(f"{file}: `{key}` in [tool.porter] must be {kind}")
        if key == "cost":
            _check_cost(file, value)
        values[key.replace("-", "_")] = _frozen(value)
    return Config(**values, file=file, given=frozenset(values))


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, dict):
        return {k: _frozen(v) for k, v in value.items()}
    return value


def settings(config: Config, chosen: Mapping[str, Any]) -> list[tuple[str, Any, str]]:
    """Each setting that holds: its name, its value, and where that comes from.

    `chosen` are the values of the command line, None for what it does not say; `ignore` there
    adds to the settings' own.
    """
    rows = []
    for one in fields(config):
        if one.name in ("file", "given"):
            continue
        value, origin = getattr(config, one.name), "default"
        if one.name in config.given:
            origin = str(config.file)
        if chosen.get(one.name):
            both = one.name == "ignore" and one.name in config.given
            value = (*chosen[one.name], *value) if both else chosen[one.name]
            origin = f"command line and {config.file}" if both else "command line"
        rows.append((one.name.replace("_", "-"), value, origin))
    return rows
