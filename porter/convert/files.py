"""Converting one file: which functions, what came of each, and the verification."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import libcst as cst
from jinja2 import TemplateError

from porter import __version__
from porter.codegen.module.header import Form, FunctionRecord, Header, render, text_hash
from porter.codegen.module.inspect import ModuleError
from porter.codegen.module.module import join, linked_module
from porter.config import Config
from porter.convert.check import with_own_types
from porter.convert.committed import Committed
from porter.convert.cupy.function import cupy_function
from porter.convert.function import Converted, convert_function, front_end
from porter.convert.module_values import ModuleValues
from porter.convert.passes import lower
from porter.convert.served.accepts import accepted
from porter.convert.shapes import shapes_of
from porter.convert.verification import LeftOut, Verified, verified_by
from porter.cost.advice import little_work
from porter.cost.work import work_of
from porter.diagnostics import Diagnostic, Refusal, Severity, Span, refusal
from porter.guarded import Place, guarded
from porter.inference.signature import setting
from porter.ir.printer import lines, program_text
from porter.options import ConvertOptions
from porter.resolve.globals import Globals
from porter.resolve.gufuncs import is_on_cuda
from porter.rules.engine import Selection, analyze
from porter.schedule.printer import plan_text
from porter.source.files import SourceFile
from porter.source.module import FunctionSource, SourceModule, place_of
from porter.source.newer import CURE, TooNewSyntax
from porter.source.scopes import normal
from porter.support.reserved import given
from porter.target.base import Target
from porter.target.registry import target_named
from porter.trace.lookup import traced_types
from porter.verify.evidence import Evidence, FunctionEvidence
from porter.verify.run import verify_module

T = TypeVar("T")
#: types that are given: none, or those of one form or of several
Signature = str | tuple[str, ...] | None
Step = Callable[[str], None]
_KERNEL_MARKS = ("cuda.jit", "vectorize", "guvectorize", "cuda.reduce", "cfunc")
_LOOPING = ("cuda", "loops")  # targets that take some of them as the loops that they stand for


@dataclass(frozen=True)
class FunctionOutcome:
    """What came of one function: converted, refused or failed (verification found a difference)."""

    name: str
    status: str
    signature: str = ""
    assumed: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    rewritten: bool = False  # the source for a library; kernels are for its loops alone


@dataclass(frozen=True)
class ModuleOutcome:
    """What came of one file; `text` is the module, None if nothing converted."""

    source: str
    functions: tuple[FunctionOutcome, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    notes: tuple[str, ...] = ()
    text: str | None = None
    output: str = ""
    stale: bool = False
    unparsed: bool = False
    known: frozenset[str] = field(default_factory=frozenset)

    @property
    def bad(self) -> bool:
        """Whether anything was refused or failed, or nothing at all was converted."""
        if any(d.severity is Severity.ERROR for d in self.diagnostics):
            return True
        return any(f.status != "converted" for f in self.functions)

    def delivered(self, output: str, stale: bool) -> ModuleOutcome:
        """The same outcome, with where its module went."""
        return replace(self, output=output, stale=stale)


def convert_file(
    file: SourceFile, options: ConvertOptions, config: Config, target: Path | None, step: Step
) -> ModuleOutcome:
    """Convert the functions of a file and verify them; nothing is written."""
    opened = _open(file)
    if isinstance(opened, ModuleOutcome):
        return opened
    module = opened
    known = frozenset(f.name for f in module.functions)
    chosen, notes = _chosen(module, options)
    committed = Committed.at(target if options.check else None, file)
    if committed.records and not options.functions:
        chosen, notes = [*committed.chosen(module.functions, chosen)], []
    scope = _scope(module, options, config)
    converted: list[Converted] = []
    outcomes: list[FunctionOutcome] = []
    for function in chosen:
        step(function.name)
        signature: Signature = options.signature
        if signature is None:
            signature = setting(function, config.signatures) or committed.signatures(function.name)
        action = partial(_written, function, signature, scope, converted, file, options)
        found = _alone(function, module, action, options.seconds)
        if isinstance(found, Converted):
            converted.append(found)
        elif found.code == "PRT909" and not options.functions:
            notes.append(f"{function.name} does not compute with arrays: not converted")
        else:
            outcomes.append(_refused(function, found, file))
    result = ModuleOutcome(file.path, known=known)
    text = None
    if converted:
        step("comparing" if options.check else "verifying")
        restored = committed.restored(converted)
        verified, text = _verify_together(restored, file, options, target, step)
        outcomes += verified
    order = [f.name for f in module.functions]
    outcomes.sort(key=lambda o: order.index(o.name))
    diagnostics = tuple(d for o in outcomes for d in o.diagnostics)
    if not outcomes and not notes and not options.functions:
        notes.append(f"{file.path}: no functions to convert")
    return replace(
        result, functions=tuple(outcomes), diagnostics=diagnostics, notes=tuple(notes), text=text
    )


def _alone(
    function: FunctionSource, module: SourceModule, action: Callable[[], T], seconds: float
) -> T | Diagnostic:
    """What is made of one function, or why nothing is: a refusal, or a failure of porter."""
    for deep in module.too_deep:
        if deep.name == function.name:
            return deep.diagnostic(module.path)
    try:
        return guarded(place_of(function), action, seconds, (TemplateError,))
    except Refusal as refusal:
        return refusal.diagnostic.at(module.path, function.name)


def _open(file: SourceFile) -> SourceModule | ModuleOutcome:
    try:
        module = SourceModule(file.text, file.path)
    except SyntaxError as error:
        line, column = error.lineno or 1, error.offset or 1
        span = Span(line, column, line, column + 1)
        cure = "correct the syntax"
        message = f"invalid Python syntax: {error.msg}"
        if isinstance(error, TooNewSyntax):
            message, cure = error.msg, CURE
        found = Diagnostic("PRT900", "syntax-error", message, span, file.path, help=cure)
        return ModuleOutcome(file.path, diagnostics=(found,), unparsed=True)
    except cst.ParserSyntaxError as error:
        column = error.raw_column + 1
        span = Span(error.raw_line, column, error.raw_line, column + 1)
        found = Diagnostic("PRT900", "syntax-error", "invalid Python syntax", span, file.path,
                           help="correct the syntax")  # fmt: skip
        return ModuleOutcome(file.path, diagnostics=(found,), unparsed=True)
    module.traced = traced_types(file.path)
    return module


def _scope(module: SourceModule, options: ConvertOptions, config: Config) -> Globals:
    """The names of the file, and what may become of library calls."""
    scope = Globals(module)
    target = target_of(options)
    # what a source that is rewritten leaves to CuPy is no work of the host
    scope.options.library = "cupy" if target.rewrites else options.library
    scope.options.refuse_host = options.refuse_host
    scope.options.host_products = target.host_products
    scope.options.solvers = target.solvers
    scope.options.allow_serial = options.allow_serial or config.allow_serial or target.serial
    scope.options.run_module = options.run_module
    if options.verify or options.run_module or options.emit is not None:
        scope.options.values = ModuleValues(options.run_module)
    return scope


def _chosen(
    module: SourceModule, options: ConvertOptions
) -> tuple[list[FunctionSource], list[str]]:
    """The functions to convert: those named, or all that are not kernels or methods."""
    if options.functions:
        wanted = set(map(normal, options.functions))
        return [f for f in module.functions if f.name in wanted], []
    chosen, notes = [], []
    for f in module.functions:
        marks = [(module.code(d.decorator), is_on_cuda(d.decorator)) for d in f.node.decorators]
        if any(_is_compiled(*mark, target_of(options)) for mark in marks):
            notes.append(f"{f.name} is a kernel or ufunc already: not converted")
        elif "." in f.name:
            notes.append(f"{f.name} is a method: name it with -f to convert it")
        else:
            chosen.append(f)
    return chosen, notes


def _is_compiled(decorator: str, on_cuda: bool, target: Target) -> bool:
    """Whether a decorator makes a kernel or a ufunc, which there is no need to convert."""
    if "guvectorize" in decorator:
        return target.name != "gufunc" and (on_cuda or target.name not in _LOOPING)
    if "cuda.reduce" in decorator and target.name in _LOOPING:
        return False
    plain = target.elements and "vectorize" in decorator
    return not plain and any(word in decorator for word in _KERNEL_MARKS)


def _refused(function: FunctionSource, found: Diagnostic, file: SourceFile) -> FunctionOutcome:
    """A refusal, with the loops that could be taken out of the function, if there are any."""
    own = [found]
    if found.code in ("PRT901", "PRT902"):
        analysis = analyze(file, Selection(("PRT201",), ()), (function.name,))
        own += [d for d in analysis.diagnostics if d.code == "PRT201"]
    return FunctionOutcome(function.name, "refused", diagnostics=tuple(own))


def _written(
    function: FunctionSource, signature: Signature, scope: Globals, earlier: Sequence[Converted],
    file: SourceFile, options: ConvertOptions,
) -> Converted:  # fmt: skip
    """A function converted, its text inspected. Refuses one that cannot stand in the module."""
    spelt = target_of(options)
    make = cupy_function if spelt.rewrites else convert_function
    c = with_own_types(function, signature, lambda: make(function, signature, scope, spelt))
    try:
        join([*(t for e in earlier for t in e.texts), *c.texts])
        linked_module(c.texts, Path(file.path).name, spelt)
    except ModuleError as error:
        span = c.program.origin.span
        help = "rename the identifiers or simplify the literals that it mentions"
        found = refusal("PRT902", f"`{c.name}` cannot be written: {error}", span, help)
        raise Refusal(found.diagnostic.at(c.path, c.name)) from None
    return c


# -- verification ------------------------------------------------------------------------------


def _verify_together(
    converted: Sequence[Converted], file: SourceFile, options: ConvertOptions,
    target: Path | None, step: Step,
) -> tuple[list[FunctionOutcome], str | None]:  # fmt: skip
    """Verify a module of all functions, then leave out those that failed."""
    place = target or Path(file.path).with_name(f"stdin_{options.target}.py")

    def module(parts: Sequence[Converted]) -> str:
        return _module(parts, file, options, place, {})

    sound, wrong = _writable(converted, module)
    if options.check or not options.verify:
        outcomes = [_without(c, wrong[c.name]) if c.name in wrong else _outcome(c, None)
                    for c in converted]  # fmt: skip
        return outcomes, module(sound) if sound else None
    verified, more = _evidence(sound, module, partial(_verify, place, options=options, step=step))
    wrong |= more
    good = {c.name: c for c in verified.good}
    outcomes = []
    for c in converted:
        if c.name in wrong:
            outcomes.append(_without(c, wrong[c.name]))
            continue
        left_out = verified.left_out.get(c.name, ())
        outcomes.append(_outcome(good.get(c.name, c), verified.found.get(c.name), left_out))
    if not good:
        return outcomes, None
    return outcomes, _module(verified.good, file, options, place, verified.found)


def _writable(
    converted: Sequence[Converted], module: Callable[[Sequence[Converted]], str]
) -> tuple[list[Converted], dict[str, Diagnostic]]:
    """The functions of which a module can be written, and what is wrong with the others."""
    if not isinstance(_tried(converted[0], partial(module, converted)), Diagnostic):
        return list(converted), {}
    sound: list[Converted] = []
    wrong: dict[str, Diagnostic] = {}
    for c in converted:
        found = _tried(c, partial(module, [*sound, c]))
        if isinstance(found, Diagnostic):
            wrong[c.name] = found
        else:
            sound.append(c)
    return sound, wrong


def _evidence(
    sound: Sequence[Converted], module: Callable[[Sequence[Converted]], str],
    verify: Callable[[str], list[FunctionEvidence]],
) -> tuple[Verified, dict[str, Diagnostic]]:  # fmt: skip
    """What was found of each function; where that fails for all at once, of one after the other."""
    done, wrong = Verified([]), dict[str, Diagnostic]()
    whole = _tried(sound[0], partial(verified_by, sound, module, verify)) if sound else done
    if not isinstance(whole, Diagnostic):
        return whole, wrong
    for c in sound:
        own = whole if len(sound) == 1 else _tried(c, partial(verified_by, [c], module, verify))
        if isinstance(own, Diagnostic):
            wrong[c.name] = own
        else:
            done.good += own.good
            done.found |= own.found
            done.left_out |= own.left_out
    return done, wrong


def _tried(c: Converted, action: Callable[[], T]) -> T | Diagnostic:
    place = Place(c.name, c.path, c.program.origin.span)
    try:
        return guarded(place, action, None, (TemplateError,))
    except Refusal as refusal:
        return refusal.diagnostic.at(c.path, c.name)


def _without(c: Converted, found: Diagnostic) -> FunctionOutcome:
    return FunctionOutcome(c.name, "failed", c.signature, c.assumed, diagnostics=(found,))


def _verify(place: Path, text: str, options: ConvertOptions, step: Step) -> list[FunctionEvidence]:
    return verify_module(
        place, text=text, run_module=options.run_module, timeout=options.seconds,
        seconds=options.budget, step=step,
    )  # fmt: skip


#: what is said of a function that draws random numbers
DRAWS = (
    "other random numbers than NumPy's, of the same distributions: one xoroshiro128+ generator for "
    "each thread, from `seed=` or in `states=`"
)


def _outcome(
    c: Converted, found: FunctionEvidence | None, left_out: Sequence[LeftOut] = ()
) -> FunctionOutcome:
    kept = tuple(d.at(c.path, c.name) for d in (*c.program.kept, *c.plan.notes))
    kernels = tuple(map(given, c.kernels))
    launched = c.target.device and not c.target.rewrites
    little = little_work(work_of(c.plan)) if launched else ""
    drawn = (DRAWS,) if c.text.draws else ()
    notes = (*map(given, c.notes), *((little,) if little else ()), *drawn, *c.remarks)
    base = FunctionOutcome(
        c.name, "converted", c.signature, tuple(map(given, c.assumed)), kernels, diagnostics=kept,
        notes=notes, forms=tuple(f.signature for f in _forms(c)), rewritten=c.target.rewrites,
    )  # fmt: skip
    if found is None:
        return base
    evidence = tuple(found.evidence)
    if found.accepted:
        notes = base.notes + tuple(
            f"{o.what} is not supported: with {o.signature}, {o.reason}" for o in left_out
        )
        return replace(base, evidence=evidence, notes=notes)
    diagnostic = _failure(c, found).at(c.path, c.name)
    return replace(
        base,
        status="failed",
        evidence=evidence,
        diagnostics=(*kept, diagnostic),
        problems=(found.why,),
    )


def _failure(c: Converted, found: FunctionEvidence) -> Diagnostic:
    """What is wrong: another result, or nothing that shows that it is the same."""
    span = c.program.origin.span
    if found.mismatch is not None and found.mismatch.what == "load":
        text = f"`{c.name}` cannot be run, so it is not verified"
        cure = "nothing was written; --no-verify writes it as it is"
        return Diagnostic("PRT911", "verification-failed", text, span, c.text.name, help=cure)
    if found.failed:
        text = f"the kernels of `{c.name}` do not compute what it does"
        cure = f"nothing was written; {_cure(c)}"
        return Diagnostic("PRT911", "verification-failed", text, span, c.text.shown, help=cure)
    unverified = next((e.detail for e in found.evidence if e.detail.get("unverified")), {})
    text = unverified.get("unverified") or f"`{c.name}` is unverified: too little could be compared"
    cure = unverified.get("cure") or "--no-verify writes it as it is"
    return Diagnostic("PRT915", "unverified", text, span, c.text.shown, help=cure)


def _cure(c: Converted) -> str:
    """What to do about a difference: a NumPy number brings its dtype to all that it meets."""
    cure = "please report this with the function"
    for s in (s for p in c.program.parameters for s in p.scalars):
        python = {"i": "int64", "u": "int64", "f": "float64", "c": "complex128"}.get(s.dtype.kind)
        if python and s.dtype.name != python:
            given = f"`{s.name}` is a NumPy number of {s.dtype.name}"
            return f"{given}: give it as {python} if it may be Python's, else {cure}"
    return cure


def _verified(found: FunctionEvidence | None) -> tuple[str, ...]:
    return () if found is None else found.summary()


def target_of(options: ConvertOptions) -> Target:
    """What is generated: `--target` with its backend and the user's own templates."""
    templates = None if options.templates is None else Path(options.templates)
    target = target_named(options.target, options.kind)
    return (
        target.with_backend(options.backend).with_templates(templates).with_extras(options.extras)
    )


