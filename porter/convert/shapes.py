"""The shapes of a converted function's parameters, in words of the header."""

from __future__ import annotations

from collections.abc import Iterator

from porter import ir
from porter.convert.function import Converted
from porter.sizes.polynomial import Dim, Integer, Poly


def shapes_of(converted: Converted) -> str:
    """The parameters' shapes with equal sizes under one name: `x[n, m] w[m] eps[]`."""
    sizes = _SizeNames()
    needed = {**_least(converted.program), **_met(converted.program)}
    entries = []
    for p in converted.program.parameters:
        if p.ndim is None:
            entries.append(f"{p.name}[]")
            continue
        shape = converted.program.buffers[p.name].shape
        dims = [sizes.name(needed.get(n.dim, n)) for n in shape]
        entries.append(f"{p.name}[{', '.join(dims)}]")
    return " ".join(entries)


def _met(program: ir.Program) -> dict[Dim | None, Poly]:
    """Sizes that are as large as others unless they are 1: NumPy broadcasts these."""
    found: dict[Dim | None, Poly] = {}
    for c in program.checks:
        if c.kind != "equal" or not c.conditions or not all(map(_is_no_one, c.conditions)):
            continue
        left, right = (p.replace({d.name: found[d] for d in p.dims() if d in found})
                       for p in (c.left, c.right))  # fmt: skip
        for size, other in ((left, right), (right, left)):
            if size.dim is not None and size.dim not in other.dims():
                found = {d: p.replace({size.dim.name: other}) for d, p in found.items()}
                found[size.dim] = other
                break
    return found


def _is_no_one(e: ir.Expr) -> bool:
    """Whether a condition is that a size is not 1."""
    match e:
        case ir.Op("ne", (ir.Value(), ir.Const(value=1) | ir.Value(poly=Poly(constant=1)))):
            return True
    return False


def _least(program: ir.Program) -> dict[Dim | None, Poly]:
    """Sizes for which only a least value is known, in terms of others: `x[n+4] y[n]`."""
    found: dict[Dim | None, Poly] = {}
    for c in program.checks:
        size, others = c.right.dim, c.left.dims()
        if c.kind != "index" or size is None or not len(others) == len(c.left.names()) == 1:
            continue
        other = min(others)
        if size == other or other in found or c.left.coefficient(other.name) != 1:
            continue
        known = found.get(size)
        if known is None or (c.left - known).is_nonneg():
            found[size] = c.left
    return found


class _SizeNames:
    """Short names for the sizes of the arguments."""

    def __init__(self) -> None:
        self.names: dict[Dim, str] = {}

    def name(self, size: object) -> str:
        """The name of a size, or an expression of names; `*` for what is more than arithmetic."""
        assert isinstance(size, Poly)
        if size.constant is not None:
            return str(size.constant)
        if not all(isinstance(a, Dim) for a in size.atoms()):
            return "*"
        for dim in sorted(size.dims()):
            if dim not in self.names:
                self.names[dim] = next(self._letters())
        values = {d.name: Poly.atom(Integer(n, True)) for d, n in self.names.items()}
        short = size.replace(values)
        return str(short).replace(" ", "")

    def _letters(self) -> Iterator[str]:
        yield from (c for c in "nmklpqrstuvwabcdefgh" if c not in self.names.values())


__all__ = ["shapes_of"]
