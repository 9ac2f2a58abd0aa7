"""The statements of the host with steps in place of launches; what has no chunked form."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from porter import ir
from porter.ir.walk import walk
from porter.schedule.base import Schedule
from porter.schedule.chunked.nodes import Blockwise, Copied, Filled, Joined, Made
from porter.schedule.chunked.split import Splitter, refused, sources
from porter.schedule.nodes import HostIf, HostLoop, HostWhile, Launch, Plan, items_of
from porter.schedule.ufuncs.element import stored
from porter.support.names import NameSupply


def chunked_items(plan: Plan, schedule: Schedule) -> tuple[tuple[object, ...], Splitter]:
    """The items of a plan with steps in place of launches; Refusal where there are none."""
    parameters = [q.name for p in plan.parameters for q in (p, *p.items)]
    names = NameSupply(parameters, plan.buffers, plan.constants, _assigned(plan))
    splitter = Splitter(dict(plan.buffers), schedule, names.fresh, plan.constants)
    for item in items_of(plan.items):
        _check(item, plan)
    return tuple(_steps(plan.items, splitter)), splitter


def check_chunks(plan: Plan, schedule: Schedule) -> None:
    """Raise Refusal where a plan has no chunked form."""
    chunked_items(plan, schedule)


def _assigned(plan: Plan) -> set[str]:
    found: set[str] = set()
    for item in items_of(plan.items):
        if isinstance(item, (ir.Let, ir.Fetch)):
            found.add(item.name)
        elif isinstance(item, HostLoop):
            found.add(item.index)
    return found


def _steps(items: Sequence[object], splitter: Splitter) -> Iterator[object]:
    done = list(_replaced(items, splitter))
    for k, item in enumerate(done):
        if not isinstance(item, ir.Alloc):
            yield item
        elif not _is_made_next(item.buffer.name, done[k + 1 :]):
            yield Made(item.buffer, splitter.like(item.buffer))


def _is_made_next(name: str, items: Sequence[object]) -> bool:
    """Whether a step makes the whole array before anything else needs it."""
    for item in items:
        if isinstance(item, (ir.Alloc, ir.Let)):
            continue
        if not isinstance(item, (Blockwise, Joined, Copied, Filled)):
            return False
        if item.out.name == name:
            return name not in sources(item)
        if name in sources(item):
            return False
    return False


def _replaced(items: Sequence[object], splitter: Splitter) -> Iterator[object]:
    for item in items:
        match item:
            case Launch(kernel):
                yield from splitter.steps(kernel)
            case HostLoop() | HostWhile():
                yield replace(item, body=tuple(_steps(item.body, splitter)))
            case HostIf(body=body, orelse=orelse):
                inner = [tuple(_steps(b, splitter)) for b in (body, orelse)]
                yield replace(item, body=inner[0], orelse=inner[1])
            case _:
                yield item


def _check(item: object, plan: Plan) -> None:
    """Raise Refusal for what asks for elements, or keeps two names for one array."""
    match item:
        case ir.Host(origin=origin) if item.arrays or item.makes:
            raise refused(origin, "runs on the host with whole arrays")
        case ir.Fetch(buffer=name, origin=origin):
            raise refused(origin, f"needs a number of `{name}` before what follows is known")
        case (
            ir.Let(value=value, origin=origin)
            | HostWhile(cond=value, origin=origin)
            | HostIf(cond=value, origin=origin)
        ):
            name = next((e.buffer for e in walk(value) if isinstance(e, ir.Load)), "")
            if name:
                raise refused(origin, f"needs a number of `{name}` before what follows is known")
        case ir.Bind(names=names, buffers=buffers, origin=origin) if set(names) != set(buffers):
            changed = _changed(plan, _together(plan, {*names, *buffers}))
            if changed:
                raise refused(origin, f"gives another name to `{changed}`, which is changed")
        case ir.Return(values=values, origin=origin):
            _check_results(values, origin, plan)


def _together(plan: Plan, names: set[str]) -> set[str]:
    """All names that may mean an array that one of these does."""
    binds = [{*i.names, *i.buffers} for i in items_of(plan.items) if isinstance(i, ir.Bind)]
    while more := [b for b in binds if b & names and not b <= names]:
        names = names.union(*more)
    return names


def _changed(plan: Plan, names: Collection[str]) -> str:
    """An array that is stored into when it may have a second name already."""

    def within(items: Sequence[object]) -> str:
        fresh: set[str] = set()
        for item in items:
            found = ""
            if isinstance(item, ir.Alloc):
                fresh.add(item.buffer.name)
            elif isinstance(item, ir.Bind):
                fresh -= {*item.names, *item.buffers}
            elif isinstance(item, Launch):
                found = min({*stored(item.kernel)} & {*names} - fresh, default="")
            elif isinstance(item, (HostLoop, HostWhile, HostIf)):
                # what is stored into inside may be what another iteration has named
                fresh.clear()
                bodies = (item.body, item.orelse) if isinstance(item, HostIf) else (item.body,)
                found = next(filter(None, map(within, bodies)), "")
            if found:
                return found
        return ""

    return within(plan.items)


def _check_results(values: Sequence[str | ir.Expr | None], origin: ir.Origin, plan: Plan) -> None:
    for v in values:
        if isinstance(v, str) and plan.buffers[v].parameter:
            raise refused(origin, f"returns its argument `{v}`")
        if isinstance(v, ir.Load) and not v.index and not v.dtype.weak:
            continue
        if v is not None and not isinstance(v, str):
            raise refused(origin, "returns what is no array")
