"""What a random program is not held to, and why: see docs/verification.md."""

from __future__ import annotations

import ast
import contextlib
import copy
import math
import re
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from unittest import mock

import numpy as np

from tests.corpus.check import compare
from tests.programs.strategy import Program

#: what Python's numbers raise while they are computed or stored, an index into nothing, and a
#: name without a value of which no element is read: see docs/verification.md
UNRAISED = re.compile(
    "no exception, NumPy raises (OverflowError|ZeroDivisionError|UnboundLocalError|"
    "ValueError: (cannot convert float NaN|math domain error)|"
    r"IndexError: index -?[0-9]+ is out of bounds for axis [0-9] with size 0)"
)


def undefined(wrong: str, signature: str = "") -> bool:
    """Whether all that differs are complex numbers that are not finite, or parts of them, or
    what rounding leaves of terms that cancel.

    What a product of them is depends on how it is written.
    """
    if wrong.endswith(": complex128 instead of complex"):
        return True  # a Python number that is NumPy's
    small = re.search(r", at \S+(?: \S+)* (\S+) instead of (\S+)$", wrong)
    if small and all(_is_tiny(text) for text in small.groups()):
        return True
    part = "complex" in signature and re.search(r"\b(nan|inf)\b", wrong)
    return bool(part or re.search(r"(nan|inf)[^ ]*j\)", wrong)) and "differ" in wrong


def _is_tiny(text: str) -> bool:
    try:
        return abs(complex(text)) < 1e-12
    except ValueError:
        return False


class _Watched(np.ndarray[Any, Any]):
    """An array that notes when a float becomes an integer of a type that cannot hold it."""

    seen = False

    def __setitem__(self, key: Any, value: Any) -> None:
        self._note(value, self.dtype)
        super().__setitem__(key, value)

    def astype(self, dtype: Any, *args: Any, **options: Any) -> Any:
        """What is stored in a new array."""
        self._note(self, np.dtype(dtype))
        return super().astype(dtype, *args, **options)

    @staticmethod
    def _note(value: Any, dtype: np.dtype[Any]) -> None:
        given = np.asarray(value)
        if dtype.kind in "iu" and given.dtype.kind == "f":
            limits = np.iinfo(dtype)
            held = (given > limits.min - 1.0) & (given < limits.max + 1.0)
            _Watched.seen |= not held.all()


def casts_beyond(original: Any, arguments: Any) -> bool:
    """Whether NumPy converts a float to an integer that cannot hold it.

    C leaves open what that gives; NumPy's own loops differ by the length of the array.
    """
    given = [a.view(_Watched) if isinstance(a, np.ndarray) else a for a in copy.deepcopy(arguments)]
    _Watched.seen = False
    # what makes a plain array of its argument keeps the watch
    kept = mock.patch.multiple(np, asarray=np.asanyarray, array=partial(np.array, subok=True),
                               copy=partial(np.copy, subok=True))  # fmt: skip
    with warnings.catch_warnings(record=True) as said, np.errstate(invalid="warn", over="ignore"):
        warnings.simplefilter("always")
        with contextlib.suppress(Exception), kept:
            original(*given)
    return _Watched.seen or any("in cast" in str(w.message) for w in said)


class _Calls(ast.NodeTransformer):
    """Calls of NumPy functions or methods of these names go through a function of this file."""

    def __init__(self, names: Sequence[str], function: Callable[..., Any]) -> None:
        self.names, self.function = names, function

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in self.names:
            return node
        owner = node.func.value
        is_numpy = isinstance(owner, ast.Name) and owner.id == "np"
        args = node.args if is_numpy else [owner, *node.args]
        name: list[ast.expr] = [ast.Constant(node.func.attr)]
        return ast.Call(ast.Name("_instead", ast.Load()), [*name, *args], node.keywords)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.MatMult) or "matmul" not in self.names:
            return node
        args = [ast.Constant("matmul"), node.left, node.right]
        return ast.Call(ast.Name("_instead", ast.Load()), args, [])


def _other_zero(name: str, a: Any, *args: Any, **options: Any) -> Any:
    """Of -0.0 and 0.0 the extremes take the other one."""
    if name == "clip":
        if len(args) == 2:
            return np.minimum(np.maximum(a, args[0]), args[1])
        return np.clip(a, *args, **options)
    return getattr(np, name)(*args, a, **options)


def _plain_product(name: str, one: Any, other: Any, **options: Any) -> Any:
    """The sum of all products, from 0.0 on.

    BLAS leaves out what is multiplied by zero, and `np.dot` of one element and one element has
    no sum: 0.0 times -2.0 is -0.0.
    """
    dtype = np.result_type(one, other)
    slow = getattr(np, name)(np.asarray(one, object), np.asarray(other, object), **options)
    slow = slow + dtype.type(0)
    return dtype.type(slow) if np.ndim(slow) == 0 else np.asarray(slow, dtype)


