"""What the emulator makes of each name of `numba.cuda`.

A value's text is Python in terms of the thread's context `_c` and of the helpers of
`helpers.py`; in a call's text `{0}`, `{1}` ... are its arguments, `{site}` the place, and
`{all}` all arguments.
"""

from __future__ import annotations

from porter.emulate.source.sites import BARRIER, WARP

VALUES = {"warpsize": "_int32(32)", "laneid": "_lane(_c)"}
_FIELDS = {
    "threadIdx": "thread", "blockIdx": "block",
    "blockDim": "block_dim", "gridDim": "grid_dim",
}  # fmt: skip


def _axes(own: str) -> list[str]:
    return [f"_{own}_{axis}(_c)" for axis in "xyz"]


for _name, _own in _FIELDS.items():
    VALUES[_name] = f"_dim3({', '.join(_axes(_own))})"
    VALUES |= {f"{_name}.{axis}": text for axis, text in zip("xyz", _axes(_own), strict=True)}


def _dimensions(own: str) -> dict[str, str]:
    one = _axes(own)
    return {"1": one[0], "2": f"({one[0]}, {one[1]})", "3": f"({', '.join(one)})"}


#: by the number of dimensions that is the only argument
POSITIONS = {name: _dimensions(name) for name in ("grid", "gridsize")}

CALLS = {
    "fma": "_fma({all})",
    "popc": "_popc({0})",
    "brev": "_brev({0})",
    "clz": "_clz({0})",
    "ffs": "_ffs({0})",
    "cbrt": "_cbrt({0})",
    "selp": "_selp({all})",
    "nanosleep": "None",
    "threadfence": "None",
    "threadfence_block": "None",
    "threadfence_system": "None",
    "const.array_like": "{0}",
    "lanemask_lt": "((_int64(1) << _lane(_c)) - 1)",
}
FENCES = ("threadfence", "threadfence_system")

_EXCHANGE = "_collect(_c, _post(_c, {0}, {value}, {operand}), _pause({site}))"


def _exchange(value: str, operand: str = "0", mask: str = "{0}") -> str:
    text = _EXCHANGE.replace("{0}", mask)
    return text.replace("{value}", value).replace("{operand}", operand)


#: operations at which threads wait: the kind of place, and the text
WAITS = {
    "syncthreads": (BARRIER, "_pause({site})"),
    "syncthreads_count": (BARRIER, _exchange("_int32(1 if {0} else 0)", mask="0")),
    "syncthreads_and": (BARRIER, _exchange("_int32(1 if {0} else 0)", mask="0")),
    "syncthreads_or": (BARRIER, _exchange("_int32(1 if {0} else 0)", mask="0")),
    "syncwarp": (WARP, _exchange("0")),
    "activemask": (WARP, _exchange("_int64(0)", mask="0")),
    "shfl_sync": (WARP, _exchange("{1}", "{2}")),
    "shfl_up_sync": (WARP, _exchange("{1}", "{2}")),
    "shfl_down_sync": (WARP, _exchange("{1}", "{2}")),
    "shfl_xor_sync": (WARP, _exchange("{1}", "{2}")),
    "all_sync": (WARP, "(" + _exchange("_int32(1 if {1} else 0)") + " != 0)"),
    "any_sync": (WARP, "(" + _exchange("_int32(1 if {1} else 0)") + " != 0)"),
    "eq_sync": (WARP, "(" + _exchange("_int32(1 if {1} else 0)") + " != 0)"),
    "ballot_sync": (WARP, _exchange("_int32(1 if {1} else 0)")),
    "match_any_sync": (WARP, "_int32(" + _exchange("_bits({1})") + ")"),
    "match_all_sync": (WARP, "_pair(_int32(" + _exchange("_bits({1})") + "))"),
}
#: arguments that may be left out
DEFAULTS = {"syncwarp": ["0xFFFFFFFF"]}