def _module(
    converted: Sequence[Converted], file: SourceFile, options: ConvertOptions, place: Path,
    found: dict[str, FunctionEvidence],
) -> str:  # fmt: skip
    source = os.path.relpath(Path(file.path).resolve(), place.resolve().parent)
    texts = [t for c in converted for t in c.texts]
    body = linked_module(texts, Path(file.path).name, target_of(options))
    records = tuple(
        FunctionRecord(
            c.name, c.signature, c.also, shapes_of(c),
            c.assumed, _verified(found.get(c.name)), c.without,
            body.streams.get(c.text.shown, ""), c.conversions.lines(),
            _forms(c),
            accepted(c),
            c.elements,
            c.parts, c.stated, c.keyword, c.notes,
            DRAWS if c.text.draws else "",
        )
        for c in converted
    )  # fmt: skip
    header = Header(
        __version__, source.replace(os.sep, "/"), text_hash(file.text), records,
        run_module=options.run_module, target=target_of(options).full_name,
    )  # fmt: skip
    return render(header, body.text)


def _forms(c: Converted) -> tuple[Form, ...]:
    """What the header says of the other forms of a function; the host's comes last."""
    rest = c.variants[1:]
    forms = [Form(v.signature, v.also, shapes_of(v), v.assumed, v.converts_beside(c)) for v in rest]
    return (*forms, *([Form(c.host.signature, shapes=c.host.shapes)] if c.host else ()))


