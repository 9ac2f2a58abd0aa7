"""What the host function converts before the kernels run, as the header and the checks say it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

#: integers as long as they fit in a float64 one and all, and those of which small ones do not
WORDS = {
    "integers": "integers and bools",
    "wide": "integers of 32 and 64 bits",
    "exact": "int32 and int64",
}
#: the kinds of narrower dtypes, as NumPy's letters, and what both are then
NARROW = {"": (), "i": ("int16", "int8"), "iu": ("int16", "int8", "uint8"),
          "iub": ("int16", "int8", "uint8", "bool")}  # fmt: skip
_WITH_NARROW = {
    ("wide", "i"): "signed integers, and unsigned ones of 32 and 64 bits",
    ("wide", "iu"): "integers",
    ("exact", "i"): "signed integers",
    ("exact", "iu"): "signed integers, and unsigned ones of 8 and 16 bits",
    ("exact", "iub"): "bools, signed integers, and unsigned ones of 8 and 16 bits",
}
#: the narrower dtypes of an array that is the only one which is not of float64
_LONE = {"i": "int8 and int16", "iu": "int8, int16, uint8 and uint16",
         "iub": "int8, int16, uint8, uint16 and bool"}  # fmt: skip
#: those of one that is not converted beside other integers: the wide ones, too
_LONE |= {"w": WORDS["wide"], "wiub": WORDS["integers"]}
_LONE |= {f"w{kinds}": _WITH_NARROW["wide", kinds] for kinds in ("i", "iu")}
_LONE_TEXT = re.compile(
    rf"(?P<names>[^ ]+(?:, [^ ]+)*): (?P<kinds>{'|'.join(sorted(_LONE.values(), key=len)[::-1])})"
    r" beside float64 alone become float64(?: .*)?$"
)
_DOUBLED = "float32 where all others are of double precision become the same"
_WIDER = "integers of several widths become the widest (a pass over each of the others)"
_ROUNDED = "no float32 if all others are float64, because what is rounded is read again"
_DOUBLED_TEXT = re.compile(rf"(?P<names>[^ ]+(?:, [^ ]+)*): {_DOUBLED}(?: .*)?$")
#: integers up to here are exact in float64
LARGEST = 2**53
_TEXT = re.compile(
    r"(?P<names>[^ ]+(?:, [^ ]+)*): (?:"
    rf"(?P<kind>{'|'.join(sorted((*WORDS.values(), *_WITH_NARROW.values()), key=len)[::-1])})"
    r"(?P<exact> whose largest value n keeps (?:(?P<own>\d+) \* )?n(?:\*\*(?P<power>\d+))? within"
    r" the dtype and(?P<other> (?:(?P<factor>\d+) \* )?n(?:\*\*\d+)?)? within 2\*\*53)?"
    r"(?P<floats> beside numbers that are floats)?(?P<beside> beside arrays of floats)?"
    r"(?P<some> beside one of them of floats)?|(?P<mixed>float32 beside float64)|(?P<real>float64))"
    r"(?: where (?P<where>.+?))? becomes? (?P<to>float64|complex128)"
    r"(?: .*)?$"
)


_KINDS = {text: (kind, "") for kind, text in WORDS.items()}
_KINDS |= {text: known for known, text in _WITH_NARROW.items()}


def lone_dtypes(kinds: str) -> tuple[str, ...]:
    """The dtypes that an array may have which is the only one that is not of float64."""
    wide = ("int32", "int64") if kinds.startswith("w") else ()
    return (*NARROW[kinds.removeprefix("w")], *wide)


@dataclass(frozen=True)
class Integers:
    """Integer dtypes that NumPy turns into float64 before it computes with them.

    `kind` is a word of `WORDS`.  With `exact` NumPy computes some integers first; they are the
    same in float64 as long as `own * n**power` fits in their dtype, and `factor * n**power` is
    exact in float64.  `narrow` are the kinds of 8 and 16 bits to which the same applies.
    """

    kind: str
    own: int = 1
    factor: int = 1
    power: int = 1
    narrow: str = ""

    @property
    def word(self) -> str:
        """What the checks of the host function are told."""
        exact = f"exact({self.own}, {self.factor}, {self.power})"
        more = f"+{self.narrow}" if self.narrow else ""
        return f"{exact if self.kind == 'exact' else self.kind}{more}"

    @property
    def said(self) -> str:
        """Which dtypes they are, as the header has it."""
        return _WITH_NARROW.get((self.kind, self.narrow), WORDS[self.kind])

    def times(self, factor: int) -> str:
        """`factor * n**power`, as people write it."""
        return (f"{factor} * " if factor != 1 else "") + (
            f"n**{self.power}" if self.power != 1 else "n"
        )

    @property
    def most(self) -> int:
        """The largest int32 that may be given."""
        return self.most_of(2**31 - 1)

    def most_of(self, limit: int) -> int:
        """The largest integer that may be given, of a dtype that goes up to a limit."""
        if self.kind != "exact":
            return limit
        found = min(limit / self.own, 2**53 / self.factor) ** (1 / self.power)
        return int(found * (1 - 1e-9))


@dataclass(frozen=True)
class Conversions:
    """What becomes float64 on the host: integers, of some parameters, and float32 beside float64.

    `mixed` are groups of parameters that meet in arithmetic.  With `floats`, integers are converted
    beside numbers that are floats only: with an integer NumPy computes integers.  With `beside`,
    beside arrays of floats only: where all are integers, so are the kernels.  With `some`, where
    all are integers they are refused, because NumPy computes integers.  Of `complexes` real
    arrays become complex128: those of float64, and `whole` says of which integers.  `lone` are
    parameters that may be of further narrow kinds, one of them, where all others are of float64;
    with a `w`, of any wide integers, too.
    Integers are converted `where` the numbers are as this says, and mixtures where they are as
    `met` says; numbers that are one of those `apart` keep integers from being converted.  One of
    the arrays that are `doubled` may be of float32 where all others are of double precision.
    Groups of arrays of integers that are `wider` may be of several widths.  No float32 beside
    float64 are those of `mixed` that are `rounded`, one or several: what is rounded is read again.
    """

    names: tuple[str, ...] = ()
    integers: Integers = Integers("wide")
    mixed: tuple[tuple[str, ...], ...] = ()
    floats: bool = False
    beside: bool = False
    some: bool = False
    complexes: tuple[str, ...] = ()
    whole: Integers | None = None
    lone: tuple[tuple[str, str], ...] = ()
    where: str = ""
    met: str = ""
    doubled: tuple[str, ...] = ()
    apart: tuple[tuple[str, int], ...] = field(default=(), compare=False)
    wider: tuple[tuple[str, ...], ...] = ()
    rounded: tuple[tuple[str, ...], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.names or self.mixed or self.complexes)

    @property
    def integral(self) -> tuple[str, ...]:
        """The parameters of whose integers it makes float64 or complex128."""
        return (*self.names, *(self.complexes if self.whole else ()))

    @property
    def word(self) -> str:
        """What the checks of arrays that become complex are told."""
        return f"complex {self.whole.word if self.whole else ''}".rstrip()

    def words(self, group: Sequence[str], kept: Sequence[str] = ()) -> str:
        """What the check of parameters that meet is told; integers of the dtypes `kept` stay."""
        names = [n for n in group if n in self.names]
        mixed = tuple(group) in self.mixed
        apart = (kept and (names or mixed)) or (self.some and names)
        beside = [f"{' '.join(names)} beside {','.join(kept)}:"] if apart else []
        found = [*beside, self.integers.word] if names else beside
        return " ".join([*found, *(["mixed"] if mixed else [])])

    def lone_words(self, group: Sequence[str]) -> str:
        """What the check of parameters that meet is told of those that may be narrow alone."""
        return " ".join(f"{n}:{kinds}" for n, kinds in self.lone if n in group)

    def rounded_words(self, group: Sequence[str]) -> str:
        """What it is told of those that are not to be the ones of float32."""
        return " ".join("+".join(names) for names in self.rounded if {*names} <= {*group})

    def only(self, other: Conversions) -> Conversions:
        """These, as far as the other ones have them, too."""
        return replace(
            self,
            names=tuple(n for n in self.names if n in other.names),
            mixed=tuple(g for g in self.mixed if g in other.mixed),
            complexes=tuple(n for n in self.complexes if n in other.complexes),
            whole=self.whole if self.whole == other.whole else None,
            lone=tuple(one for one in self.lone if one in other.lone),
            doubled=tuple(n for n in self.doubled if n in other.doubled),
            wider=tuple(g for g in self.wider if g in other.wider),
            rounded=tuple(dict.fromkeys([*self.rounded, *other.rounded])),
        )

    def among(self, arrays: Collection[str]) -> Conversions:
        """These, as far as they are about some arrays; none where nothing is left."""
        found = replace(
            self,
            names=tuple(n for n in self.names if n in arrays),
            mixed=tuple(g for g in self.mixed if set(g) <= {*arrays}),
            complexes=tuple(n for n in self.complexes if n in arrays),
            lone=tuple(one for one in self.lone if one[0] in arrays),
            doubled=tuple(n for n in self.doubled if n in arrays),
            wider=tuple(g for g in self.wider if set(g) <= {*arrays}),
        )
        return found if found or not self else Conversions()

    def lines(self) -> tuple[str, ...]:
        """What the header says."""
        found = []
        if self.names:
            what = _said(self.integers)
            what += " beside numbers that are floats" if self.floats else ""
            what += " beside arrays of floats" if self.beside else ""
            what += " beside one of them of floats" if self.some else ""
            what += f" where {self.where}" if self.where else ""
            found.append(f"{', '.join(self.names)}: {what} become float64 (a pass over the array)")
        for kinds in dict.fromkeys(k for _, k in self.lone):
            names = ", ".join(n for n, k in self.lone if k == kinds)
            found.append(
                f"{names}: {_LONE[kinds]} beside float64 alone become float64"
                " (a pass over the array)"
            )
        met = f" where {self.met}" if self.met else ""
        found += [
            f"{', '.join(g)}: float32 beside float64{met} become float64 (a pass over each float32)"
            for g in self.mixed
        ]
        found += [f"{', '.join(names)}: {_ROUNDED}" for names in self.rounded]
        found += [f"{', '.join(g)}: {_WIDER}" for g in self.wider]
        if self.doubled:
            found.append(f"{', '.join(self.doubled)}: {_DOUBLED} (a pass over the array)")
        if self.complexes:
            start = f"{', '.join(self.complexes)}:"
            found.append(f"{start} float64 becomes complex128 (a pass over the array)")
            if self.whole:
                what = _said(self.whole)
                found.append(f"{start} {what} become complex128 (a pass over the array)")
        return tuple(found)

    @staticmethod
    def parse(lines: Sequence[str]) -> Conversions:
        """The conversions of a header's lines; others are passed over."""
        names: tuple[str, ...] = ()
        integers, mixed, floats, beside = Integers("wide"), [], False, False
        complexes: tuple[str, ...] = ()
        some, whole = False, None
        lone: list[tuple[str, str]] = []
        wider: list[tuple[str, ...]] = []
        where = met = ""
        doubled, rounded = tuple[str, ...](), list[tuple[str, ...]]()
        for line in lines:
            if found := _LONE_TEXT.match(line):
                kinds = next(k for k, text in _LONE.items() if text == found["kinds"])
                lone += [(n, kinds) for n in found["names"].split(", ")]
            if found := _DOUBLED_TEXT.match(line):
                doubled = tuple(found["names"].split(", "))
            if line.endswith(_ROUNDED):
                rounded.append(tuple(line.removesuffix(f": {_ROUNDED}").split(", ")))
            if line.endswith(_WIDER):
                wider.append(tuple(line.removesuffix(f": {_WIDER}").split(", ")))
            found = _TEXT.match(line)
            if found is None:
                continue
            group = tuple(found["names"].split(", "))
            if found["mixed"]:
                mixed.append(group)
                met = found["where"] or ""
            elif found["real"]:
                complexes = group
            elif found["to"] == "complex128":
                whole = _read(found)
            else:
                names, integers = group, _read(found)
                floats, beside = bool(found["floats"]), bool(found["beside"])
                some, where = bool(found["some"]), found["where"] or ""
        return Conversions(
            names,
            integers,
            tuple(mixed),
            floats,
            beside,
            some,
            complexes,
            whole,
            tuple(lone),
            where, met, doubled,
            wider=tuple(wider), rounded=tuple(rounded),
        )  # fmt: skip


