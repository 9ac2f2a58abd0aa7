"""The public function of a ufunc's module: it casts as NumPy's ufuncs do, and takes `out=`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from porter.codegen.module.docstrings import placeholder
from porter.codegen.module.module import FunctionText
from porter.support.parsing import tree_of


@dataclass(frozen=True)
class AsUfunc:
    """What the public function does beside the function that computes, which is called `private`.

    Arguments are cast to the first of `signatures` that holds them, by one that is `exact` if there
    is one.  With `stores` results are stored into `out=`; they may be broadcast there but for as
    many last axes as `cores` says of each result, and not at all where that is None.
    """

    private: str
    signatures: tuple[tuple[str, ...], ...] = ()
    exact: bool = False
    stores: bool = False
    cores: tuple[int, ...] | None = ()


def as_ufunc(public: FunctionText, how: AsUfunc, *, device: bool) -> FunctionText:
    """The function after one that casts its arguments and stores its results."""
    if not (how.signatures or how.stores):
        return public
    text = public.parts[-1]
    head = text.split("\n", 1)[0]
    (node,) = tree_of(f"{head}\n    pass").body
    assert isinstance(node, ast.FunctionDef)
    positional = [a.arg for a in node.args.args]
    keywords = [a.arg for a in node.args.kwonlyargs]
    helpers = set(public.needs.helpers)
    lines = [_with_out(head, bool(keywords)) if how.stores else head]
    # the docstring's placeholder is a line
    docstring = public.docstring is not None
    lines += [f'    """{placeholder(public.name)}"""'] if docstring else []
    if how.signatures:
        lines.append(f"    {', '.join(positional)}{',' if len(positional) == 1 else ''} = "
                     f"{_cast(how, positional)}")  # fmt: skip
        helpers.add("_by_signature")
    call = f"{how.private}({', '.join([*positional, *(f'{n}={n}' for n in keywords)])})"
    if how.stores:
        helpers.add("_into")
        call = f"_into({call}, out{_cores(how.cores)}{', stream=stream' if device else ''})"
    lines.append(f"    return {call}")
    body = text.split("\n")[2 if docstring else 1 :]
    private = "\n".join([head.replace(f"def {public.name}(", f"def {how.private}(", 1), *body])
    return replace(
        public, parts=(*public.parts[:-1], private, "\n".join(lines)), stores=how.stores,
        needs=replace(public.needs, helpers=helpers, numpy=True),
    )  # fmt: skip


def _with_out(head: str, keywords: bool) -> str:
    inside = head.removesuffix("):")
    return f"{inside}, out=None):" if keywords else f"{inside}, *, out=None):"


def _cast(how: AsUfunc, names: Sequence[str]) -> str:
    text = ", ".join(" ".join(dtypes) for dtypes in how.signatures)
    return f'_by_signature("{text}", {", ".join(names)}{", exact=True" if how.exact else ""})'


def _cores(cores: tuple[int, ...] | None) -> str:
    """The argument that says which axes of the results are not broadcast; none do by default."""
    if cores is not None and not any(cores):
        return ""
    return f", {cores}"
