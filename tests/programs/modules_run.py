"""Random modules: each is refused, or its module computes what Python computes.

    python -m tests.programs.modules_run --count 5000 --seed 0

Runs on Numba's simulator in this process; prints what differs and counts the rest. Exit code 1
when a module is wrong or broken.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import types
import unicodedata
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"

import numpy as np
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as seeded

from porter.codegen.module.module import module_text
from porter.convert.function import convert_function
from porter.convert.module_child import computed
from porter.diagnostics import Refusal, UsageError
from porter.resolve.computed import Computed
from porter.resolve.globals import Globals
from porter.source.module import SourceModule
from tests.corpus.simulator import install
from tests.programs.modules_strategy import Sample, samples

X = np.array([1.0, -2.5, 3.0, 0.5])


class Differs(Exception):
    """A module that does not do what its source does."""


def values(path: str, text: str, name: str) -> Computed:
    """The value of a constant, computed in this process."""
    return Computed(**computed(Path(path), text, name, False))


def loaded(text: str, name: str) -> dict[str, Any]:
    """The names of a module after it ran."""
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(text, f"{name}.py", "exec", dont_inherit=True), module.__dict__)
    return module.__dict__


def called(function: Any, scope: dict[str, Any], call: str) -> Any:
    """What a call gives: its results, or the type of its exception."""
    names = {"x": X.copy(), "called_": function}
    try:
        return eval(f"called_({call})", names)
    except Exception as error:
        return type(error)


def same(one: Any, other: Any) -> bool:
    """Whether two outcomes are equal."""
    if isinstance(one, type) or isinstance(other, type):
        return one is other
    pairs = zip(*(v if isinstance(v, tuple) else (v,) for v in (one, other)), strict=True)
    return all(
        np.asarray(a).dtype == np.asarray(b).dtype
        and np.allclose(a, b, rtol=1e-12, atol=1e-12, equal_nan=True)
        for a, b in pairs
    )


def outcome(sample: Sample) -> str:
    """What becomes of a sample: invalid (no such Python), refused, or right. Raises `Differs`."""
    try:
        original = loaded(sample.source, "original")
    except Exception:
        return "invalid"
    name = unicodedata.normalize("NFKC", sample.name)
    expected = [called(original[name], original, c) for c in sample.calls]
    if all(isinstance(e, type) for e in expected):
        return "invalid"
    module = SourceModule(sample.source, "m.py")
    scope = Globals(module)
    scope.options.values = values
    found = [f for f in module.functions if unicodedata.normalize("NFKC", f.name) == name]
    try:
        made = convert_function(found[-1], sample.signature, scope, siblings=False)
    except (Refusal, UsageError):
        return "refused"
    text = re.sub(r"^(THREADS) = \d+", r"\1 = 8", module_text(made.texts, "m.py"), flags=re.M)
    generated = loaded(text, "generated")
    if generated[name].__doc__ != original[name].__doc__:
        raise Differs(f"the docstring is {generated[name].__doc__!r}")
    for call, want in zip(sample.calls, expected, strict=True):
        got = called(generated[name], generated, call)
        if not same(want, got):
            raise Differs(f"{name}({call}) gives {got}, not {want}")
    return "right"


def main() -> int:
    """Run the samples; the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    install()
    counts: Counter[str] = Counter()

    @seeded(options.seed)
    @settings(
        max_examples=options.count, deadline=None, database=None, verbosity=Verbosity.quiet,
        phases=[Phase.generate], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(samples())
    def run(sample: Sample) -> None:
        try:
            counts[outcome(sample)] += 1
        except Exception as error:
            counts["wrong" if isinstance(error, Differs) else "broken"] += 1
            print(f"--- {type(error).__name__}: {error}\n{sample.source}")

    run()
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    return 1 if counts["wrong"] or counts["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