def _shuffled_sum(seed: int) -> Callable[..., Any]:
    """The sum of the same elements in another order."""

    def call(name: str, a: Any, *args: Any, **options: Any) -> Any:
        a = np.asarray(a)
        axis = args[0] if args else options.get("axis")
        random = np.random.default_rng(a.size + seed)
        for k in range(a.ndim) if axis is None else np.atleast_1d(axis):
            a = random.permutation(a, axis=int(k))
        return getattr(np, name)(a, *args, **options)

    return call


def _one_by_one(name: str, a: Any, *args: Any, **options: Any) -> Any:
    """The variance or the deviation with sums from the first element to the last: of equal
    numbers NumPy's may be 0, because it adds them in another order."""
    usual = np.asarray(getattr(np, name)(a, *args, **options))
    axis = options.get("axis", args[0] if args else None)
    kept = range(np.ndim(a)) if axis is None else np.atleast_1d(axis) % np.ndim(a)
    last = np.moveaxis(np.asarray(a), tuple(kept), range(-len(kept), 0))
    flat = last.reshape(*last.shape[: -len(kept)], -1)
    if not flat.size or flat.dtype.kind not in "fc":
        return usual
    mean = np.cumsum(flat, axis=-1)[..., -1:] / flat.dtype.type(flat.shape[-1])
    moved = np.abs(flat - mean) ** 2
    total = np.cumsum(moved, axis=-1)[..., -1] / (flat.shape[-1] - options.get("ddof", 0))
    made = np.sqrt(total) if name == "std" else total
    return made.astype(usual.dtype).reshape(usual.shape)[()]


def _nudged(towards: float) -> Callable[..., Any]:
    """The function's result, one place away."""

    def call(name: str, *args: Any, **options: Any) -> Any:
        if args[0] is math:
            return math.nextafter(getattr(math, name)(*args[1:]), towards)
        result = getattr(np, name)(*args, **options)
        real = np.asarray(result).dtype.kind == "f"
        return np.nextafter(result, result.dtype.type(towards)) if real else result

    return call


def _minus(value: Any) -> Any:
    return -0.0 if type(value) is int and value == 0 else -value


class _NegativeZero(ast.NodeTransformer):
    """Has Python's 0 negated to -0.0."""

    function = staticmethod(_minus)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.USub) or isinstance(node.operand, ast.Constant):
            return node
        return ast.Call(ast.Name("_instead", ast.Load()), [node.operand], [])


EXTREMES = _Calls(("maximum", "minimum", "fmax", "fmin", "clip"), _other_zero)
# one order may happen to give the same
SUMS = [
    _Calls(("sum", "mean", "nansum", "nanmean", "std", "var"), _shuffled_sum(k)) for k in range(8)
]
VARIANCES = _Calls(("std", "var"), _one_by_one)
ROUNDED = ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh",
           "cosh", "tanh", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "asin",
           "acos", "atan", "asinh", "acosh", "atanh", "cbrt", "hypot", "arctan2", "atan2", "power",
           "pow", "logaddexp", "logaddexp2")  # fmt: skip
NUDGED = [_Calls(ROUNDED, _nudged(towards)) for towards in (-math.inf, math.inf)]


def _in_full(name: str, subscripts: str, *operands: Any, **options: Any) -> Any:
    """`einsum` after each axis of length 1 has been repeated to its full length.

    Where one broadcasts, NumPy adds up the other operand and multiplies the sum once.
    """
    labels = subscripts.split("->")[0].replace(" ", "").split(",")
    if "." in subscripts:
        return np.einsum(subscripts, *operands, **options)
    sizes: dict[str, int] = {}
    for of, operand in zip(labels, operands, strict=True):
        for label, size in zip(of, np.shape(operand), strict=True):
            sizes[label] = size if sizes.get(label, 1) == 1 else sizes[label]
    whole = (
        np.broadcast_to(operand, [sizes[label] for label in of]).copy()
        for of, operand in zip(labels, operands, strict=True)
    )
    return np.einsum(subscripts, *whole, **options)


EINSUM = _Calls(("einsum",), _in_full)
PRODUCTS = _Calls(("dot", "matmul", "inner", "vdot", "tensordot"), _plain_product)


def _changed(program: Program, change: _Calls | _NegativeZero) -> Callable[..., Any]:
    """The program with some of its operations done in another way."""
    tree = ast.fix_missing_locations(change.visit(ast.parse(program.source)))
    scope: dict[str, Any] = {"_instead": change.function}
    exec(compile(tree, "<program>", "exec"), scope)
    made: Callable[..., Any] = scope["f"]
    return made


