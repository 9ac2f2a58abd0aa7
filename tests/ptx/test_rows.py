"""Each row of integers, bits, predicates and conversions, against Python's own integers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from porter.ptx.arithmetic.kinds import DTYPES, bits, is_float
from porter.ptx.instructions.table import TABLE
from tests.support.exact import nearest
from tests.support.ptx import code, one, start

RNG = np.random.default_rng(5)
COUNT = 400


def wrapped(value: int, kind: str) -> int:
    """An integer modulo the width, in the range of a type."""
    width = bits(kind)
    value %= 1 << width
    return value - (1 << width) if kind[0] == "s" and value >> (width - 1) else value


def samples(kind: str, count: int = COUNT) -> Any:
    """Random and edge values of a type."""
    if kind == "pred":
        return RNG.integers(0, 2, count).astype(np.uint8)
    dtype = DTYPES[kind]
    if is_float(kind):
        whole = RNG.integers(0, 1 << bits(kind), count, np.uint64)
        made = whole.astype(f"u{bits(kind) // 8}").view(dtype)
        edges = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, 1.5, 2.5, -2.5, 255.5]
        edges += [float(np.finfo(dtype).max), float(np.finfo(dtype).smallest_subnormal)]
        near = RNG.normal(size=count // 2).astype(dtype) * dtype.type(100)
        made[len(made) - len(near) :] = near
    else:
        limits = np.iinfo(dtype)
        made = RNG.integers(limits.min, limits.max, count, dtype, endpoint=True)
        made[: count // 3] = RNG.integers(0, 70, count // 3)
        edges = [0, 1, limits.min, limits.max, limits.max - 1, limits.min + 1]
        if limits.min:
            edges.append(-1)
    chosen = RNG.integers(0, len(edges), len(edges) * 4)
    places = RNG.integers(0, count, len(chosen))
    made[places] = np.array(edges, dtype)[chosen]
    return made


def signed(value: int, width: int) -> int:
    return wrapped(value, f"s{width}")


def quotient(a: int, b: int, kind: str) -> int:
    if b == 0:
        return wrapped(-1, kind)
    return wrapped(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1), kind)


def field(a: int, start: int, length: int, kind: str) -> int:
    """`bfe`, as the pseudo-code of the ISA has it."""
    width, position, count = bits(kind), start & 255, length & 255
    last = min(position + count - 1, width - 1)
    plain = a % (1 << width)
    sign = 0 if kind[0] == "u" or count == 0 else plain >> last & 1
    found = 0
    for k in range(width):
        inside = k < count and position + k < width
        found |= (plain >> (position + k) & 1 if inside else sign) << k
    return wrapped(found, kind)


def inserted(a: int, b: int, start: int, length: int, width: int) -> int:
    found = b
    for k in range(length & 255):
        place = (start & 255) + k
        if place < width:
            found = found & ~(1 << place) | (a >> k & 1) << place
    return found


def permuted(a: int, b: int, selector: int) -> int:
    octets = [(b << 32 | a) >> 8 * k & 255 for k in range(8)]
    found = 0
    for k in range(4):
        nibble = selector >> 4 * k & 15
        value = octets[nibble & 7]
        found |= ((255 if value & 128 else 0) if nibble & 8 else value) << 8 * k
    return found


def funnelled(a: int, b: int, c: int, left: bool, clamp: bool) -> int:
    n = min(c, 32) if clamp else c & 31
    both = b << 32 | a
    return (both << n >> 32 if left else both >> n) & 0xFFFFFFFF


def looked_up(a: int, b: int, c: int, table: int) -> int:
    found = 0
    for k in range(32):
        number = (a >> k & 1) << 2 | (b >> k & 1) << 1 | (c >> k & 1)
        found |= (table >> number & 1) << k
    return found


INTEGERS = ("u16", "u32", "u64", "s16", "s32", "s64")
Reference = Callable[..., Any]
CASES: dict[str, Reference] = {}


def case(opcode: str, reference: Reference) -> None:
    CASES[opcode] = reference


for t in INTEGERS:
    w = bits(t)
    case(f"add.{t}", lambda a, b, t=t: wrapped(a + b, t))
    case(f"sub.{t}", lambda a, b, t=t: wrapped(a - b, t))
    case(f"mul.lo.{t}", lambda a, b, t=t: wrapped(a * b, t))
    case(f"mul.hi.{t}", lambda a, b, t=t, w=w: wrapped(a * b >> w, t))
    case(f"mad.lo.{t}", lambda a, b, c, t=t: wrapped(a * b + c, t))
    case(f"mad.hi.{t}", lambda a, b, c, t=t, w=w: wrapped((a * b >> w) + c, t))
    case(f"div.{t}", lambda a, b, t=t: quotient(a, b, t))
    case(f"rem.{t}", lambda a, b, t=t: wrapped(a - quotient(a, b, t) * b, t) if b else a)
    case(f"min.{t}", lambda a, b: min(a, b))
    case(f"max.{t}", lambda a, b: max(a, b))
    if w < 64:
        wide = f"{t[0]}{2 * w}"
        case(f"mul.wide.{t}", lambda a, b, k=wide: wrapped(a * b, k))
        case(f"mad.wide.{t}", lambda a, b, c, k=wide: wrapped(a * b + c, k))
for t in ("s16", "s32", "s64"):
    case(f"abs.{t}", lambda a, t=t: wrapped(abs(a), t))
    case(f"neg.{t}", lambda a, t=t: wrapped(-a, t))
for t in ("b32", "b64"):
    w = bits(t)
    case(f"popc.{t}", lambda a: a.bit_count())
    case(f"clz.{t}", lambda a, w=w: w - a.bit_length())
    case(f"brev.{t}", lambda a, w=w: int(f"{a:0{w}b}"[::-1], 2))
    case(f"bfi.{t}", lambda a, b, c, d, w=w: inserted(a, b, c, d, w))
for t in ("u32", "s32", "u64", "s64"):
    case(f"bfe.{t}", lambda a, b, c, t=t: field(a, b, c, t))
case("prmt.b32", permuted)
case("lop3.b32", looked_up)
for side in "lr":
    for mode in ("clamp", "wrap"):
        left, clamp = side == "l", mode == "clamp"
        case(f"shf.{side}.{mode}.b32", lambda a, b, c, x=left, y=clamp: funnelled(a, b, c, x, y))
for t in ("b16", "b32", "b64", "pred"):
    case(f"and.{t}", lambda a, b: a & b)
    case(f"or.{t}", lambda a, b: a | b)
    case(f"xor.{t}", lambda a, b: a ^ b)
    case(f"not.{t}", lambda a, t=t: wrapped(~a, t) if t != "pred" else 1 - a)
for t in ("b16", "b32", "b64"):
    case(f"shl.{t}", lambda a, b, t=t: wrapped(a << min(b, 64), t))
for t in ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64"):
    case(f"shr.{t}", lambda a, b: a >> min(b, 64))
COMPARED: dict[str, Reference] = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}  # fmt: skip
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
for name, compared in COMPARED.items():
    for t in (*INTEGERS, "b32"):
        case(f"setp.{name}.{t}", compared)
    for t in ("f32", "f64"):
        case(f"setp.{name}.{t}", lambda a, b, f=compared: a == a and b == b and f(a, b))
        case(f"setp.{name}u.{t}", lambda a, b, f=compared: a != a or b != b or f(a, b))
    case(f"setp.{name}.and.s32", lambda a, b, c, f=compared: f(a, b) and c)
    case(f"setp.{name}.xor.f64", lambda a, b, c, f=compared: (a == a and b == b and f(a, b)) != c)
for name, other in UNSIGNED.items():
    case(f"setp.{name}.u32", COMPARED[other])
for t in ("f32", "f64"):
    case(f"setp.num.{t}", lambda a, b: a == a and b == b)
    case(f"setp.nan.{t}", lambda a, b: a != a or b != b)
for t in ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"):
    case(f"selp.{t}", lambda a, b, p: a if p else b)
    if bits(t) > 16:
        case(f"slct.{t}.s32", lambda a, b, c: a if c >= 0 else b)


@pytest.mark.parametrize("opcode", CASES)
def test_it_computes_what_the_isa_says(opcode: str) -> None:
    found = TABLE.find(opcode)
    assert found is not None
    row, form = found
    kinds = row.sources(form)
    inputs = [samples(kind) for kind in kinds]
    (result,) = one(opcode, *inputs)
    for k, given in enumerate(zip(*(i.tolist() for i in inputs), strict=True)):
        wanted = CASES[opcode](*given)
        got = result[k].item()
        assert got == wanted or (got != got and wanted != wanted), (opcode, given, got, wanted)


def rounded(value: float, mode: str) -> int:
    """The integral number next to a finite value."""
    exact = Fraction(value)
    down = exact.numerator // exact.denominator
    if mode == "rmi":
        return down
    if mode == "rpi":
        return -(-exact.numerator // exact.denominator)
    if mode == "rzi":
        return down if exact >= 0 else -(-exact.numerator // exact.denominator)
    return round(exact)


@pytest.mark.parametrize("mode", ["rni", "rzi", "rmi", "rpi"])
@pytest.mark.parametrize("of", ["f32", "f64"])
@pytest.mark.parametrize("to", ["u8", "s8", *INTEGERS])
def test_floats_become_integers(to: str, of: str, mode: str) -> None:
    values = samples(of)
    (found,) = one(f"cvt.{mode}.{to}.{of}", values)
    limits = np.iinfo(DTYPES[to])
    for got, value in zip(found.tolist(), values.tolist(), strict=True):
        if value != value:
            special = of == "f64" or bits(to) == 64
            wanted = wrapped(1 << (bits(to) - 1), to) if special else 0
        elif abs(value) == np.inf:
            wanted = limits.max if value > 0 else limits.min
        else:
            wanted = min(max(rounded(value, mode), limits.min), limits.max)
        assert got == wanted, (value, got, wanted)


@pytest.mark.parametrize("to", ["f32", "f64"])
@pytest.mark.parametrize("of", [*INTEGERS, "u8", "s8"])
def test_integers_become_floats(to: str, of: str) -> None:
    values = samples(of)
    (found,) = one(f"cvt.rn.{to}.{of}", values)
    for got, value in zip(found.tolist(), values.tolist(), strict=True):
        assert got == nearest(Fraction(value), to)


@pytest.mark.parametrize("sat", ["", ".sat"])
@pytest.mark.parametrize("to", [*INTEGERS, "u8", "s8"])
@pytest.mark.parametrize("of", [*INTEGERS, "u8", "s8"])
def test_integers_become_integers(to: str, of: str, sat: str) -> None:
    values = samples(of)
    (found,) = one(f"cvt{sat}.{to}.{of}", values)
    limits = np.iinfo(DTYPES[to])
    for got, value in zip(found.tolist(), values.tolist(), strict=True):
        wanted = min(max(value, limits.min), limits.max) if sat else wrapped(value, to)
        assert got == wanted


def test_carries_pass_from_word_to_word() -> None:
    a, b, c = (samples("u32") for _ in range(3))
    made = code(
        """mad.wide.u32 %d0, %i, 4, %a0; mad.wide.u32 %d1, %i, 4, %a1; mad.wide.u32 %d2, %i, 4, %a2;
        mad.wide.u32 %d3, %i, 4, %a3; mad.wide.u32 %d4, %i, 4, %a4; mad.wide.u32 %d5, %i, 4, %a5;
        ld.global.u32 %r0, [%d0]; ld.global.u32 %r1, [%d1]; ld.global.u32 %r2, [%d2];
        add.cc.u32 %r3, %r0, %r1; addc.cc.u32 %r4, %r1, %r2; addc.u32 %r5, %r2, 0;
        sub.cc.u32 %r6, %r3, %r2; subc.cc.u32 %r7, %r4, %r0; subc.u32 %r8, %r5, %r1;
        mad.lo.cc.u32 %r9, %r6, %r7, %r8; madc.hi.cc.u32 %r10, %r6, %r7, %r8;
        madc.lo.u32 %r11, %r0, %r1, %r2;
        st.global.u32 [%d3], %r9; st.global.u32 [%d4], %r10; st.global.u32 [%d5], %r11;""",
        6,
    )
    out = [np.zeros(COUNT, np.uint32) for _ in range(3)]
    start(made, [a, b, c, *out], COUNT, block=COUNT)
    word = 1 << 32
    for k, (x, y, z) in enumerate(zip(a.tolist(), b.tolist(), c.tolist(), strict=True)):
        total = (y << 32 | x) + (z << 32 | y) + (z << 64)
        low, middle, high = total % word, total // word % word, total // word**2 % word
        less = (high << 64 | middle << 32 | low) - (y << 64 | x << 32 | z)
        p, q, r = less % word, less // word % word, less // word**2 % word
        first = p * q % word + r
        second = (p * q // word) + r + first // word
        third = x * y % word + z + second // word
        assert [int(o[k]) for o in out] == [first % word, second % word, third % word]


def test_setp_gives_the_opposite_as_well() -> None:
    a, b, c = samples("f32"), samples("f32"), samples("pred")
    less, other = one("setp.lt.f32|", a, b)
    assert (less != other).all()
    joined, rest = one("setp.lt.and.f32|", a, b, c)
    assert (joined == (less & c)).all() and (rest == (other & c)).all()


def dtypes(kinds: list[str]) -> list[np.dtype[Any]]:
    return [DTYPES["pred" if kind == "cc" else kind] for kind in kinds]


def test_results_have_the_types_that_their_row_says() -> None:
    # the next instruction reads them as they are: NumPy shifts no int64 by a uint64
    tried = 0
    for row in TABLE.rows:
        for words in row.opcodes() if row.kind == "value" else ():
            known = TABLE.find(".".join(filter(None, words)))
            assert known is not None
            form = known[1]
            compute = row.make(form)
            if compute is not None:
                given = [np.ones(3, dtype) for dtype in dtypes(row.sources(form))]
                with np.errstate(all="ignore"):
                    found = compute(*given)
                found = found if isinstance(found, tuple) else (found,)
                assert [f.dtype for f in found] == dtypes(row.results(form)), words
                tried += 1
    assert tried > 1000


#: opcodes that tests put together from a name
NAMES = (
    "sub", "mul", "finite", "add.u64", "min.u64", "max.s64", "and.b64", "or.b64", "xor.b64",
    "exch.b64",
)  # fmt: skip
#: what stands in the holes of format strings
HOLES = {"kind": ["f32", "f64"], "mode": ["rn", "rz", "rni"], "name": [*NAMES], "word": ["all"]}
OPCODE = re.compile(r"(?:\b[a-z]|\{name\})\w*(?:\.(?:\w+|\{\w+\}))+")


def written() -> set[str]:
    """The opcodes that the tests of this folder name."""
    found = set(CASES)
    for path in Path(__file__).parent.glob("test_*.py"):
        text = path.read_text("utf-8")
        found |= set(re.findall(r"\b(ret|exit);", text))
        for word in OPCODE.findall(text):
            holes = re.findall(r"\{(\w+)\}", word)
            for chosen in itertools.product(*(HOLES.get(hole, ["s32"]) for hole in holes)):
                opcode = word
                for hole, value in zip(holes, chosen, strict=True):
                    opcode = opcode.replace(f"{{{hole}}}", value, 1)
                found.add(opcode)
    return found


def test_every_row_has_a_test() -> None:
    read = {found[0].syntax for word in written() if (found := TABLE.find(word)) is not None}
    assert [row.syntax for row in TABLE.rows if row.syntax not in read] == []


def test_no_opcode_is_read_by_two_rows() -> None:
    for row in TABLE.rows:
        if row.kind != "memory":
            for words in row.opcodes():
                found = TABLE.find(".".join(filter(None, words)))
                assert found is not None and found[0] is row, words
