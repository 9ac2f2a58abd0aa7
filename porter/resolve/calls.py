"""What calls of known functions do to their arguments: read, change, or hand them on.

The tables say less than NumPy's and Python's documentation: what is not listed may change every
argument and may return any of them.
"""

from __future__ import annotations

#: attributes that are numbers or dtypes, never a part of the array
PLAIN_ATTRIBUTES = frozenset({"shape", "dtype", "size", "ndim", "nbytes", "itemsize", "strides"})

#: methods of arrays and containers that return something new and change nothing
FRESH_METHODS = frozenset(
    {"sum", "mean", "std", "var", "min", "max", "prod", "dot", "copy", "astype", "tolist", "item"}
    | {"any", "all", "argmax", "argmin", "argsort", "nonzero", "cumsum", "cumprod", "round", "clip"}
    | {"repeat", "take", "compress", "searchsorted", "trace", "ptp", "conj", "conjugate", "flatten"}
    | {"tobytes", "tofile", "dump", "dumps", "index", "count", "join", "format", "upper", "lower"}
    | {"strip", "split", "startswith", "endswith", "replace", "encode", "decode", "bit_length"}
    | {"is_integer", "as_integer_ratio", "hex", "isdigit", "__len__"}
)
#: methods that change nothing and return a part of their object
VIEW_METHODS = frozenset(
    {"reshape", "ravel", "transpose", "view", "swapaxes", "squeeze", "diagonal", "items"}
    | {"keys", "values", "get", "__getitem__", "__iter__"}
)
#: methods that change their object
CHANGING_METHODS = frozenset(
    {"append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "update", "add"}
    | {"discard", "setdefault", "popitem", "fill", "put", "itemset", "partition", "resize"}
    | {"setfield", "setflags", "byteswap", "appendleft", "extendleft", "popleft", "rotate"}
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
#: functions of NumPy that change their first argument
NUMPY_CHANGES = frozenset(
    {"fill_diagonal", "put", "place", "copyto", "put_along_axis", "putmask", "shuffle", "at"}
)
#: functions of NumPy that may return their argument or a view of it
NUMPY_VIEWS = frozenset(
    {"asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "array", "reshape", "ravel"}
    | {"transpose", "permute_dims", "swapaxes", "moveaxis", "rollaxis", "squeeze", "expand_dims"}
    | {"atleast_1d", "atleast_2d", "atleast_3d", "broadcast_to", "broadcast_arrays", "diagonal"}
    | {"diag", "real", "imag", "split", "array_split", "hsplit", "vsplit", "dsplit", "require"}
    | {"flip", "fliplr", "flipud", "rot90", "nan_to_num", "meshgrid", "as_strided", "frombuffer"}
    | {"sliding_window_view", "matrix_transpose", "unstack", "nditer", "ndenumerate", "asmatrix"}
    | {"real_if_close", "trim_zeros", "from_dlpack", "astype", "shuffle", "copyto"}
)
_UNARY = """
negative positive absolute abs fabs sign exp exp2 expm1 log log2 log10 log1p sqrt square cbrt
reciprocal sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh degrees radians
deg2rad rad2deg floor ceil trunc rint invert logical_not isnan isinf isfinite signbit conj
conjugate spacing modf frexp
"""
_BINARY = """
add subtract multiply divide true_divide floor_divide power remainder mod fmod arctan2 hypot
maximum minimum fmax fmin bitwise_and bitwise_or bitwise_xor left_shift right_shift equal not_equal
less less_equal greater greater_equal logical_and logical_or logical_xor logaddexp logaddexp2
copysign nextafter ldexp heaviside gcd lcm float_power divmod matmul vecdot
"""
#: how many arguments of a ufunc are read: the next one is where it stores
UFUNC_INPUTS = dict.fromkeys(_UNARY.split(), 1) | dict.fromkeys(_BINARY.split(), 2)
#: NumPy functions (besides the ufuncs and the dtypes) and builtins that make a scalar of scalars
SCALAR_BUILTINS = frozenset(
    {"int", "float", "complex", "bool", "str", "len", "round", "abs", "min", "max", "sum", "ord"}
    | {"divmod", "pow", "bytes", "frozenset", "range", "chr", "slice", "type"}
)
NUMPY_SCALARS = frozenset(
    {"float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16"}
    | {"uint32", "uint64", "complex64", "complex128", "bool_", "intp", "single", "double", "dtype"}
    | {"finfo", "iinfo", "int_", "float_", "longdouble", "half", "byte", "ubyte", "uint"}
)