def _said(i: Integers) -> str:
    """Which integers, and up to which, as the header has it."""
    if i.kind != "exact":
        return i.said
    exact = f" {i.times(i.factor)}" if i.factor != i.own else ""
    most = f"whose largest value n keeps {i.times(i.own)} within the dtype"
    return f"{i.said} {most} and{exact} within 2**53"


def _read(found: re.Match[str]) -> Integers:
    """The integers of a line of the header."""
    kind, narrow = _KINDS[found["kind"]]
    same = "factor" if found["other"] else "own"
    own, factor, power = (int(found[k] or 1) for k in ("own", same, "power"))
    return Integers(kind, own, factor, power, narrow)


def shared(parts: Sequence[tuple[Conversions, Collection[str]]]) -> Conversions:
    """What is converted whichever of these holds, each with the names that are arrays there."""

    def everywhere(wanted: Sequence[str], chosen: Callable[[Conversions], Collection[str]]) -> bool:
        there = [c for c, arrays in parts if set(wanted) & set(arrays)]
        return bool(there) and all(set(wanted) <= set(chosen(c)) for c in there)

    found = [c for c, _ in parts]
    names = tuple(
        n for n in dict.fromkeys(n for c in found for n in c.names)
        if everywhere([n], lambda c: c.names)
    )  # fmt: skip
    mixed = tuple(
        g for g in dict.fromkeys(g for c in found for g in c.mixed)
        if all(
            any(set(g) & set(arrays) <= set(m) for m in c.mixed)
            for c, arrays in parts if len(set(g) & set(arrays)) > 1
        )
    )  # fmt: skip
    rules = [c.integers for c in found if set(c.names) & set(names)]
    kind = next((k for k in ("exact", "wide") if any(r.kind == k for r in rules)), "integers")
    own, factor, power = (
        max((getattr(r, name) for r in rules), default=1) for name in ("own", "factor", "power")
    )
    if kind == "exact" and factor * 2**power > LARGEST:
        names = ()
    narrow = min(("iub" if r.kind == "integers" else r.narrow for r in rules), key=len, default="")
    narrow = {"integers": "", "wide": narrow.removesuffix("b")}.get(kind, narrow)
    complexes = tuple(
        n for n in (found[0].complexes if found else ())
        if everywhere([n], lambda c: c.complexes)
    )  # fmt: skip
    lone = tuple(
        one for one in dict.fromkeys(one for c in found for one in c.lone)
        if all(one in c.lone for c, arrays in parts if one[0] in arrays)
    )  # fmt: skip
    whole = found[0].whole if found and all(c.whole == found[0].whole for c in found) else None
    where = dict.fromkeys(c.where for c in found if set(c.names) & set(names))
    names = () if len(where) > 1 else names
    meet = dict.fromkeys(c.met for c in found if c.mixed)
    mixed = () if len(meet) > 1 else mixed
    return Conversions(
        names, Integers(kind, own, factor, power, narrow), mixed, any(c.floats for c in found),
        some=any(c.some for c in found), complexes=complexes, whole=whole, lone=lone,
        where=next(iter(where)) if names else "", met=next(iter(meet)) if mixed else "",
        rounded=tuple(dict.fromkeys(n for c in found for n in c.rounded)),
    )  # fmt: skip