def zeros_tie(program: Program, arguments: Any) -> bool:
    """Whether the result depends on which of -0.0 and 0.0 is the larger.

    NumPy's loops differ in it: `np.maximum` has the second one, `np.clip` the array's, and with
    an array as bound the bound's.
    """
    with np.errstate(all="ignore"):
        return bool(compare(program.function(), _changed(program, EXTREMES), arguments))


def hangs_on_rounding(program: Program, arguments: Any) -> bool:
    """Whether NumPy's own result is another one when its sums are made in another order, or its
    functions are one place off.

    Of numbers at the limits of int64, a mean keeps what their rounding left;
    `np.arccosh(np.tanh(20))` is 0 or NaN.
    """
    with np.errstate(all="ignore"):
        return any(
            compare(program.function(), _changed(program, change), arguments)
            for change in (*SUMS, VARIANCES, *NUDGED)
        )


def is_numpys_way(program: Program, made: Callable[..., Any], arguments: Any) -> bool:
    """Whether the program is right but for what NumPy or Python do in a way of their own.

    `-(y if c else 0)` is an int or a float as the data decides: a kernel has one dtype for both,
    and the sign of its zero.  And BLAS takes 0 * NaN for 0, and `einsum` multiplies a sum by what
    broadcasts, where each term may be NaN.
    """
    with np.errstate(all="ignore"):
        return any(
            not compare(_changed(program, change), made, arguments)
            for change in (_NegativeZero(), PRODUCTS, EINSUM)
        )


def single_inside(program: Program, made: Callable[..., Any], arguments: Any) -> bool:
    """Whether numbers of single precision on the way to double ones are rounded differently.

    A few of their last places are allowed, no more.
    """
    narrow = ("int8", "int16", "float16", "float32", "complex64")
    if not any(name in text for name in narrow for text in (program.source, program.signature)):
        return False
    with np.errstate(all="ignore"):
        return not compare(program.function(), made, arguments, 8 * 2.0**29)


def passes_int64(program: Program, made: Callable[..., Any], arguments: Any) -> bool:
    """Whether all is right when no int64 comes near its limits.

    Numba tells the compiler that signed numbers do not overflow: `abs(a - b)` may take
    `a < b` for `a - b < 0`, where NumPy's difference wraps around.
    """
    far = [isinstance(a, np.ndarray) and a.dtype == np.int64 and (a > 2**60) | (a < -(2**60))
           for a in arguments]  # fmt: skip
    if not any(np.any(f) for f in far):
        return False
    tamed = tuple(np.where(f, a % 16, a) if np.any(f) else a
                  for a, f in zip(arguments, far, strict=True))  # fmt: skip
    with np.errstate(all="ignore"):
        return not compare(program.function(), made, tamed)


def raises_unused(program: Program, made: Callable[..., Any], arguments: Any) -> bool:
    """Whether NumPy raises in an assignment whose value nothing needs, and all else is right."""
    try:
        with np.errstate(all="ignore"):
            program.function()(*copy.deepcopy(arguments))
    except IndexError as error:
        frames = traceback.extract_tb(error.__traceback__)
        number = next(f.lineno for f in reversed(frames) if f.filename == "<program>") or 0
        lines = program.source.splitlines()
        behind = "\n".join(lines[number:])
        named = re.match(r"    (\w+) = ", lines[number - 1])
        if named and not re.search(rf"\b{named[1]}\b", behind):
            before = "\n".join(lines[: number - 1])
            shorter = replace(program, source=f"{before}\n{behind}\n")
            with np.errstate(all="ignore"):
                return not compare(shorter.function(), made, arguments)
    except Exception:
        return False
    return False


def rows_of_nothing(wrong: str, arguments: Any) -> bool:
    """Whether a row out of range has no elements: no thread stores one, and none tests it."""
    raised = r"no exception, NumPy raises IndexError: index -?\d+ is out of bounds for axis \d"
    empty = (a for a in arguments if isinstance(a, np.ndarray) and a.ndim > 1 and not a.size)
    return bool(re.match(raised, wrong)) and any(a.shape[0] for a in empty)


def verdict(program: Program, made: Callable[..., Any], arguments: Any) -> tuple[str, str]:
    """`ok`, `stricter`, `unraised` or `wrong`, and what differs in one call."""
    with np.errstate(all="ignore"):
        wrong = compare(program.function(), made, arguments)
    if not wrong or (
        undefined(wrong, program.signature)
        or casts_beyond(program.function(), arguments)
        or zeros_tie(program, arguments)
        or hangs_on_rounding(program, arguments)
        or is_numpys_way(program, made, arguments)
        or single_inside(program, made, arguments)
    ):
        return "ok", ""
    if re.match(r"raises (ValueError|IndexError|TypeError): ", wrong):
        return "stricter", wrong
    unraised = UNRAISED.match(wrong) or rows_of_nothing(wrong, arguments)
    if unraised or raises_unused(program, made, arguments):
        return "unraised", wrong
    return "wrong", wrong
