"""What calls of known functions do to their arguments: read, change, or hand them on.

The tables say less than NumPy's and Python's documentation: what is not listed may change every
argument and may return any of them.
"""

from __future__ import annotations

#: attributes that are numbers or dtypes, never a part of the array
PLAIN_ATTRIBUTES = frozenset({"shape", "dtype", "size", "ndim", "nbytes", "itemsize", "strides"})

#: methods of texts and containers that return something new and change nothing; those of arrays
#: are in the records of NumPy's functions, as all that is known of these
FRESH_METHODS = frozenset(
    {"index", "count", "join", "format", "upper", "lower"}
    | {"strip", "split", "startswith", "endswith", "replace", "encode", "decode", "bit_length"}
    | {"is_integer", "as_integer_ratio", "hex", "isdigit", "__len__"}
)
#: methods that change nothing and return a part of their object
VIEW_METHODS = frozenset({"items", "keys", "values", "get", "__getitem__", "__iter__"})
#: methods that change their object
CHANGING_METHODS = frozenset(
    {"append", "extend", "insert", "remove", "pop", "clear", "reverse", "update", "add"}
    | {"discard", "setdefault", "popitem", "appendleft", "extendleft", "popleft", "rotate"}
    | {"intersection_update", "difference_update", "symmetric_difference_update", "subtract"}
    | {"__setitem__", "__delitem__", "__iadd__", "__imul__", "__setattr__"}
)

#: builtins that return something new
FRESH_BUILTINS = frozenset(
    {"len", "sum", "abs", "print", "range", "float", "int", "str", "repr", "isinstance", "type"}
    | {"any", "all", "round", "id", "hash", "format", "bool", "complex", "divmod", "pow", "ord"}
    | {"chr", "bin", "hex", "oct", "callable", "issubclass", "hasattr", "bytes", "slice"}
)
#: builtins that return their arguments or parts of them
VIEW_BUILTINS = frozenset(
    {"list", "tuple", "set", "frozenset", "dict", "zip", "enumerate", "reversed", "sorted"}
    | {"iter", "min", "max", "getattr", "memoryview"}
)
#: builtins that reach names which no syntax shows
OPAQUE = frozenset({"exec", "globals", "locals", "vars", "setattr", "delattr", "__import__"})

#: libraries whose functions read their arguments and keep nothing that can be changed through them
READERS = frozenset(
    {"math", "cmath", "json", "pickle", "statistics", "logging", "warnings", "pprint", "numpy"}
    | {"matplotlib", "time", "numba", "sys", "os", "datetime", "fractions", "decimal", "scipy"}
)
#: NumPy functions (besides the ufuncs and the dtypes) and builtins that make a scalar of scalars
SCALAR_BUILTINS = frozenset(
    {"int", "float", "complex", "bool", "str", "len", "round", "abs", "min", "max", "sum", "ord"}
    | {"divmod", "pow", "bytes", "frozenset", "range", "chr", "slice", "type"}
)
#: builtins that make a number or a text of anything
PLAIN_BUILTINS = frozenset({"int", "float", "complex", "bool", "str", "len", "ord", "chr", "hash"})
NUMPY_SCALARS = frozenset(
    {"float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16"}
    | {"uint32", "uint64", "complex64", "complex128", "bool_", "intp", "single", "double", "dtype"}
    | {"finfo", "iinfo", "int_", "float_", "longdouble", "half", "byte", "ubyte", "uint"}
)
