"""The generated module and its source file, loaded for all functions of a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

from porter.codegen.module.header import FunctionRecord, Header, is_edited
from porter.source.files import read
from porter.support.reserved import ATTRIBUTE_PREFIX
from porter.target.registry import target_named
from porter.verify import generated
from porter.verify.engines.launches import poison_kept
from porter.verify.inputs.cases import CHOICES, GRID_LIMITS, MANY_BLOCKS, SMALL_BLOCKS
from porter.verify.inputs.domains import Domain, Property, read_domains
from porter.verify.inputs.hints import hints
from porter.verify.inputs.shapes import parse_shapes
from porter.verify.kernels import constants_of_kernels
from porter.verify.oracle.instances import by_attributes
from porter.verify.oracle.original import Original, function_of, load, sorted_parameters


class Loaded(NamedTuple):
    """The generated module with one choice of block sizes; those in `large` take kernels for large
    arrays, where there are such, for all arrays."""

    module: ModuleType
    blocks: dict[str, int]
    large: tuple[ModuleType, ...] = ()

    @property
    def modules(self) -> tuple[ModuleType, ...]:
        """All of them."""
        return (self.module, *self.large)


class Module:
    """The generated module: with its own blocks, small ones, and small ones in large grids.

    A kernel edited by hand may rely on its own blocks, but not on grids without a limit:
    `limited` has the one, and not the other.  On the `simulator` a warp is a thread.
    """

    def __init__(self, path: Path, text: str, header: Header, *, simulator: bool = False) -> None:
        self.path, self.text, self.header = path, text, header
        self._fixed = generated.OF_THE_SIMULATOR if simulator else generated.OF_A_GPU
        self.left_out = generated.definitions(text, self.path)[1]
        own = generated.block_sizes(text, SMALL_BLOCKS)
        self.choices = [{n: CHOICES[n]} for n in generated.block_sizes(text, CHOICES)]
        self.own = self._loaded({}, own)
        self.small = self._with({n: min(SMALL_BLOCKS[n], size) for n, size in own.items()})
        self.many = self._with({n: min(MANY_BLOCKS[n], size) for n, size in own.items()})
        self.limited = self._cut(GRID_LIMITS if self.edited else ())

    @property
    def edited(self) -> bool:
        """Whether the text is no longer what porter wrote."""
        return is_edited(self.text)

    @property
    def chunked(self) -> bool:
        """Whether its functions take arrays in chunks."""
        return target_named(*self.header.target.split()).chunked

    def compiled(self) -> Loaded:
        """The own blocks in small grids, for kernels that are compiled with these blocks."""
        read = constants_of_kernels(self.text)
        # each thread of a block that draws has a state
        states = {"MOST_STATES": self.own.blocks["THREADS"]} if self._draws() else {}
        return self._cut([name for name in GRID_LIMITS if name not in read], states)

    def _draws(self) -> bool:
        return {"MOST_STATES", "THREADS"} <= self.own.blocks.keys()

    def _cut(self, names: Sequence[str], more: Mapping[str, int] = MappingProxyType({})) -> Loaded:
        """The own blocks, and small grids by some of the limits, and by more."""
        limits = {n: size for n, size in self.small.blocks.items() if n in names}
        cut = self._with({**limits, **more})
        return Loaded(cut.module, self.own.blocks | cut.blocks, cut.large)

    def _with(self, blocks: dict[str, int]) -> Loaded:
        if not blocks:
            return Loaded(self.own.module, {}, self.own.large)
        return self._loaded(blocks, blocks)

    def _loaded(self, changed: dict[str, int], blocks: dict[str, int]) -> Loaded:
        changed = {**changed, **self._fixed}
        found = (
            poison_kept(generated.load(self.path, self.text, changed | each))
            for each in ({}, *self.choices)
        )
        plain, *large = found
        return Loaded(plain, blocks, tuple(large))

    def record(self, name: str) -> FunctionRecord:
        """What the header says of a function."""
        record = self.header.function(name)
        assert record is not None, "the parent asks only for functions in the header"
        return record


class Source:
    """The source file: the original functions, and what it says of their arguments."""

    def __init__(self, path: Path, names: Sequence[str], run_module: bool) -> None:
        self.path, self.text = path, read(str(path)).text
        self._names, self._run_module = names, run_module
        self.original, self.rough = self.load(), self.load(rough=True)
        self.domains = read_domains(self.text, str(self.path))

    def load(self, **how: Any) -> Original:
        """The file's functions, with what they need of its top level."""
        return load(self.path, self.text, self._names, run_module=self._run_module, **how)

    def domain(self, name: str) -> Domain:
        """What the comments say of a function's arguments, and NumPy of what it searches."""
        said = self.domains.get(name, Domain())
        ordered = [Property("sorted", n) for n in sorted_parameters(self.text, name)]
        ordered = [p for p in ordered if p not in said.conditions]
        texts = tuple(f"sorted({p.name})" for p in ordered)
        return Domain((*said.conditions, *ordered), (*said.texts, *texts))

    def hints(self, name: str) -> Domain:
        """What a function's own checks and its docstring say of its arguments."""
        function = function_of(self.text, name)
        return Domain() if function is None else hints(function)

    def plain(self, record: FunctionRecord, function: Any) -> Any:
        """A method as a function of the attributes that it reads."""
        names = list(parse_shapes(record.shapes))
        if not any(n.startswith(ATTRIBUTE_PREFIX) for n in names):
            return function
        owner = self.original.namespace.get(record.name.split(".")[0])
        return by_attributes(function, owner, names)
