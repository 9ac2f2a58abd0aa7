"""The start of a host function: checks of the arguments, broadcasting, transfers."""

from __future__ import annotations

from collections.abc import Sequence

from porter import ir
from porter.analyses.leading_axes import LeadingAxes
from porter.analyses.testable import needed
from porter.codegen.host.head import own_keywords
from porter.codegen.host.leading import never_fails, settled, settles
from porter.codegen.host.pipeline import Pipeline, in_tuple
from porter.codegen.host.workspaces import is_interrupted
from porter.codegen.module.marks import (
    DOUBLED,
    FLOATS,
    dtypes_of,
    plain_of,
    real_of,
    refused_of,
    rule_of,
)
from porter.codegen.style.atoms import in_fstring
from porter.ir.ops import SHOWN
from porter.ir.walk import walk
from porter.schedule.nodes import Launch, items_of
from porter.target.base import Call

#: what NumPy's own integers promote to another dtype
_NARROW = {"int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64", "float32", "complex64"}


class Prologue(Pipeline):
    """Writes what stands before the first statement."""

    def _prologue(self, asserted: Sequence[str]) -> None:
        given = self._as_they_came()
        self._check_parameters()
        self._same_dtypes()
        if self.elementwise:
            if any(isinstance(i, Launch) for i in items_of(self.plan.items)):
                self._flatten(given)
        else:
            if self.plan.leading is not None:
                self._elsewhere_of_rank(self.plan.leading, given)
                self._collapse(self.plan.leading)
            self._expand()
        self._elsewhere(given)
        for root, name in self.naming.types.items():
            self.emit(f"{name} = {root}.dtype.type")
        self.out.lines += asserted
        for k, c in enumerate(self.pending):
            if not (never_fails(c) or any(settles(d, c) for d in self.pending[:k])):
                self._check(c)
        self.pending = []
        for written, read in self.plan.no_alias:
            self._refuse_alias(written, read)
        if self.target.device:
            self._place_of_arguments()
            self._in_chunks()
        self._transfers([p for p in self.arrays if self._is_used(p.name)])
        if self.plan.states:
            self._needs("_states")
            self.needs.numpy = True
            made = f"_states(states, {self._seed()}, stream)"
            self.emit(f"{self.plan.states}, {self.naming.blocks} = {made}")
        if self.errors:
            slots = max(self.errors) + 1
            zeros = self.target.workspace("error", f"{slots}", "np.int32", zero=True)
            if is_interrupted(self.plan):
                zeros = Call(self.target.copied(f"np.zeros({slots}, np.int32)"))
            self.emit(f"error = {self.spelled(zeros)}")

    def _seed(self) -> str:
        """What the generators of the threads start from: what the caller says goes before it."""
        given = [p.name for p in self.plan.parameters if p.generator]
        if self.plan.seed is None and not given:
            return "seed"
        if given:
            self._needs("_seed_of")
            own = f"_seed_of({', '.join(given)}) if states is None"
            return f"{own} and seed is None else seed"
        assert self.plan.seed is not None
        return f"{self.host.text(self.plan.seed)} if seed is None else seed"

    def _as_they_came(self) -> str:
        """What is asked of the arguments before anything is made of them, and their names."""
        for p in self.plan.parameters:
            if p.attribute:
                self.emit(f"{p.name} = self.{p.attribute}")
        for n in self._given_back():
            self.emit(f"given_{n} = {n}")
        given = self._given()
        self.out.lines.append(DOUBLED.rstrip())
        for n in self.plan.integral_floats:
            self._needs("_from_float")
            self.emit(f"{n} = _from_float({', '.join([n, *(q.name for q in self.arrays)])})")
        for p in self.plan.parameters:
            self._classes(p)
        self._python_numbers()
        # beside arrays of floats, a count stays an integer
        floats = [p for p in self.arrays if p.dtype.kind not in "iu"] or self.arrays
        # one that is stored into is no number; numbers take its dtype
        written = self.overlap.written
        every = [p.name for p in floats]
        several = self.elementwise and len(every) > 1 and not set(every) <= written
        if several and self.plan.numbers.computed is not None:
            self._needs("_weak_integers")
            both = ", ".join("_" if n in written else n for n in every)
            computed = self._among(every, "computed")
            self.emit(f"{both} = _weak_integers({', '.join(every)}{computed})")
        if several:
            self._large_integers(every)
        # a number takes the dtype of those that it meets, if one of them is an array
        for loose in (*self._alike(floats), every) if self.elementwise and len(every) > 1 else ():
            if set(loose) <= written:
                continue
            self._needs("_weak")
            both = ", ".join("_" if n in written else n for n in loose)
            self.emit(f"{both} = _weak({', '.join(loose)}{self._among(loose, 'strong')})")
        return given

    def _large_integers(self, every: Sequence[str]) -> None:
        """Refuse integers of which float32 has another result than Python."""
        exact = {g: most for g, most in self.plan.numbers.exact.items() if {*g} < {*every}}
        if exact:
            self._needs("_exact_integers")
            named = [", ".join(f'"{n}": {n}' for n in group) for group in exact]
            groups = [f"({{{n}}}, {most})" for n, most in zip(named, exact.values(), strict=True)]
            self.emit(f"_exact_integers({', '.join(every)}, groups=[{', '.join(groups)}])")

    def _alike(self, parameters: Sequence[ir.Parameter]) -> list[list[str]]:
        """The arrays that have one dtype, where there are several of it but not all."""
        groups: dict[str, list[str]] = {}
        for p in parameters:
            dtype = self.plan.buffers[p.name].dtype
            groups.setdefault(dtype.var or dtype.name, []).append(p.name)
        return [names for names in groups.values() if 1 < len(names) < len(parameters)]

    def _among(self, loose: Sequence[str], which: str) -> str:
        """The groups of numbers of which something else is made; all of them are as they are."""
        found = getattr(self.plan.numbers, which)
        groups = {group: [n for n in group if n in loose] for group in found}
        texts = {in_tuple(g): own for own, g in groups.items() if 0 < len(g) < len(loose)}
        known = self.plan.numbers.beside if which == "strong" else {}
        beside = [known.get(own, ()) for own in texts.values()]
        arrays = f", arrays=[{', '.join(map(in_tuple, beside))}]" if any(beside) else ""
        self._needs(*(["_weak_arrays"] if arrays else []))
        return f", {which}=[{', '.join(texts)}]{arrays}" if texts else ""

    def _check_parameters(self) -> None:
        for p in sorted(self.plan.parameters, key=self._rank):
            self._check_parameter(p)
        for p in self.plan.parameters:
            # integers are held against arrays that are converted already
            self._items(p, "biu")

    def _place_of_arguments(self) -> None:
        """Whether arguments are on the device, and the stream."""
        names = [p.name for p in self.arrays]
        if names:
            self._needs("_on_device")
            inside = (
                f"_on_device({names[0]})"
                if len(names) == 1
                else " or ".join(f"_on_device({n})" for n in names)
            )
            if self.naming.asks_device:
                self.emit(f"on_device = {inside}")
        self.emit("stream = 0 if stream is None else stream")
        if self.target.extras.timing:
            self.emit("times = None if timing is None else []")

    def _python_numbers(self) -> None:
        """Whether the results are Python's numbers, as the arguments are."""
        loose = [p.name for p in self.plan.parameters if not (p.fixed or p.items)]
        given = ", ".join(loose)
        if self.plan.items_of_lists:
            self._needs("_plain_items")
            rule = self.plan.items_of_lists
            made = f'_plain_items("{" ".join(loose)}", "{rule}", {given})'
            self.emit(made if rule == "none" else f"plain = {made}")
        arrays = ", ".join(p.name for p in self.plan.parameters if p.ndim is not None)
        found = [(n[0], f"_plain({', '.join(n)})") for n in self.plan.numbers.unlike]
        alone = self.plan.numbers.alone.items()
        found += [(n, f"{_is_pythons(n, kinds)} and not _plain({arrays})") for n, kinds in alone]
        for name, test in found:
            self._needs("_plain")
            kind = f"{name} is Python's {{type({name}).__name__}}, which"
            cure = f"pass np.asarray({name})"
            self.emit(f"if {test}:")
            self.emit(f'    raise TypeError(f"{kind} computes otherwise than an array: {cure}")')
        for name in self._integers_alone():
            self._needs("_plain", "_of_int64")
            self.emit(f"if _plain({arrays}):")
            self.emit(f'    _of_int64({name}, "{name}")')
        for names, plain in self.naming.plain.items() if not self.plan.items_of_lists else ():
            self._needs("_plain")
            self.emit(f"{plain} = _plain({', '.join(names)}{plain_of(names)})")

    def _integers_alone(self) -> list[str]:
        """The numbers that decide the dtype of results beside Python's integers in place of arrays
        of integers."""
        if not (self.elementwise and any(q.dtype.kind in "iu" for q in self.arrays)):
            return []
        numbers = [p for p in self.plan.parameters if p.ndim is None and p.dtype.kind in "iu"]
        return [p.name for p in numbers if not (p.fixed or p.items) and self._met_by(p.name)]

    def _given(self) -> str:
        """The arguments as they are given, for a function that serves them instead."""
        if not self.plan.broadcast:
            return ""
        parameters = self.plan.parameters
        own = [p.name for p in parameters if not p.keyword]
        name = self.naming.free("given")
        self.naming.used.add(name)
        self.emit(f"{name} = {', '.join(own)}{',' if len(own) == 1 else ''}")
        keywords = [f"{p.name}={p.name}" for p in parameters if p.keyword]
        more = own_keywords(self.target, bool(self.plan.states))
        keywords += [f"{name}={name}" for name in more]
        return ", ".join([f"*{name}", *keywords])

    def _elsewhere(self, given: str) -> None:
        """Calls in which an axis of size 1 broadcasts, as these kernels do not."""
        served = [c for c in self.plan.unserved if c in self.pending] if given else []
        if served:
            self.emit("# an axis of size 1 broadcasts")
            self.emit(f"if {self._any_fails(served)}:")
            self.emit(f"    return {self.plan.broadcast}({given})")
            self.pending = [c for c in self.pending if c not in served]

    def _elsewhere_of_rank(self, leading: LeadingAxes, given: str) -> None:
        """The same for leading axes that these kernels do not broadcast: for one each."""
        served = [c for c in self.plan.unserved if settled(c, leading)] if given else []
        if served:
            ranks = [f"len({p.name}.shape) == {p.ndim}" for p in self.arrays
                     if p.name in leading.arrays]  # fmt: skip
            fails = self._any_fails(served)
            fails = f"({fails})" if " or " in fails else fails
            self.emit("# an axis of size 1 broadcasts")
            self.emit(f"if {' and '.join([*ranks, fails])}:")
            self.emit(f"    return {self.plan.broadcast}({given})")

    def _any_fails(self, checks: Sequence[ir.Check]) -> str:
        """When one of several checks fails."""
        tests = list(dict.fromkeys(map(self._test, checks)))
        tests = [f"({t})" if " and " in t else t for t in tests] if len(tests) > 1 else tests
        return " or ".join(tests)

    def _rank(self, p: ir.Parameter) -> int:
        """Numbers first, where nothing converts the arrays that they are beside; then arrays."""
        if p.ndim is not None:
            return 1
        raw = not any(q.conversion for q in self.arrays)
        return 0 if raw and not p.fixed and p.dtype.kind in "fc" else 2

    def _check_parameter(self, p: ir.Parameter) -> None:
        name = p.name
        if p.generator:
            self.needs.numpy = True
            self.emit(f"if not isinstance({name}, np.random.{p.generator}):")
            found = f"{name} must be a numpy.random.{p.generator}, not {{type({name}).__name__}}"
            self.emit(f'    raise TypeError(f"{found}")')
        elif p.fixed:
            test = f"{name} is not" if p.only == "None" else f"{name} !="
            self.emit(f"if {test} {p.only}:")
            self._needs("_command")
            command = f"_command({refused_of(name) if p.only == 'None' else ''})"
            self.emit(f'    raise TypeError(f"{name} must be {in_fstring(p.only)}: {{{command}}}")')
        elif p.items:
            names = ", ".join(q.name for q in p.items)
            self.emit(f"{names}{',' if len(p.items) == 1 else ''} = {name}")
            self._items(p, "fc")
        elif p.ndim is None:
            self._scalar(p, name)
        else:
            if p.conversion and not self.target.device:
                self.emit(f"{name} = {p.conversion}")
            elif p.conversion:
                self._needs("_on_device")
                self.emit(f"{name} = {name} if _on_device({name}) else {p.conversion}")
            ndim = None if self.elementwise or self._any_rank(name) else p.ndim
            self._needs("_array", "_on_device")
            extra = ", written=True" if name in self.overlap.written else ""
            if extra and self.elementwise:
                self.emit(f"whole_{name} = {name}")  # kernels may be given another array
            self.emit(f'{name} = _array({name}, "{name}", {ndim}, "{dtypes_of(name)}"{extra})')

    def _items(self, p: ir.Parameter, kinds: str) -> None:
        for k, q in enumerate(p.items):
            if q.dtype.kind in kinds:
                self._scalar(q, f"{p.name}[{k}]")

    def _classes(self, p: ir.Parameter) -> None:
        """Refuse a list or a number for which `isinstance` in the function has another answer."""
        for c in p.classes:
            names = c.names[0] if len(c.names) == 1 else f"({', '.join(c.names)})"
            test = f"isinstance({p.name}, {names})"
            if c.taken and not self.target.device:
                test = f"not {test}"
            elif c.taken:
                self._needs("_on_device")
                test = f"not ({test} or _on_device({p.name}))"
            words = ["an array", *(f"a {n}" for n in c.names[1:])] if c.taken else ["an array"]
            self.emit(f"if {test}:")
            self.emit(
                f'    raise TypeError(f"{p.name} must be {" or ".join(words)}, not '
                f'{{type({p.name}).__name__}}: the {self.target.kernels} were made for it")'
            )

    def _scalar(self, p: ir.Parameter, shown: str) -> None:
        if p.updated:
            self.emit(f"if isinstance({p.name}, np.ndarray):")
            self.emit(f'    raise TypeError("{p.name} would be changed: pass {p.name}.item()")')
        if p.floated:
            self._needs("_wide")
            self.emit(f'_wide({p.name}, "{shown}")')
        decides = p.dtype.kind in "iu" and p.name in self.plan.numbers.decides
        if (p.beside_bools or decides) and p.dtype.weak:
            self._needs("_of_int64")
            self.emit(f'_of_int64({p.name}, "{shown}")')
        if p.name in self.plan.numbers.promotes:
            self._needs("_has_single")
            beside = ", ".join(self.plan.numbers.promotes[p.name])
            test = f"type({p.name}) is not int"
            if p.dtype.kind == "f":
                self.needs.numpy = True
                single = f'getattr({p.name}, "dtype", None) == np.float32'
                test = f"(type({p.name}) is bool or {single})"
            self.emit(f"if {test} and _has_single({beside}):")
            text = f"{shown} is {{type({p.name}).__name__}} and decides a dtype: pass "
            text += f"{'float' if p.dtype.kind == 'f' else 'int'}({shown})"
            self.emit(f'    raise TypeError(f"{text}")')
        if p.dtype.kind in "iu":
            self._needs("_integer")
            like = self._met_by(p.name)
            self.emit(f'{p.name} = _integer({p.name}, "{shown}"{like})')
        elif p.dtype.kind in "fc":
            self._needs("_number")
            decided = self.plan.numbers.decides.get(p.name, ())
            met = (q.name for q in self.arrays if q.dtype.kind in "fc" or q.name in decided)
            beside = "".join(f", {name}" for name in met)
            beside += FLOATS if beside else ""
            beside += real_of(p.name)
            self.emit(f'{p.name} = _number({p.name}, "{shown}"{beside})')

    def _expand(self) -> None:
        """Arguments of length 1 along an axis where another one is longer."""
        for group in self.plan.expandable:
            names = ", ".join(d.array for d in group)
            axes = ", ".join(str(d.axis) for d in group)
            self._needs("_expanded", "_widened", "_on_device")
            self.emit(f"{names} = _expanded(({names}), ({axes}))")
            self.pending = [c for c in self.pending
                            if not (c.kind == "broadcast" and c.left.dim in group)]  # fmt: skip
        for dim, size in self.plan.widened:
            self._needs("_widened", "_on_device")
            length = self.host.poly(size)
            length = length if size.is_nonneg() else f"max({length}, 0)"
            self.emit(f"if {dim} == 1:")
            self.emit(f"    {dim.array} = _widened({dim.array}, {dim.axis}, {length})")

    def _common_shape(self, names: Sequence[str], given: str) -> str:
        """Broadcasting where only expressions meet; a store or a `zeros_like` fixes the shape.

        The array whose shape it is then, '' where they are broadcast.
        """
        target = next((n for n in names if n in self.overlap.written), None)
        strict = self.plan.strict and not self.own_shapes
        if target is not None and not strict:
            self.emit(f"shape = {target}.shape")
            return target
        if len(names) == 1 or strict:
            self.emit(f"shape = {names[0]}.shape")
            for n in names[1:]:
                self.emit(f"if {n}.shape != shape:")
                if given:
                    # an axis of size 1 broadcasts
                    self.emit(f"    if len(shape) == len({n}.shape) == 1:")
                    self.emit(f"        return {self.plan.broadcast}({given})")
                text = (
                    f"operands could not be broadcast together: {{shape}} and {{{n}.shape}} of {n}"
                )
                self._needs("_command")
                self.emit(f'    raise ValueError(f"{text}: {{_command()}}")')
            return names[0]
        self.emit(f"shape = {self._shape_of(names)}")
        if self.plan.turns.counts:
            runs = " and ".join(f"{self.host.poly(n, 5)} > 0" for n in self.plan.turns.counts)
            same = " == ".join([*map(self._shape_of, self.plan.turns.first), "shape"])
            self._needs("_command")
            self.emit(f"if not ({runs} or {same}):")
            shapes = " ".join(f"{{{n}.shape}}" for n in names)
            text = f"operands could not be broadcast together where a loop does not run: {shapes}"
            self.emit(f'    raise ValueError(f"{text}: {{_command()}}")')
        return ""

    def _shape_of(self, names: Sequence[str]) -> str:
        """The shape that arguments are broadcast to."""
        if len(names) == 1:
            return f"{names[0]}.shape"
        self.needs.numpy = True
        return f"np.broadcast_shapes({', '.join(f'{n}.shape' for n in names)})"

    def _met_by(self, name: str) -> str:
        """The dtype of an array that an integer argument is combined with."""
        for item in items_of(self.plan.items):
            for e in item.kernel.expressions() if isinstance(item, Launch) else ():
                for x in walk(e):
                    # of int64 a size is not cast to it
                    value = x.arg if isinstance(x, ir.Cast) else x
                    if not isinstance(value, ir.Value) or name not in value.poly.names():
                        continue
                    if x.dtype.var and (value is not x or self.plan.any_width):
                        return f", {x.dtype.var}.dtype"
                    if value is not x and x.dtype.name in _NARROW:
                        self.needs.numpy = True
                        return f", np.{x.dtype.name}"
        return ""

    def _flatten(self, given: str) -> None:
        """An elementwise function takes any number of dimensions: its kernels see one."""
        names = [p.name for p in self.arrays]
        self._needs("_flat")
        whole = self._common_shape(names, given)
        self.pending = [c for c in self.pending if c.kind != "broadcast"]
        if self.plan.no_points:
            self._needs("_command")
            self.emit("if not shape:")
            found = f"{names[0]} has 0 dimensions instead of 1 or more"
            cure = f"pass np.atleast_1d({names[0]}), or {{_command()}}"
            self.emit(f'    raise ValueError(f"{found}: {cure}")')
        for n in names:
            if n in self.overlap.written and n != whole:
                self.emit(f"if {n}.shape != shape:")
                found = f"cannot broadcast to the shape {{{n}.shape}} of {n}"
                self._needs("_command")
                self.emit(f'    raise ValueError(f"{found}: {{_command()}}")')
            if n in self._returned() and n not in self.overlap.written:
                self.emit(f"whole_{n} = {n}")
        for of in dict.fromkeys(self.own_shapes.values()):
            self.emit(f"{self.own_shape(of)} = {self._shape_of(of)}")
        for n in names:
            self.emit(f"{n} = _flat({n}, shape)")

    def _same_dtypes(self) -> None:
        groups: dict[str, list[str]] = {}
        for p in self.arrays:
            var = self.plan.buffers[p.name].dtype.var
            if var is not None:
                groups.setdefault(var, []).append(p.name)
        for var, names in groups.items():
            if len(names) > 1:
                self._needs("_one_dtype")
                both = ", ".join(names)
                self.emit(f'{both} = _one_dtype("{" ".join(names)}", {both}{rule_of(var)})')

    def _ready(self, c: ir.Check) -> bool:
        return needed(c) <= self.naming.used

    def _test(self, c: ir.Check) -> str:
        """When a check fails."""
        left, right = self.host.poly(c.left, 5), self.host.poly(c.right, 5)
        when = [self.host.text(e, 3) for e in c.conditions]
        when += [f"{self.host.poly(p, 5)} > 0" for p in c.when if not p.is_positive()]
        if c.kind != "index":
            left, right = self._length(c.left), self._length(c.right)
        test = f"{left} != {right}"
        if c.kind == "index":
            if when and (c.right - c.left).constant is not None:
                return " and ".join(when)  # it fails wherever the conditions hold
            test = f"{right} < {left}" if c.left.constant is not None else f"{left} > {right}"
        return " and ".join([*when, test])

    def _check(self, c: ir.Check) -> None:
        self.emit(f"if {self._test(c)}:")
        if c.kind == "index":
            self.emit(f'    raise {c.error}("{_plain(c.message)}")')
        else:
            what = _plain(c.message)
            if c.kind == "broadcast" or what in SHOWN or what == "where":
                what = "operands could not be broadcast together"
            self.emit(f'    raise {c.error}(f"{what}: {self.host.found(c.left, c.right)}")')


def _is_pythons(name: str, kinds: str) -> str:
    """The question whether an argument is Python's number, of these types."""
    if not kinds:
        return f"_plain({name})"
    return f"type({name}) in ({kinds})" if "," in kinds else f"type({name}) is {kinds}"


def _plain(text: str) -> str:
    return text.replace("`", "").replace('"', "'").replace("{", "(").replace("}", ")")
