"""The names that generated modules use themselves, and how the user's are told apart from them.

A name of the user that is one of these carries `MARK` from the parser to the finished text.  So
neither the front end nor the writers can take it for ours: `max` is Python's, `max` with the mark
is the user's.  `codegen/module/names.py` takes the marks off and gives a number to what would
collide.
"""

from __future__ import annotations

import builtins
import keyword
import re
from functools import cache

#: a letter that Python takes in identifiers and nobody writes: the multiocular O
MARK = "\ua66e"
#: begins the parameter that stands for an attribute of `self` in a converted method
ATTRIBUTE_PREFIX = "self_"

#: imports of a generated module: the name, and what it is bound to
IMPORTED = {
    "np": "numpy", "math": "math", "cmath": "cmath", "_math": "math", "operator": "operator",
    "cuda": "numba.cuda", "njit": "numba.njit", "prange": "numba.prange",
    "intrinsic": "numba.extending.intrinsic", "ir": "llvmlite.ir",
    "config": "numba.config", "SimpleNamespace": "types.SimpleNamespace",
    "contextmanager": "contextlib.contextmanager", "threading": "threading",
    "weakref": "weakref", "os": "os",
    "cp": "cupy", "cupyx": "cupyx", "builtins": "builtins", "sys": "sys", "shlex": "shlex",
    **{n: f"numba.{n}" for n in (
        "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
        "float16", "float32", "float64", "complex64", "complex128", "boolean", "types")},
}  # fmt: skip
CONSTANTS = {
    "THREADS", "MANY_THREADS", "BLOCK_X", "TILE", "PADDED", "EACH", "WIDE", "LARGE", "STRIP",
    "DEPTH", "EACH_LARGE", "WIDE_LARGE", "MAX_BLOCKS",
    "TIME_HALO", "TIME_ROWS", "TIME_COLUMNS", "TIME_TILE", "LINE_HALO", "LINE_TILE",
    "MOST_PARTIALS", "MOST_STATES", "ALONE", "CROWD", "CELLS", "LONG", "SOURCE", "FIXED", "PARTS",
    "GRAIN", "COLUMNS", "LAST_TURNS",
    "DRAWING", "STORING", "WARP", "SHORT", "SPIN", "STREAMS", "CHUNK_BYTES",
    "WORKSPACE_BYTES", "RESULT_BYTES", "ROOM_BYTES", "_KEPT", "PANEL", "WIDTH",
}  # fmt: skip
#: functions of `templates/helpers_device.py.j2` and `helpers_host.py.j2`
HELPERS = {
    "position", "within", "edge_position", "reflect_position", "symmetric_position", "slice_bound",
    "quotient", "magnitude", "complex_exp", "complex_sin", "complex_cos", "maximum", "minimum",
    "fmax", "fmin", "plus", "larger", "smaller", "power_of_two", "parts_of_exp",
    "vector_exp", "vector_expm1", "vector_tanh", "vector_log", "vector_log1p", "sign",
    "rint", "float_mod", "float_floordiv", "int_floordiv", "int_power", "natural",
    "left_shift", "right_shift", "logaddexp", "heaviside", "rounded", "grid_2d", "grid_3d",
    "thread_of_block", "block_of_grid", "is_last_block", "is_last_part",
    "first_max", "first_min", "block_argmax", "block_argmin",
    "column_argmax", "column_argmin", "row_argmax", "row_argmin",
    "recentred", "spread_of_both", "block_spread", "column_spread",
    "row_of_grid", "row_part", "row_wait", "whole_and_rest",
    "chained", "finite", "scan_linear", "scan_towards", "scan_resets", "scan_whole_linear",
    "scan_whole_resets",
    "composed", "step_at", "applied", "bounded", "suits", "leaned", "leaning", "runs_in_order",
    "scan_coupled", "scan_whole_coupled", "composed_maps", "scan_maps",
    "clamped", "composable", "is_beyond", "one_after", "bounds_at", "scan_bounded",
    "ratio_at", "ratio_after", "ratio_of", "is_near", "scan_quotient",
    *(f"{kind}_{op}" for kind in ("block", "column", "row", "scan")
      for op in ("sum", "prod", "max", "min", "any", "all")),
    "_on_device", "_array", "_weak", "_weak_integers", "_exact_integers", "_flat",
    "_expanded", "_widened", "_integer", "_from_float", "_doubled", "_number",
    "_to_device", "_same_memory", "_apart", "_blocks", "_row_threads", "_host_copy", "_to_host",
    "_rows", "_room", "_result", "_as_given", "_cupy_stream", "_from_cupy", "_copy_back",
    "_slice_bound", "on_device", "_is_single", "_has_single",
    "_leading", "_collapsed", "_plain", "_plain_items", "_rank", "_kind", "_scalars", "_listed",
    "_refuse_wrapper", "_one_dtype", "_command", "_type_of", "_float64", "_narrow", "_complex128",
    "_grid",
    "_is_large", "_is_medium", "_is_beyond_strips",
    "_parts", "_columns", "_few_columns", "_is_short", "_is_long", "_is_crowded", "_wide",
    "_of_int64", "_splits",
    "_contiguous", "_own", "_own_part", "_on_stream", "_numba_stream", "_scalar", "_given_back",
    "_stored_back", "_timed", "_repeat", "_milliseconds", "_moved_there", "_in_chunks",
    "_whole_on_device", "_pipelined", "_aligned", "_blockwise_overlap", "_map_overlap", "_states",
    "_workspace", "_counter", "_new", "_by_signature", "_into", "draw_bits", "draw_uniform",
    "draw_normal", "_seed_of",
    "factor_panel", "factor_tall_panel", "row_before", "solve_lower", "solve_upper",
    "subtract_product", "multiply_pivots", "_factorised", "_solve", "_determinant",
    "factor_columns", "subtract_square", "_cholesky",
}  # fmt: skip
#: what host functions take beside the parameters of the original, in this order after those
OWN_KEYWORDS = ("stream", "seed", "states", "timing")
#: variables of host functions, and the argument of kernels that takes errors
LOCALS = {"on_device", "error", "errors", "shape", "blocks", "threads", "lead", "plain"}
LOCALS |= {"most_blocks", "times", "turn", *OWN_KEYWORDS}
_NUMBERED = re.compile(
    r"(d|own|whole|given)_.+|partial\d*|host_(value|array)_\d+_|T\d*|I\d*|self_.*"
)


@cache
def _table() -> frozenset[str]:
    own = {*IMPORTED, *CONSTANTS, *HELPERS, *LOCALS}
    return frozenset({*own, *dir(builtins), *keyword.kwlist})


def is_reserved(name: str) -> bool:
    """Whether a generated module may use the name for something of its own."""
    return name in _table() or _NUMBERED.fullmatch(name) is not None


def marked(name: str) -> str:
    """The user's name, told apart from ours."""
    return name + MARK


def told_apart(name: str) -> str:
    """The user's name, with the mark where a generated module may use it itself."""
    return marked(name) if is_reserved(name) else name


def given(text: str) -> str:
    """A name or a text without marks, as the user wrote it."""
    return text.replace(MARK, "")
