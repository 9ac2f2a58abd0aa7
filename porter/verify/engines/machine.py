"""Launches of a verification on the PTX machine, where the simulator would run them.

Only the machine's child imports this module.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from porter.ptx.errors import AccessError, MachineError, TooLong, Unsupported
from porter.ptx.machine.arguments import Layout
from porter.ptx.machine.launch import launch
from porter.ptx.machine.task import Code, Work
from porter.verify.compile.texts import Text, read, serves
from porter.verify.engines.launches import LAUNCHES, TooCostly, argument_type
from porter.verify.engines.scheduler import ORDER

#: instructions for each thread that a simulator may run in a case with the module's own sizes
WORTH = 200
#: instructions of threads that a launch takes before it begins, and that a vector takes at least
LAUNCH, VECTOR = 50_000, 64
#: a launch that takes more does not end
MOST = 1_000_000_000


class OutOfBounds(AccessError, IndexError):
    """An access outside of all arrays, where the original raises an IndexError."""


class Machine:
    """Runs the texts of one architecture, and says which launches it has to leave out.

    If it is `alone`, it also does what costs time and other engines do as well.
    """

    large = False

    def __init__(
        self,
        folder: str,
        arch: str,
        layout: Layout,
        most: int | None = None,
        *,
        alone: bool = False,
    ) -> None:
        self.checks_indices = alone
        self.texts = [text for text in read(Path(folder)) if text.arch == arch]
        self.layout: Layout = layout
        self.codes: dict[int, Code] = {}
        #: work for the cases of a function; None for any amount
        self.budget = most
        #: globals of modules; nothing is watched here
        self.watched: list[dict[str, Any]] = []
        self.clear()

    def clear(self) -> None:
        """Forget what was run, for the next function."""
        self.skipped: dict[str, str] = {}
        self.instructions = self.launches = self.work = 0

    def run(self, kernel: Any, args: tuple[Any, ...]) -> bool:
        """Run one launch; raises `TooCostly` when it is outside of what the machine has."""
        name = kernel.fn.__name__
        plain = tuple(getattr(a, "_ary", a) for a in args)
        text = self._text(name, [argument_type(a) for a in args])
        if text is None:
            raise self._left_out(name, "was not compiled for the types of a launch")
        names = kernel.fn.__code__.co_varnames[: kernel.fn.__code__.co_argcount]
        # a case with sizes for the module's own blocks may turn out too costly
        own, work = LAUNCHES.left < math.inf, self._work()
        try:
            work.spend(LAUNCH, 1)
            code = self._code(text)
            grid, block = _three(kernel.grid_dim), _three(kernel.block_dim)
            self.instructions += launch(
                code, grid, block, plain, names=names, dynamic=kernel.dynshared_size,
                seed=ORDER.random.getrandbits(32), layout=self.layout, work=work,
            )  # fmt: skip
        except Unsupported as unsupported:
            raise self._left_out(name, f"has what the machine does not: {unsupported}") from None
        except TooLong as error:
            if own or self.budget is not None:
                raise self._left_out(name, "takes too many instructions") from None
            raise _of_kernel(error) from None
        except AccessError as error:
            raise _of_kernel(OutOfBounds(*error.args)) from None
        except MachineError as error:
            raise _of_kernel(error) from None
        self.launches += 1
        self.work += work.spent
        LAUNCHES.left -= work.spent / WORTH
        return True

    def _work(self) -> Work:
        """What the next launch may take."""
        most = min(LAUNCHES.left * WORTH, MOST)
        most = most if self.budget is None else min(most, self.budget - self.work)
        return Work(int(max(0, most)), VECTOR)

    def _left_out(self, name: str, reason: str) -> TooCostly:
        """What ends a case that the machine cannot run."""
        self.skipped[name] = reason
        return TooCostly(f"`{name}` {reason}")

    def _text(self, name: str, types: list[dict[str, Any]]) -> Text | None:
        """The text of a kernel: for these very types, else for arrays of any layout."""
        known = [text for text in self.texts if text.kernel == name]
        exact = [text for text in known if text.types == types]
        return next(iter(exact or [t for t in known if serves(t.types, types)]), None)

    def _code(self, text: Text) -> Code:
        if id(text) not in self.codes:
            self.codes[id(text)] = Code(text.ptx)
        return self.codes[id(text)]

    def reason(self) -> str:
        """Why no case was run; '' when some were."""
        said = "; ".join(f"`{name}` {reason}" for name, reason in self.skipped.items())
        return "" if self.launches else said

    def detail(self) -> dict[str, Any]:
        """What the launches came to."""
        return {"instructions": self.instructions}


def _of_kernel(error: MachineError) -> MachineError:
    """Marked as raised by a kernel, where a GPU raises nothing at once."""
    error.in_kernel = True  # type: ignore[attr-defined]
    return error


def _three(dims: Any) -> tuple[int, int, int]:
    given = (dims,) if isinstance(dims, int | np.integer) else tuple(dims)
    x, y, z = (*(int(n) for n in given), 1, 1, 1)[:3]
    return x, y, z
