"""Which names of a compiled function certainly stand for NumPy arrays."""

from __future__ import annotations

import ast
from collections import Counter

from porter.numpy_functions import known
from porter.rules.model import Function, PyFile, assigned
from porter.rules.words import words

_ONLY_ARRAYS = words("shape ndim dtype strides itemsize nbytes T")


def certain_arrays(file: PyFile, function: Function) -> set[str]:
    """Parameters that are asked for their shape or indexed along two axes, and names that are
    bound once, to an array that NumPy makes."""
    asked: set[str] = set()
    bound: Counter[str] = Counter()
    for node in function.nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in _ONLY_ARRAYS:
                asked.add(node.value.id)
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            if isinstance(node.slice, ast.Tuple):
                asked.add(node.value.id)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound[node.id] += 1
    made = {n for n, count in bound.items() if count == 1} & _made(file, function)
    return ((asked & set(function.parameters)) - bound.keys()) | made


def _made(file: PyFile, function: Function) -> set[str]:
    return {
        name
        for name, value in assigned(function.nodes)
        if isinstance(value, ast.Call) and known(file.callee(value, function)).creates
    }
