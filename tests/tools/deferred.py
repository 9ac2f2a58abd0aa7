"""The imports inside functions: each saves time at start-up, or belongs to what may be missing.

A line is `importer -> imported`; a name with a star stands for what starts with it.
"""

from __future__ import annotations

DEFERRED = {
    "a command loads what it runs, not what another command runs": """
        porter.cli -> porter.commands.*
        porter.cli -> porter.target.registry
        porter.commands.analyze -> porter.commands.fixing
        porter.commands.analyze -> porter.numba_report.command
        porter.analysis.tree -> porter.analysis.workers
    """,
    "one output format is written": """
        porter.output.formats -> porter.output.*
        porter.output.numba -> porter.numba_report.model
        porter.output.numba -> porter.output.report.numba
    """,
    "the converter is half of porter: files without array code do without it": """
        porter.output.report.generated -> porter.*
        porter.rules.domains -> porter.verify.inputs.domains
        porter.rules.verdicts -> porter.*
        porter.rules.verdicts -> libcst
    """,
    "few functions are what `cuda.reduce` is given": """
        porter.lowering.expressions.folding -> porter.ir.interp
    """,
    "few files are notebooks, newer than this Python, or have a trace": """
        porter.inference.call_sites -> porter.source.notebook
        porter.source.files -> porter.source.newer
        porter.source.files -> porter.source.notebook
        porter.source.newer -> libcst
        porter.source.newer -> porter.source.lowering
        porter.trace.lookup -> porter.trace.record
    """,
    "settings that most projects do not have": """
        porter.config -> pathspec
        porter.config -> tomllib
        porter.source.files -> pathspec
    """,
    "a child process loads the engine that it runs": """
        porter.verify.compile.ptx_child -> porter.verify.*
        porter.verify.probe_child -> porter.*
        porter.verify.sim_child -> porter.verify.engines.*
        porter.verify.fork.first -> porter.verify.engines.*
        porter.verify.fork.first -> porter.emulate.launch
        porter.verify.engines.compiled -> porter.verify.engines.simulator
        porter.verify.compile.ufuncs -> porter.verify.engines.simulator
    """,
    "Numba, NumPy and CUDA are loaded where they are used, or may be missing": """
        porter.guarded -> ctypes
        porter.numba_report.child.compile_child -> numba
        porter.trace.samples -> numpy
        porter.verify.compile.* -> numba*
        porter.verify.compile.* -> numpy
        porter.verify.compile.* -> cuda.bindings
        porter.verify.engines.* -> numba*
        porter.verify.inputs.strategies -> hypothesis
        porter.verify.probe_child -> numba.cuda
        porter.verify.probe_child -> numpy
    """,
}
#: imports inside functions for another reason: they are to go, and the list shrinks
OPEN = """
"""
#: modules that import each other in a circle; none is meant to stay
CIRCLES = """
"""
