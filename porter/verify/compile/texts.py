"""The PTX texts of a module's kernels, kept in a folder for the machine that runs them."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: what differs between architectures where the instructions are the same
_TARGET = re.compile(r"^\.target .*$", re.M)
#: the layout of an array whose strides may be any
ANY = "A"


@dataclass(frozen=True)
class Text:
    """One kernel compiled for the types of some launches, for one architecture."""

    kernel: str
    types: list[dict[str, Any]]
    arch: str
    ptx: str

    @property
    def content(self) -> str:
        """What the text is, whatever the architecture it is for."""
        return f"{self.kernel} {self.types} {_TARGET.sub('', self.ptx)}"


def keep(folder: Path, launch: dict[str, Any], arch: str, ptx: str) -> None:
    """Write a text for the types of a launch."""
    made = {"kernel": launch["kernel"], "types": launch["types"], "arch": arch, "ptx": ptx}
    text = json.dumps(made)
    folder.mkdir(exist_ok=True)
    (folder / f"{hashlib.sha256(text.encode()).hexdigest()}.json").write_text(text, "utf-8")


def read(folder: Path) -> list[Text]:
    """All texts of a folder."""
    found = sorted(folder.glob("*.json")) if folder.is_dir() else []
    return [Text(**json.loads(path.read_text("utf-8"))) for path in found]


def alike(texts: list[Text]) -> list[tuple[str, ...]]:
    """The architectures, those with the same instructions together."""
    contents: dict[str, list[str]] = {}
    for text in texts:
        contents.setdefault(text.arch, []).append(text.content)
    groups: dict[str, list[str]] = {}
    for arch, said in contents.items():
        groups.setdefault("\n".join(sorted(said)), []).append(arch)
    return [tuple(archs) for archs in groups.values()]


def serves(compiled: list[dict[str, Any]], types: list[dict[str, Any]]) -> bool:
    """Whether a kernel compiled for some types takes a launch: arrays of any layout take each."""
    if len(compiled) != len(types):
        return False
    pairs = zip(compiled, types, strict=True)
    return all(one == other or one == other | {"layout": ANY} for one, other in pairs)
