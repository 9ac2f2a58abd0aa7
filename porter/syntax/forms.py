"""What an expression looks like: which function it calls, which axis it names."""

from __future__ import annotations

import libcst as cst

from porter.dtypes.dtype import WEAK_BOOL, WEAK_FLOAT, WEAK_INT, DType
from porter.numpy_functions import spec_of


def unturned(value: cst.BaseExpression) -> cst.BaseExpression:
    """The x of `-x`, `x.T` and `x.transpose(0, 2, 1)`."""
    value = value.expression if isinstance(value, cst.UnaryOperation) else value
    func = value.func if isinstance(value, cst.Call) else value
    if isinstance(func, cst.Attribute) and func.attr.value in ("T", "transpose", "swapaxes"):
        return func.value
    return value


def has_product(value: cst.BaseExpression) -> bool:
    """`x @ W`, and `x @ W + h @ U`."""
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, cst.BinaryOperation):
            if isinstance(node.operator, cst.MatrixMultiply):
                return True
            if isinstance(node.operator, (cst.Add, cst.Subtract)):
                stack += [node.left, node.right]
        elif isinstance(node, cst.Call):
            if is_np(node.func) and called(node.func) in ("dot", "matmul"):
                return True
    return False


def is_np(node: cst.BaseExpression) -> bool:
    """`np.f`, `np.linalg.f`."""
    while isinstance(node, cst.Attribute):
        node = node.value
        if isinstance(node, cst.Name):
            return node.value in ("np", "numpy")
    return False


def is_whole(element: cst.SubscriptElement) -> bool:
    """`:` and `...` in a subscript."""
    index = element.slice
    if isinstance(index, cst.Index):
        return isinstance(index.value, cst.Ellipsis)
    return isinstance(index, cst.Slice) and index.lower is index.upper is index.step is None


def is_math(node: cst.BaseExpression) -> bool:
    """`math.f`."""
    return isinstance(node, cst.Attribute) and (
        isinstance(node.value, cst.Name) and node.value.value in ("math", "cmath")
    )


def is_size(name: str, position: int, keyword: str) -> bool:
    """Whether an argument of a call is a size or shape."""
    if keyword in ("shape", "num", "N", "M", "minlength", "shift"):
        return True
    sizes = spec_of(name).sizes
    return (keyword == "size" and bool(sizes)) or (not keyword and position in sizes)


def called(node: cst.BaseExpression) -> str:
    """The last name of what is called."""
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""


def axis_ndim(axis: cst.BaseExpression | None) -> int:
    """The number of dimensions that an `axis=` argument suggests."""
    if axis is None:
        return 1
    if isinstance(axis, cst.Integer):
        return max(int(axis.value) + 1, 2)
    if isinstance(axis, cst.Tuple):
        return max(len(axis.elements), 2)
    return 2 if isinstance(axis, cst.UnaryOperation) else 1


def type_of_default(node: cst.BaseExpression | None) -> DType | None:
    """The type that a default value suggests."""
    match node:
        case cst.Integer():
            return WEAK_INT
        case cst.Float():
            return WEAK_FLOAT
        case cst.Name(value="True" | "False"):
            return WEAK_BOOL
        case cst.UnaryOperation(expression=inner):
            return type_of_default(inner)
    return None


def is_none(value: cst.BaseExpression) -> bool:
    """`None` and `np.newaxis` in a subscript."""
    if isinstance(value, cst.Attribute):
        return value.attr.value == "newaxis"
    return isinstance(value, cst.Name) and value.value == "None"
