"""np.result_type for every pair of dtypes, by `python -m tests.tools.make_promotion`."""

_ROWS = {
    "bool": "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128",
    "int8": "int8 int8 int16 int32 int64 int16 int32 int64 float64 float16 float32 float64 complex64 complex128",
    "int16": "int16 int16 int16 int32 int64 int16 int32 int64 float64 float32 float32 float64 complex64 complex128",
    "int32": "int32 int32 int32 int32 int64 int32 int32 int64 float64 float64 float64 float64 complex128 complex128",
    "int64": "int64 int64 int64 int64 int64 int64 int64 int64 float64 float64 float64 float64 complex128 complex128",
    "uint8": "uint8 int16 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128",
    "uint16": "uint16 int32 int32 int32 int64 uint16 uint16 uint32 uint64 float32 float32 float64 complex64 complex128",
    "uint32": "uint32 int64 int64 int64 int64 uint32 uint32 uint32 uint64 float64 float64 float64 complex128 complex128",
    "uint64": "uint64 float64 float64 float64 float64 uint64 uint64 uint64 uint64 float64 float64 float64 complex128 complex128",
    "float16": "float16 float16 float32 float64 float64 float16 float32 float64 float64 float16 float32 float64 complex64 complex128",
    "float32": "float32 float32 float32 float64 float64 float32 float32 float64 float64 float32 float32 float64 complex64 complex128",
    "float64": "float64 float64 float64 float64 float64 float64 float64 float64 float64 float64 float64 float64 complex128 complex128",
    "complex64": "complex64 complex64 complex64 complex128 complex128 complex64 complex64 complex128 complex128 complex64 complex64 complex128 complex64 complex128",
    "complex128": "complex128 complex128 complex128 complex128 complex128 complex128 complex128 complex128 complex128 complex128 complex128 complex128 complex128 complex128",
}

#: (dtype name, dtype name) to the name of their common dtype
PROMOTION: dict[tuple[str, str], str] = {
    (a, b): common for a, row in _ROWS.items() for b, common in zip(_ROWS, row.split(), strict=True)
}
