"""A launch as calls for blocks: which axes are in chunks, and what a block function needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from porter import ir
from porter.analyses.accesses import accesses
from porter.diagnostics import Refusal, refusal
from porter.dtypes.dtype import DType
from porter.ir.effects import defs_in, expressions, indices
from porter.ir.rebuild import map_parts
from porter.ir.walk import rewrite, statements, walk
from porter.schedule.base import Kernel, Schedule
from porter.schedule.chunked.folds import Part, fold_axes, folded
from porter.schedule.chunked.nodes import Blockwise, Copied, Filled, Input, Joined, Step
from porter.schedule.chunked.places import Places, edge_of, names_in, places, polys_of
from porter.schedule.chunked.stores import gives_all, loads_of, separated
from porter.sizes.polynomial import Atom, Data, Dim, Integer, Poly
from porter.support.reserved import given

_LETTERS = "ijklmnopqrstuvwxyz"
#: names that Dask's functions take for their own arguments, and those of the module
_TAKEN = {
    "align_arrays", "allow_rechunk", "block", "block_id", "block_info", "boundary", "chunks",
    "concatenate", "depth", "drop_axis", "dtype", "enforce_ndim", "func", "meta", "name",
    "new_axes", "new_axis", "adjust_chunks", "out_ind", "token", "trim",
    "da", "np", "shape",
}  # fmt: skip


def refused(origin: ir.Origin, message: str) -> Refusal:
    """Why something has no chunked form."""
    cure = "use --target loops or --target cuda"
    return refusal("PRT806", message, origin.span, cure)


@dataclass
class Splitter:
    """Turns the launches of one function into steps; `buffers` grows by what folds make.

    `schedule` is that of the kernels of blocks; `constants` are those of the module.
    """

    buffers: dict[str, ir.Buffer]
    schedule: Schedule
    fresh: Callable[[str], str]
    constants: Collection[str] = ()

    def steps(self, kernel: Kernel) -> Iterator[Step]:
        """What takes the place of a launch."""
        try:
            own = separated(kernel)
        except ValueError as error:
            raise refused(kernel.origin, f"{error}, which has no chunked form") from None
        parts = folded(kernel, self.buffers, self.fresh)
        if parts is None:
            for name, one in own:
                yield from self._stored(one, self.buffers[name])
            return
        made: list[Step] = []
        for part in parts[0]:
            made += self._part(part)
        for name, one in separated(parts[1]):
            made += self._stored(one, self.buffers[name])
        yield from without_copies(made)

    def _part(self, part: Part) -> Iterator[Step]:
        self.buffers |= {b.name: b for b in (part.parts, part.joined.out)}
        axes = fold_axes(part.kernel)
        # to the analysis the fold is one more axis, which the result has one element of
        outer = replace(part.kernel, axes=(*part.kernel.axes, *axes))
        found = self._places(part.kernel, part.parts)
        count = len(part.kernel.axes)
        for k, a in enumerate(axes):
            found.at[a.name] = (count + k, 0)
        for r in (a for a in accesses(outer.body) if not a.write):
            for d, p in enumerate(r.index):
                if p.name in found.at and p.name in {a.name for a in axes}:
                    found.aligned[r.buffer, d] = p.name
        yield Blocks(self, found, {a.name: a.hi for a in axes}).step()
        yield part.joined

    def _places(self, kernel: Kernel, out: ir.Buffer) -> Places:
        return places(kernel, out, self.buffers)

    def _stored(self, kernel: Kernel, out: ir.Buffer) -> Iterator[Step]:
        if out.parameter:
            text = f"stores into its argument `{out.name}`, and Dask's arrays do not change"
            raise refused(kernel.origin, text)
        simple = self._simple(kernel, out)
        yield simple or Blocks(self, self._places(kernel, out), {}).step()

    def _simple(self, kernel: Kernel, out: ir.Buffer) -> Step | None:
        """A copy, or an array of one number."""
        if len(kernel.body) != 1 or not gives_all(kernel, out):
            return None
        (store,) = kernel.body
        if not isinstance(store, ir.Write):
            return None
        e = store.body
        if isinstance(e, ir.Load) and e.index == store.index and e.dtype == out.dtype:
            same = self.buffers[e.buffer].shape == out.shape
            return Copied(out, e.buffer) if same else None
        if any(isinstance(x, (ir.Load, ir.Local, ir.Reduce)) for x in walk(e)):
            return None
        used = {n for x in walk(e) for p in polys_of(x) for n in names_in(p)}
        if used & {a.name for a in kernel.axes}:
            return None
        return Filled(out, e, self.like(out))

    def like(self, out: ir.Buffer) -> str:
        """An argument of the same shape."""
        same = (b.name for b in self.buffers.values() if b.parameter and b.shape == out.shape)
        return next(same, "")


def without_copies(steps: Sequence[Step]) -> Iterator[Step]:
    """The same, a fold that is only copied having the name of the copy."""
    copies = {s.source: s.out for s in steps if isinstance(s, Copied)}
    for s in steps:
        users = [t for t in steps if s.out.name in sources(t)]
        if isinstance(s, Joined) and len(users) == 1 and s.out.name in copies:
            yield replace(s, out=copies[s.out.name])
        elif not (isinstance(s, Copied) and _is_fold(s, steps)):
            yield s


def _is_fold(s: Copied, steps: Sequence[Step]) -> bool:
    """Whether a copy is the only use of a fold."""
    folds = {t.out.name for t in steps if isinstance(t, Joined)}
    return s.source in folds and sum(s.source in sources(t) for t in steps) == 1


def sources(step: Step) -> set[str]:
    """The arrays that a step needs."""
    match step:
        case Copied(source=name) | Joined(parts=name):
            return {name}
        case Blockwise(inputs=inputs):
            return {i.name for i in inputs}
    return set()


class Blocks:
    """Makes one `Blockwise`: letters, sizes of blocks, and a kernel that has them."""

    def __init__(self, splitter: Splitter, found: Places, inner: Mapping[str, Poly]) -> None:
        self.splitter, self.found, self.inner = splitter, found, inner
        self.renewed = not gives_all(self.kernel, self.out) and not inner
        self.names = sorted(loads_of(self.kernel.body) - {self.out.name},
                            key=[*self.buffers].index)  # fmt: skip
        if self.renewed:
            self.names.append(self.out.name)
            for a, (d, _) in found.at.items():
                found.aligned.setdefault((self.out.name, d), a)
        self.roots = self._roots()
        self.letters: dict[str, str] = {}
        #: what an axis of the kernel is long in a block, and axes of arrays in one chunk
        self.sizes: dict[str, Poly] = {}
        self.whole: dict[Poly, Poly] = {}
        self.given: dict[str, Poly] = {}

    @property
    def kernel(self) -> Kernel:
        """What is done with whole arrays."""
        return self.found.kernel

    @property
    def out(self) -> ir.Buffer:
        """The result."""
        return self.found.out

    @property
    def buffers(self) -> Mapping[str, ir.Buffer]:
        """All arrays of the function."""
        return self.splitter.buffers

    def step(self) -> Blockwise:
        """The step; Refusal where nothing is in chunks."""
        found = self.found
        for a in [n for n in found.chunked if not self._inputs_along(n)]:
            if a in found.at:
                found.whole[a] = f"has nothing to read along axis {found.at[a][0]}"
        self._check()
        for a in found.chunked:
            self.letters[a] = _LETTERS[len(self.letters)]
            name, d = self._inputs_along(a)[0]
            self.sizes[a] = Poly.atom(Dim(name, d))
        inputs = tuple(self._input(n) for n in self.names)
        letters, made, shape = self._result(inputs)
        kernel, local = self._local_kernel(), self._local(inputs, shape)
        taken = {*map(given, (*self.given, *self.names))} & _TAKEN
        if taken:
            text = f"uses `{min(taken)}`, a name that Dask's functions or the module need"
            raise refused(self.kernel.origin, text)
        by_letter = {self.letters[a]: n for a, n in found.depth.items() if a in found.chunked and n}
        one = "".join(self.letters[a] for a in self.inner)
        return Blockwise(
            self.out, letters, inputs, kernel, local, shape, by_letter, one, made, self.renewed,
            tuple(self.given.items()),
        )  # fmt: skip

    def _check(self) -> None:
        found = self.found
        bare = all(not self.buffers[n].shape for n in self.names)
        if found.chunked or (bare and not self.out.shape):
            return
        why = next(iter(found.whole.values()), "")
        if not why:
            large = next((n for n in self.names if self.buffers[n].shape), self.out.name)
            why = f"needs axis 0 of `{large}` whole"
        raise refused(self.kernel.origin, f"{why}, and no other axis can be in chunks")

    def _inputs_along(self, axis: str) -> list[tuple[str, int]]:
        own = [at for at, a in self.found.aligned.items() if a == axis and at[0] in self.names]
        return sorted(own, key=lambda at: (self.names.index(at[0]), at[1]))

    def _input(self, name: str) -> Input:
        letters, whole = "", []
        for d, size in enumerate(self.buffers[name].shape):
            a = self._axis_of(name, d)
            if a:
                letters += self.letters[a]
                continue
            whole.append(d)
            letters += self._whole_letter(size, letters)
            self.whole.setdefault(size, Poly.atom(Dim(name, d)))
        return Input(name, letters, tuple(whole))

    def _axis_of(self, name: str, d: int) -> str:
        """The axis along which an array is in chunks."""
        a = self.found.aligned.get((name, d), "")
        if name == self.out.name:
            a = next((n for n, at in self.found.at.items() if at[0] == d), "")
        return a if a in self.found.chunked else ""

    def _whole_letter(self, size: Poly, used: str) -> str:
        for key, letter in self.letters.items():
            if key.startswith(f"{size} ") and letter not in used:
                return letter
        letter = _LETTERS[len(self.letters)]
        self.letters[f"{size} {letter}"] = letter
        return letter

    def _result(
        self, inputs: tuple[Input, ...]
    ) -> tuple[str, tuple[tuple[str, Poly], ...], tuple[Poly, ...]]:
        """The letters of the result, those that no input has, and the shape of a block of it."""
        known = {c for i in inputs for c in i.letters}
        letters, made, shape = "", [], []
        for d, size in enumerate(self.out.shape):
            a = next((n for n, at in self.found.at.items() if at[0] == d), "")
            if a in self.inner:
                letters += self.letters[a]
                shape.append(Poly.of(1))
            elif a in self.found.chunked:
                letters += self.letters[a]
                shape.append(self.sizes[a])
            else:
                letter = self._whole_letter(size, letters)
                letters += letter
                shape.append(self._global(size))
                if letter not in known:
                    made.append((letter, size))
        return letters, tuple(made), tuple(shape)

    # -- the kernel of a block ---------------------------------------------------------------

    def _roots(self) -> dict[str, str]:
        """The arrays whose dtypes stand for those of arguments."""
        found: dict[str, str] = {}
        for n in self.names:
            var = self.buffers[n].dtype.var
            if var is not None:
                found.setdefault(var, n)
        return found

    def _dtype(self, dtype: DType) -> DType:
        if dtype.var is None:
            return dtype
        if dtype.var not in self.roots:
            text = f"makes numbers of the dtype of `{dtype.var}` without reading it"
            raise refused(self.kernel.origin, f"{text}, which has no chunked form")
        return replace(dtype, var=self.roots[dtype.var])

    def _local(self, inputs: tuple[Input, ...], shape: tuple[Poly, ...]) -> dict[str, ir.Buffer]:
        found: dict[str, ir.Buffer] = {}
        for i in inputs:
            old, sizes = self.buffers[i.name], []
            for d, size in enumerate(old.shape):
                a = self._axis_of(i.name, d)
                sizes.append(self.sizes[a] if a else self.whole[size])
            found[i.name] = ir.Buffer(i.name, tuple(sizes), self._dtype(old.dtype), True)
        if self.out.name not in found:
            own = ir.Buffer(self.out.name, shape, self._dtype(self.out.dtype))
            found[own.name] = own
        return found

    def _local_kernel(self) -> Kernel:
        body = tuple(map_parts(s, self._expr, self._global, self._dtype) for s in self.kernel.body)
        axes = tuple(
            ir.Axis(a.name, self._near(a.hi, a.name), self._near(a.lo, a.name))
            if a.name in self.found.chunked
            else ir.Axis(a.name, self._global(a.hi), self._global(a.lo))
            for a in self.kernel.axes
        )
        self._numbers_of(body)
        return replace(self.kernel, axes=axes, body=body, schedule=self.splitter.schedule)

    def _expr(self, e: ir.Expr) -> ir.Expr:
        return rewrite(e, self._changed)

    def _changed(self, e: ir.Expr) -> ir.Expr | None:
        """A node with the sizes of blocks; None to look into it."""
        match e:
            case ir.Op(op, args, dtype):
                edge = edge_of(e, self.found)
                if edge is None:
                    return ir.Op(op, tuple(map(self._expr, args)), self._dtype(dtype))
                near = [
                    replace(x, poly=self._near(x.poly, edge[0])) if isinstance(x, ir.Value) else x
                    for x in args
                ]
                return ir.Op(op, tuple(near), dtype)
            case ir.Value(poly, dtype):
                return ir.Value(self._global(poly), self._dtype(dtype))
            case ir.Load(name, index, dtype):
                return ir.Load(name, tuple(map(self._global, index)), self._dtype(dtype))
            case ir.Reduce(axes=axes, body=body, dtype=dtype):
                bounds = tuple(
                    ir.Axis(a.name, self.sizes[a.name]) if a.name in self.inner
                    else ir.Axis(a.name, self._global(a.hi), self._global(a.lo))
                    for a in axes
                )  # fmt: skip
                return replace(e, axes=bounds, body=self._expr(body), dtype=self._dtype(dtype))
            case ir.Cast(arg, dtype):
                return ir.Cast(self._expr(arg), self._dtype(dtype))
            case ir.Select(cond, then, other, dtype):
                test, yes, no = map(self._expr, (cond, then, other))
                return ir.Select(test, yes, no, self._dtype(dtype))
            case ir.Const() | ir.Scalar() | ir.Local():
                return replace(e, dtype=self._dtype(e.dtype))
        raise refused(self.kernel.origin, "uses an object of the host, which has no chunked form")

    def _near(self, p: Poly, axis: str) -> Poly:
        """A bound or a position along an axis in chunks, as a block has it."""
        size = self.found.size(axis).dim
        return p.map_atoms(lambda a: self.sizes[axis] if a == size else Poly.atom(a))

    def _global(self, p: Poly) -> Poly:
        """A size that is not of blocks: of an array in one chunk, or a number that is given."""
        return p.map_atoms(self._atom)

    def _atom(self, a: Atom) -> Poly:
        if isinstance(a, Data):
            return Poly.atom(replace(a, expr=self._expr(a.expr)))
        if not isinstance(a, Dim):
            return Poly.atom(a)
        own = Poly.atom(a)
        if own in self.whole:
            return self.whole[own]
        name = f"{a.array}_size{a.axis}"
        self.given[name] = own
        return Poly.atom(Integer(name, nonneg=True))

    def _numbers_of(self, body: tuple[ir.Stmt, ...]) -> None:
        """The numbers of the host that the kernel uses."""
        inner = {a.name for a in self.kernel.axes} | defs_in(body).scalars
        inner |= {*self.splitter.constants}
        inner |= set().union(*(indices(s) for s in statements(body)))
        for e in (x for s in statements(body) for top in expressions(s) for x in walk(top)):
            if isinstance(e, (ir.Scalar, ir.Local)) and e.name not in inner:
                self.given.setdefault(e.name, Poly.atom(Integer(e.name)))
        polys = [p for s in statements(body) for e in expressions(s) for x in walk(e)
                 for p in polys_of(x)]  # fmt: skip
        polys += [p for s in statements(body) if isinstance(s, ir.Write) for p in s.index]
        polys += [p for a in self.kernel.axes for p in (a.lo, a.hi)]
        for a in (a for p in polys for a in p.atoms()):
            if not isinstance(a, Dim) and hasattr(a, "name") and a.name not in inner:
                self.given.setdefault(a.name, Poly.atom(Integer(a.name)))
