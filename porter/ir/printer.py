"""The array program, the loops and the plan as text: what `--emit` shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from porter.ir import nodes as ir


def domain(axes: Sequence[ir.Axis]) -> str:
    """Index names with their ranges."""
    return ", ".join(map(str, axes))


def lines(body: Sequence[ir.Stmt], indent: int = 0) -> Iterator[str]:
    """Statements, a line each."""
    pad = "    " * indent
    for s in body:
        match s:
            case ir.Def(name, axes, dtype, value, _):
                index = ", ".join(a.name for a in axes)
                yield f"{pad}{name}[{index}]: {dtype.name} = {value}  for {domain(axes)}"
            case ir.Alloc(buffer, _):
                shape = ", ".join(map(str, buffer.shape))
                yield f"{pad}alloc {buffer.name}: {buffer.dtype.name}[{shape}]"
            case ir.Write():
                index = ", ".join(map(str, s.index))
                tail = f"  for {domain(s.axes)}" if s.axes else ""
                tail += f"  where {s.mask}" if s.mask is not None else ""
                sign = f"{s.combine}=" if s.combine else "="
                yield f"{pad}{s.buffer}[{index}] {sign} {s.body}{tail}"
            case ir.Let(name, value, _):
                yield f"{pad}{name} = {value}"
            case ir.Fetch(name, buffer, _):
                yield f"{pad}fetch {name} = {buffer}[]"
            case ir.Bind(names, buffers, _):
                yield f"{pad}{', '.join(names)} := {', '.join(buffers)}"
            case ir.Host():
                yield f"{pad}host: {_host(s)}"
            case ir.Jump(kind, _):
                yield f"{pad}{kind}"
            case ir.Return(values=values):
                shown = (f"squeeze({v})" if k in s.squeezed else str(v)
                         for k, v in enumerate(values))  # fmt: skip
                yield f"{pad}return {', '.join(shown)}"
            case ir.For() | ir.While() | ir.If() | ir.Stage():
                yield from _nested(s, indent)


def _host(s: ir.Host) -> str:
    text = " ".join(s.text.split())
    for name, value in (*s.arrays, *((n, str(e)) for n, e in s.values)):
        text = text.replace(name, value)
    return f"{', '.join(s.makes)} = {text}" if s.makes else text


def _nested(s: ir.Stmt, indent: int) -> Iterator[str]:
    pad = "    " * indent
    match s:
        case ir.For(index=index, lo=lo, hi=hi, step=step, body=body):
            by = f" by {step}" if step != 1 else ""
            yield f"{pad}for {index} in {lo} .. {hi}{by}:"
        case ir.While(cond, body, _):
            yield f"{pad}while {cond}:"
        case ir.Stage(axes, body, _):
            yield f"{pad}parallel {domain(axes) or 'once'}:"
        case ir.If(cond, body, orelse, _):
            yield f"{pad}if {cond}:"
            yield from lines(body, indent + 1)
            if orelse:
                yield f"{pad}else:"
                yield from lines(orelse, indent + 1)
            return
        case _:
            return
    yield from lines(body, indent + 1)


def program_text(program: ir.Program) -> str:
    """An array program as `--emit array` shows it."""
    heads = [f"array program {program.name}"]
    for p in program.parameters:
        if p.items:
            parts = ", ".join(f"{q.name}: {q.dtype.name}" for q in p.items)
            heads.append(f"  parameter {p.name}: tuple of {parts}")
            continue
        ndim = "scalar" if p.ndim is None else f"{p.ndim}-D"
        heads.append(f"  parameter {p.name}: {p.dtype.name} {ndim}")
    heads += [f"  check {c.kind}: {c.left} and {c.right}" for c in program.checks]
    return "\n".join([*heads, *lines(program.body, 1)]) + "\n"
