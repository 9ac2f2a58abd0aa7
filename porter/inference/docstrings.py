"""The types that a docstring gives its parameters, in NumPy's and Google's style."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMPY = re.compile(r"^(Other )?Parameters\s*\n[-=]{3,}\s*$", re.MULTILINE)
_GOOGLE = re.compile(r"^(Args|Arguments|Parameters):\s*$", re.MULTILINE)
_ENTRY = re.compile(r"^(?P<names>\*{0,2}\w+(?:\s*,\s*\w+)*)\s*:\s*(?P<type>\S.*)$")
_GOOGLE_ENTRY = re.compile(r"^(?P<names>\w+)\s*\((?P<type>[^:]*)\)\s*:(?P<text>.*)$")
_SECTION = re.compile(r"^\S.*\n[-=]{3,}\s*$")

_ARRAY = re.compile(
    r"\b(nd)?array([_-]?like)?s?\b|\bmatrix\b|\bvector\b|\bseries\b|\bnumeric\b|\btensor\b"
)
_NUMBER = re.compile(r"\b(float|int|integer|number|scalar|double|real|numeric)s?\b")
#: the dtype of an array's elements: `array of float`, `(n, 3) int`, `ndarray(float, ndim=2)`
_ELEMENTS = re.compile(r"(?:\bof\s+|[)\]]\s*,?\s*|\b(?:array(?:_like)?|scalar|ndarray)\(\s*)"
                       r"(?:dtype\s*[=:]?\s*)?"
                       r"(float|int|integer|bool|boolean|complex)s?\b")  # fmt: skip
_DTYPE = re.compile(r"\b(float32|float64|complex64|complex128|u?int(?:8|16|32|64)|bool)\b")
_SHAPE = re.compile(r"\(([^()]*)\)")
_SHAPED = re.compile(r"\bshape\b[^()\[\]]{0,12}[(\[]([^()\[\]]*)[)\]]")
_DIMS = re.compile(r"\b([1-4])\s*-?\s*d(?:im(?:ensional)?)?\b")
_NDIM = re.compile(r"\bndim\s*=\s*([1-4])\b")
_EXTENT = re.compile(r"[\w.*+\-/ ]+$|\.\.\.$|…$")
_NAMES = {"float": "float64", "int": "int64", "integer": "int64", "boolean": "bool",
          "complex": "complex128"}  # fmt: skip


@dataclass(frozen=True)
class Documented:
    """What is said of a parameter: `kind` is array, number, any (either of them) or other.

    An array may have `also` as many dimensions: `1d or 2d array`.
    """

    kind: str
    dtype: str = ""
    ndim: int | None = None
    also: int | None = None


def documented(docstring: str | None) -> dict[str, Documented]:
    """The parameters that a docstring gives types for; `docstring` has no indentation left."""
    found: dict[str, Documented] = {}
    if not docstring:
        return found
    for names, kind, text in [*_numpy(docstring), *_google(docstring)]:
        said = read_type(kind, text)
        for name in re.split(r"\s*,\s*", names.strip()):
            if said is not None:
                found.setdefault(name.lstrip("*"), said)
    return found


def _numpy(docstring: str) -> list[tuple[str, str, str]]:
    entries: list[tuple[str, str, str]] = []
    for section in _NUMPY.finditer(docstring):
        lines = docstring[section.end() :].split("\n")[1:]
        for k, line in enumerate(lines):
            if k + 1 < len(lines) and _SECTION.match(f"{line}\n{lines[k + 1]}"):
                break
            entry = _ENTRY.match(line)
            if entry is not None:
                text = lines[k + 1] if k + 1 < len(lines) else ""
                entries.append((entry["names"], entry["type"], text))
    return entries


def _google(docstring: str) -> list[tuple[str, str, str]]:
    entries: list[tuple[str, str, str]] = []
    for section in _GOOGLE.finditer(docstring):
        lines = docstring[section.end() :].split("\n")[1:]
        indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
        for k, line in enumerate(lines):
            if line.strip() and not line.startswith(" " * max(indent, 1)):
                break
            entry = _GOOGLE_ENTRY.match(line[indent:])
            if entry is not None:
                more = [n for n in lines[k + 1 : k + 3] if n.startswith(" " * (indent + 1))]
                entries.append((entry["names"], entry["type"], " ".join([entry["text"], *more])))
    return entries


def read_type(text: str, description: str = "") -> Documented | None:
    """What the words of a type say; None where they say nothing that porter can use."""
    words = text.lower()
    head, _, remark = words.partition(",")
    if _NUMBER.fullmatch(head) and len(remark.split()) > 4:
        words = head  # `float, the pitch of the voxel matrix`: the remark is no type
    if re.match(r"(list|tuple|sequence|iterable|dict)s? of\b", words) and "array" in words:
        return None
    shape = _shape(words)
    array = _ARRAY.search(words) is not None or shape is not None
    elements = _ELEMENTS.search(words)
    named = _DTYPE.search(words)
    dtype = named[1] if named else ""
    if not dtype and elements is not None:
        dtype = _NAMES.get(elements[1], elements[1])
    plain = _ELEMENTS.sub(" ", re.sub(r"\([^()]*\)", "()", words))
    number = _NUMBER.search(plain)
    if array:
        also = None
        if shape is None:
            told_dims = _DIMS.findall(words) or _NDIM.findall(words)
            dims = [int(d) for d in dict.fromkeys(told_dims)]
            shape, also = dims[0] if dims else None, dims[1] if len(dims) == 2 else None
            if shape is None and re.search(r"\bvector\b", words):
                shape = 1
            if shape is None and re.search(r"\bmatrix\b", words):
                shape = 2
            if shape is None and (told := _SHAPED.search(description.lower())):
                shape = _rank(told[1])
        either = number is not None and not (named and number[0] == named[1])
        return Documented("any" if either and shape is None else "array", dtype, shape, also)
    if number is not None:
        named_int = number[1] in ("int", "integer") and "float" not in plain
        return Documented("number", "int64" if dtype == "int64" or named_int else "float64")
    return None


def _shape(words: str) -> int | None:
    told = _SHAPED.search(words)
    if told is not None:
        return _rank(told[1])
    for found in _SHAPE.finditer(words):
        # `(n, 3) float`, `(m,) int`; one name alone in parentheses is a remark
        if "," in found[1] and words[: found.start()].strip() in ("", "array", "ndarray"):
            return _rank(found[1])
    return None


def _rank(text: str) -> int | None:
    """The number of dimensions of `n, 3`; what stands for any number of them counts as none."""
    parts = [p.strip() for p in text.split(",")]
    parts = [p for p in parts if p]
    if not parts or not all(_EXTENT.match(p) for p in parts):
        return None
    return len([p for p in parts if p not in ("...", "…")]) or None
