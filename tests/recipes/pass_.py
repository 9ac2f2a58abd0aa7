"""docs/add-a-pass.md, followed: a pass that drops double negations."""

from __future__ import annotations

from porter import ir
from porter.convert import passes
from porter.convert.passes import Pass
from porter.ir.context import Context
from porter.ir.rebuild import map_blocks, map_exprs
from porter.ir.walk import rewrite
from tests.recipes.checks import plan_of, verified


def drop_double_negations(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The pass: `-(-x)` is `x`, for every number."""
    inner = (map_blocks(s, lambda b: drop_double_negations(b, context)) for s in body)
    return tuple(map_exprs(s, _simpler) for s in inner)


def _simpler(e: ir.Expr) -> ir.Expr | None:
    match e:
        case ir.Op("neg", (ir.Op("neg", (x,)),)):
            return rewrite(x, _simpler)
    return None


DOUBLE_NEGATIONS = Pass("double negations", drop_double_negations)


SOURCE = """
import numpy as np


def f(x, y):
    z = -y
    return -z * x + np.exp(-(-x)).sum(axis=1, keepdims=True)
"""
SIGNATURE = "float64[:, :], float64[:, :]"


def main() -> None:
    before = plan_of(SOURCE, "f", SIGNATURE)
    # definitions are in place of their reads after `materialise`
    at = [p.name for p in passes.PASSES].index("materialise") + 1
    passes.PASSES = (*passes.PASSES[:at], DOUBLE_NEGATIONS, *passes.PASSES[at:])
    after = plan_of(SOURCE, "f", SIGNATURE)
    assert before.count("neg(neg(") == 2 and "neg" not in after
    verified(SOURCE, "f", SIGNATURE)


if __name__ == "__main__":
    main()
