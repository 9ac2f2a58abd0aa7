"""Kernels of one instruction, written for a test and run on the PTX machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from porter.ptx.arithmetic.kinds import DTYPES
from porter.ptx.instructions.table import PAIRED, TABLE
from porter.ptx.machine.launch import launch
from porter.ptx.machine.task import Code

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
Array = np.ndarray[Any, Any]


def code(body: str, parameters: int = 1, more: str = "") -> Code:
    """A kernel of 1-D arrays, whose addresses are in %a0, %a1 ...; %i is the thread's number."""
    names = ", ".join(f".param .u64 p{k}_{j}" for k in range(parameters) for j in range(7))
    loads = "\n".join(f"ld.param.u64 %a{k}, [p{k}_4];" for k in range(parameters))
    return Code(
        f"""{HEAD}{more}
.visible .entry k({names})
{{
    .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .b64 %d<20>, %a<9>;
    .reg .f32 %f<9>; .reg .f64 %g<9>; .reg .b32 %i;
    {loads}
    mov.u32 %r18, %ntid.x;
    mov.u32 %r19, %ctaid.x;
    mov.u32 %r17, %tid.x;
    mad.lo.s32 %i, %r18, %r19, %r17;
    {body}
    ret;
}}
"""
    )


def start(made: Code, arrays: list[Array], threads: int, block: int = 128, **how: Any) -> int:
    """Run it over some threads; the arrays are called x0, x1 ..."""
    names = [f"x{k}" for k in range(len(arrays))]
    grid = (-(-threads // block), 1, 1)
    return launch(made, grid, (block, 1, 1), arrays, names=names, **how)


def one(opcode: str, *inputs: Array) -> list[Array]:
    """The results of an instruction for each element of its sources."""
    found = TABLE.find(opcode) if not opcode.endswith("|") else PAIRED.find(opcode[:-1])
    assert found is not None, opcode
    row, form = found
    opcode = opcode.removesuffix("|")
    results = [k for k in row.results(form) if k != "cc"]
    sources = [k for k in row.sources(form) if k != "cc"]
    count = len(inputs[0])
    outputs = [np.zeros(count, np.uint8 if k == "pred" else DTYPES[k]) for k in results]
    lines = [".reg .b64 %at; .reg .b32 %w;"]
    for n, kind in enumerate([*results, *sources]):
        lines.append(f".reg .{'b16' if kind == 'f16' else kind} %x{n};")
    for n, kind in enumerate(sources):
        size = 1 if kind == "pred" else DTYPES[kind].itemsize
        lines.append(f"mad.wide.u32 %at, %i, {size}, %a{n};")
        name = f"%x{len(results) + n}"
        if kind == "pred":
            lines += ["ld.global.u8 %w, [%at];", f"setp.ne.u32 {name}, %w, 0;"]
        else:
            lines.append(f"ld.global.{kind.replace('f16', 'b16')} {name}, [%at];")
    into = "%x0|%x1" if len(results) == 2 else "%x0"
    given = ", ".join(f"%x{len(results) + n}" for n in range(len(sources)))
    lines.append(f"{opcode} {into}, {given};")
    for n, kind in enumerate(results):
        size = 1 if kind == "pred" else DTYPES[kind].itemsize
        lines.append(f"mad.wide.u32 %at, %i, {size}, %a{len(sources) + n};")
        if kind == "pred":
            lines += [f"selp.u32 %w, 1, 0, %x{n};", "st.global.u8 [%at], %w;"]
        else:
            lines.append(f"st.global.{kind.replace('f16', 'b16')} [%at], %x{n};")
    made = code("\n".join(lines), len(inputs) + len(outputs))
    arrays = [np.ascontiguousarray(a) for a in inputs] + outputs
    start(made, arrays, count, block=count if count <= 1024 else 1)
    return outputs