# -- inner stages --------------------------------------------------------------------------------


def emit_stage(
    file: SourceFile, options: ConvertOptions, config: Config
) -> tuple[str, ModuleOutcome]:
    """The text of an inner stage for every function: array, loops or plan."""
    opened = _open(file)
    if isinstance(opened, ModuleOutcome):
        return "", opened
    chosen, notes = _chosen(opened, options)
    outcomes: list[FunctionOutcome] = []
    parts: list[str] = []
    scope = _scope(opened, options, config)
    for function in chosen:
        own = setting(function, config.signatures)
        signature = own if options.first_signature is None else options.first_signature
        stage = options.emit or "plan"
        action = partial(_stage, function, signature, scope, stage, target_of(options))
        found = _alone(function, opened, action, options.seconds)
        if isinstance(found, str):
            parts.append(found)
        else:
            outcomes.append(_refused(function, found, file))
    diagnostics = tuple(d for o in outcomes for d in o.diagnostics)
    known = frozenset(f.name for f in opened.functions)
    made = ModuleOutcome(file.path, tuple(outcomes), diagnostics, tuple(notes), known=known)
    return "\n".join(parts), made


def _stage(
    function: FunctionSource, signature: str | None, scope: Globals, stage: str, target: Target
) -> str:
    _, program, planned = front_end(function, signature, scope, target.schedules)
    if stage == "array":
        return given(program_text(program))
    if stage == "loops":
        body, _ = lower(program, target.schedules)
        return given("\n".join([f"loops {program.name}", *lines(body, 1)])) + "\n"
    return given(plan_text(planned))
