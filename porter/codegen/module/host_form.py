"""Calls without arrays: the module's function hands them to one that computes on the host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from porter.codegen.module.module import FunctionText
from porter.codegen.module.names import free_names
from porter.ir import Parameter


@dataclass(frozen=True)
class HostForm:
    """The user's function for calls without an array, its name in the module, and what it needs.

    With `lists`, those that pass lists are such calls: what their items are decides there.
    """

    name: str
    text: str
    signature: str
    shapes: str
    lists: bool = False
    constants: tuple[tuple[str, str], ...] = ()
    imports: frozenset[str] = frozenset()


def with_host_form(
    public: FunctionText, form: HostForm, parameters: Sequence[Parameter]
) -> FunctionText:
    """The public function, which asks first whether there is an array at all."""
    lines = public.parts[-1].split("\n")
    # the head is a line, and the docstring's placeholder another one
    first = 2 if public.docstring is not None else 1
    asked = [p.name for p in parameters if not (p.items or _is_tuple(p.default))]
    call = f"return {form.name}({', '.join(p.name for p in parameters)})"
    test, served = ("_listed", "scalars and lists") if form.lists else ("_scalars", "scalars")
    lines[first:first] = [
        f"    # {served}: computed on the host", f"    if {test}({', '.join(asked)}):",
        f"        {call}",
    ]  # fmt: skip
    own = free_names(form.text)
    helpers = {"_scalars", test}
    needs = replace(
        public.needs, helpers=public.needs.helpers | helpers,
        imports=public.needs.imports | form.imports, numpy=public.needs.numpy or "np" in own,
    )  # fmt: skip
    parts = (*public.parts[:-1], form.text, "\n".join(lines))
    return replace(
        public, parts=parts, needs=needs, constants=public.constants | dict(form.constants)
    )


def _is_tuple(default: str | None) -> bool:
    return default is not None and default.startswith("(")
