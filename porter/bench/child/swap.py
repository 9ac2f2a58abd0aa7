"""The operations of a call, counted where it is small enough and scaled where it is not."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from porter.bench.child.arguments import Arguments, Chosen
from porter.bench.child.limit import processor_limit
from porter.bench.child.operations import TooManyElements, Total, counted, counting
from porter.bench.sizes import halved
from porter.verify.loaded import Source
from porter.verify.oracle import calls

#: seconds that the original may take while it counts; an attempt that is too large takes them all
_PATIENCE = 0.2
#: times that sizes are made smaller
_ATTEMPTS = 8
#: elements of an argument that is made for it
_MOST = 1 << 22

Totals = dict[tuple[str, int], Total]


@dataclass(frozen=True)
class Original:
    """The function as it was written, with its file and its arguments."""

    function: Any
    source: Source
    arguments: Arguments

    def steps(self, chosen: Chosen) -> dict[str, Any]:
        """`steps`, the operations as `model.Step` has them, and `note`; without them `unknown`."""
        extents, halvings = dict(chosen.extents), 0
        for _ in range(_ATTEMPTS):
            try:
                found = self._totals(chosen.of(extents))
                if not found:
                    # such as np.minimum.reduce of a list: no array is asked
                    return {"unknown": "no operation was seen"}
                if not halvings:
                    return {"steps": _steps(found), "note": ""}
                smaller = self._totals(chosen.of(halved(extents)))
            except (calls.TooLong, TooManyElements, MemoryError):
                extents, halvings = halved(halved(extents)), halvings + 2
                continue
            except Exception as error:
                text = " ".join(f"{type(error).__name__}: {error}".split())[:200]
                return {"unknown": f"the original raises {text}"}
            said = ", ".join(f"{name}={n}" for name, n in extents.items())
            note = f"operation by operation: counted for {said} and half of it, and scaled"
            return {"steps": _steps(_scaled(found, smaller, halvings)), "note": note}
        return {"unknown": "the original takes too long"}

    def _totals(self, chosen: Chosen) -> Totals:
        if any(math.prod(shape) > _MOST for shape in chosen.shapes):
            raise TooManyElements
        values = [counting(v) for _, v in self.arguments.make(chosen)]
        names = calls.keyword_only(self.function)
        count = len(values) - len(names)
        options = dict(zip(names, values[count:], strict=False))
        namespace = self.source.original.namespace
        with (
            counted(namespace, str(self.source.path)) as operations,
            warnings.catch_warnings(),
            np.errstate(all="ignore"),
            processor_limit(_PATIENCE),
        ):
            warnings.simplefilter("ignore")
            self.function(*values[:count], **options)
        return dict(operations.totals)


def _steps(totals: Totals) -> list[dict[str, Any]]:
    return [{"name": name, **vars(total)} for (name, _), total in totals.items()]


def _scaled(found: Totals, smaller: Totals, halvings: int) -> Totals:
    """Counts grow as powers of the sizes: what they are for sizes that were halved so often."""

    def grown(key: tuple[str, int], what: str) -> float:
        large = float(getattr(found[key], what))
        small = float(getattr(smaller.get(key, found[key]), what))
        return large * (large / small) ** halvings if large and small else large

    return {
        key: Total(
            grown(key, "launches"), grown(key, "bytes"), grown(key, "products"), total.single
        )
        for key, total in found.items()
    }
