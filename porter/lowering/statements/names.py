"""Names of a value that has another name: both show what is stored into it."""

from __future__ import annotations

from dataclasses import replace

from porter.lowering.evaluation import Body
from porter.resolve.values import Array, Value


def named(body: Body, value: Value, made: Value) -> Value:
    """What a name stands for that is assigned a value, of which `made` is a variable.

    What a helper is given (`h(x * 2)`) is computed where it is read, until a second name makes an
    array of it: that is the first name's, too.  A caller's name would not know of it, so that
    nothing may be stored there.
    """
    if not isinstance(value, Array) or not isinstance(made, Array):
        return made
    if value.view is not None or value.shown_of or made.view is None:
        return made
    others = [n for n, v in body.env.items() if v is value]
    if others and (body.b.out.depth or any(a is value for a in body.lent)):
        why = "the store goes into a temporary copy and is lost"
        return replace(made, view=replace(made.view, readonly=why))
    body.env.update(dict.fromkeys(others, made))
    return made
