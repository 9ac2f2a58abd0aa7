"""The array program, the loops and the plan as text: what `--emit` shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from porter.ir.nodes import (
    Alloc,
    Axis,
    Bind,
    Cast,
    Const,
    Def,
    Expr,
    Fetch,
    For,
    Host,
    If,
    Jump,
    Let,
    Load,
    Local,
    Object,
    Op,
    Program,
    Reduce,
    Return,
    Scalar,
    Select,
    Stage,
    Stmt,
    Value,
    While,
    Write,
)

_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%",
    "pow": "**", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
    "and": "and", "or": "or", "band": "&", "bor": "|", "bxor": "^", "lshift": "<<",
    "rshift": ">>",
}  # fmt: skip


def show(expr: Expr) -> str:
    """One expression on one line."""
    match expr:
        case Const(value=value):
            return repr(value)
        case Value(poly=poly):
            return str(poly)
        case Scalar(name=name) | Local(name=name) | Object(name=name):
            return name
        case Load(buffer=name, index=index):
            return f"{name}[{', '.join(map(str, index))}]"
        case Op(op=op, args=args) if op in _INFIX and len(args) == 2:
            return f"({show(args[0])} {_INFIX[op]} {show(args[1])})"
        case Op(op=op, args=args):
            return f"{op}({', '.join(map(show, args))})"
        case Cast(arg, dtype):
            return f"{dtype.name}({show(arg)})"
        case Select(cond, then, other, _):
            return f"({show(then)} if {show(cond)} else {show(other)})"
        case Reduce(op, axes, body, dtype):
            return f"{op}[{domain(axes)}]({show(body)}):{dtype.name}"


def domain(axes: Sequence[Axis]) -> str:
    """Index names with their ranges."""
    return ", ".join(
        f"{a.name} < {a.hi}" if a.lo.constant == 0 else f"{a.lo} <= {a.name} < {a.hi}" for a in axes
    )


def lines(body: Sequence[Stmt], indent: int = 0) -> Iterator[str]:
    """Statements, a line each."""
    pad = "    " * indent
    for s in body:
        match s:
            case Def(name, axes, dtype, value, _):
                index = ", ".join(a.name for a in axes)
                yield f"{pad}{name}[{index}]: {dtype.name} = {show(value)}  for {domain(axes)}"
            case Alloc(buffer, _):
                shape = ", ".join(map(str, buffer.shape))
                yield f"{pad}alloc {buffer.name}: {buffer.dtype.name}[{shape}]"
            case Write():
                index = ", ".join(map(str, s.index))
                tail = f"  for {domain(s.axes)}" if s.axes else ""
                tail += f"  where {show(s.mask)}" if s.mask is not None else ""
                sign = f"{s.combine}=" if s.combine else "="
                yield f"{pad}{s.buffer}[{index}] {sign} {show(s.body)}{tail}"
            case Let(name, value, _):
                yield f"{pad}{name} = {show(value)}"
            case Fetch(name, buffer, _):
                yield f"{pad}fetch {name} = {buffer}[]"
            case Bind(names, buffers, _):
                yield f"{pad}{', '.join(names)} := {', '.join(buffers)}"
            case Host():
                yield f"{pad}host: {_host(s)}"
            case Jump(kind, _):
                yield f"{pad}{kind}"
            case Return(values=values):
                shown = (
                    v if isinstance(v, str) else "None" if v is None else show(v) for v in values
                )
                yield f"{pad}return {', '.join(shown)}"
            case For() | While() | If() | Stage():
                yield from _nested(s, indent)


def _host(s: Host) -> str:
    text = " ".join(s.text.split())
    for name, value in (*s.arrays, *((n, show(e)) for n, e in s.values)):
        text = text.replace(name, value)
    return f"{', '.join(s.makes)} = {text}" if s.makes else text


def _nested(s: Stmt, indent: int) -> Iterator[str]:
    pad = "    " * indent
    match s:
        case For(index=index, lo=lo, hi=hi, step=step, body=body):
            by = f" by {step}" if step != 1 else ""
            yield f"{pad}for {index} in {lo} .. {hi}{by}:"
        case While(cond, body, _):
            yield f"{pad}while {show(cond)}:"
        case Stage(axes, body, _):
            yield f"{pad}parallel {domain(axes) or 'once'}:"
        case If(cond, body, orelse, _):
            yield f"{pad}if {show(cond)}:"
            yield from lines(body, indent + 1)
            if orelse:
                yield f"{pad}else:"
                yield from lines(orelse, indent + 1)
            return
        case _:
            return
    yield from lines(body, indent + 1)


def program_text(program: Program) -> str:
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
