"""Random numbers: what follows from them whatever they are. Their distributions have tests of
their own (`tests/verify/test_distributions.py`, `tests/end_to_end/test_random.py`)."""

from tests.numpy_names.case import Row, refused

_SIZED = "normal uniform exponential"
_PLAIN = "random standard_normal"


def _row(*cases: str, **options: object) -> Row:
    return Row(*cases, dtypes="f8", special="", **options)


ROWS = {
    "numpy.random.default_rng": _row("v + 0.0 * np.random.default_rng(3).random(v.shape[0])"),
    "numpy.random.RandomState": _row("v + 0.0 * np.random.RandomState(3).uniform(size=v.shape)"),
    "numpy.random.seed": _row("np.random.seed(3)\nreturn v + 0.0 * np.random.random(v.shape[0])"),
    "numpy.random.rand": _row("v + 0.0 * np.random.rand(v.shape[0])"),
    "numpy.random.randn": _row("A + 0.0 * np.random.randn(A.shape[0], A.shape[1])"),
    "numpy.random.randint": _row("v + np.random.randint(0, 1, v.shape[0])",
                                 "np.random.randint(2, 3, size=v.shape[0])"),
    "numpy.random.Generator.integers": _row(
        "v + np.random.default_rng().integers(1, size=v.shape[0])",
        "np.random.default_rng().integers(4, 4, v.shape[0], endpoint=True)"),
}  # fmt: skip
for _owner, _call in (("numpy.random", "np.random"),
                      ("numpy.random.Generator", "np.random.default_rng()")):  # fmt: skip
    for _name in _SIZED.split():
        ROWS[f"{_owner}.{_name}"] = _row(f"v + 0.0 * {_call}.{_name}(1.0, size=v.shape)",
                                         f"v * ({_call}.{_name}(0.5) > -1e9)")  # fmt: skip
    for _name in _PLAIN.split():
        ROWS[f"{_owner}.{_name}"] = _row(f"v + 0.0 * {_call}.{_name}(v.shape[0])",
                                         f"v * ({_call}.{_name}() > -1e9)")  # fmt: skip
    ROWS[f"{_owner}.choice"] = _row(f"{_call}.choice(np.array([2.0, 2.0]), v.shape[0])",
                                    f"{_call}.choice(1, size=v.shape[0])")  # fmt: skip
for _name in ("random_sample", "ranf", "sample", "standard_exponential"):
    ROWS[f"numpy.random.{_name}"] = _row(f"v + 0.0 * np.random.{_name}(v.shape[0])")
ROWS["numpy.random.Generator.standard_exponential"] = _row(
    "v + 0.0 * np.random.default_rng().standard_exponential(v.shape[0], dtype=np.float32)"
)
for _name, _call in (("shuffle", "shuffle(v)"), ("permutation", "permutation(v)"),
                     ("poisson", "poisson(3.0, v.shape)")):  # fmt: skip
    ROWS[f"numpy.random.{_name}"] = refused(
        "draw in front of the function and pass the result", f"np.random.{_call}"
    )
