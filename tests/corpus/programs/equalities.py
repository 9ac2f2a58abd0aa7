"""What is equal, and what is in what: numbers, texts, dtypes, tuples, ranges and arrays."""

import numpy as np


def first_in_a_tuple(i):
    """A number that the data decides is compared with each."""
    if i[0] in (1.0, 2.0, 3.0, 4.0, 5, 6, 7, 8, 9, 10):
        return i * 2
    return i + 1


def count_in_a_tuple(x, n):
    """The host can tell."""
    if n in (1, 2):
        return x * 2.0
    return x + 1.0


def codes_left_out(i):
    """A thread compares its own element."""
    out = np.zeros_like(i)
    for k in range(i.shape[0]):
        if i[k] not in (1, 2, -3):
            out[k] = 1
    return out


def itself_in_a_tuple(x, a):
    """Python asks whether it is the same object first: NaN is in a tuple that holds it."""
    if a in (a, 0.0):
        return x + 1.0
    return x


def number_in_an_array(x, a):
    """Whether any element is equal."""
    if a in x:
        return x * 2.0
    return x


def number_not_in_rows(i, n):
    """Of two dimensions, any element as well."""
    return i + 1 if n not in i else i - 1


def odd_in_a_range(x, n):
    """A range has a first number, a last one and a step."""
    if n in range(1, 10, 2):
        return x * n
    if n not in range(8, -1, -4):
        return x
    return -x


def sizes_in_a_range(x):
    """Elements that are no whole numbers are in no range."""
    out = np.zeros_like(x)
    for k in range(x.shape[0]):
        if 4.0 * x[k] in range(x.shape[0]):
            out[k] = 1.0
    return out


def mode_in_a_tuple(x, mode="same"):
    """Texts are compared when the function is converted."""
    if mode not in ("same", "valid"):
        raise ValueError("mode")
    return x * 2.0 if mode == "same" else x


def axis_in_a_tuple(x, axis=0):
    """The kernels are made for the default."""
    if axis not in (0, 1):
        raise ValueError("axis")
    return x.sum(axis)


def dtype_named(x):
    """The kernels of this answer serve one dtype."""
    if x.dtype == "float64":
        return x * 2.0
    return x + 1.0


def dtype_of_numpy(x):
    """As `np.float64`, and Python's float is the same."""
    return x * 2.0 if x.dtype == np.float64 and x.dtype == float else x + 1.0


def dtypes_unlike(x, y):
    """Two arrays may have one dtype or two."""
    if x.dtype != y.dtype:
        return x * 2.0
    return x + y


def dtype_in_a_tuple(x):
    """One of several."""
    if x.dtype in (np.float32, np.float16):
        return x * 2.0
    return x


def dtype_of_integers(i):
    """The kind is a letter; all integers have it."""
    if i.dtype.kind in "iu":
        return i * 2
    return i


def size_of_elements(x):
    """In bytes."""
    return x * x.dtype.itemsize if x.dtype.name != "float16" else x


def tuples_of_two(x, y):
    """Item by item, texts too."""
    if ("a", x.shape[0]) == ("b", y.shape[0]):
        return x * 2.0
    if ("a", x.shape[0]) == ("a", y.shape[0]):
        return x + 2.0
    return x + 1.0


def array_beside_a_tuple(i):
    """An array is compared with each item of it."""
    return i == (1, 2, 3)


def any_of_two(x, a, b):
    """The host asks for each."""
    if any(v > 0.5 for v in (a, b)):
        return x * 2.0
    return x + 1.0


def all_of_an_element(x):
    """A thread does."""
    out = np.zeros_like(x)
    for k in range(x.shape[0]):
        if all([x[k] > 0.0, x[k] < 1.0]) or any((x[k] > 2.0, x[k] == -1.0)):
            out[k] = x[k]
    return out


def mode_given(x, mode="", scale=None):
    """Texts, tuples and None are true or not."""
    kind = mode or "same"
    if mode and x.shape[0] > 3:
        return x
    if not x.shape or scale is not None:
        return x + 1.0
    return x * 2.0 if kind == "same" and not mode else x


def bytes_in_a_range(i):
    """A difference of bytes would wrap around."""
    out = np.zeros_like(i)
    for k in range(i.shape[0]):
        if i[k] in range(-100, 400, 7) or i[k] in range(120, -1000, -9) or i[k] in range(-4, 3):
            out[k] = 1
    return out


def unsigned_in_a_range(i):
    """Nor is a large number a negative one."""
    out = np.zeros_like(i)
    for k in range(i.shape[0]):
        if i[k] in range(200, 3, -5) or i[k] in range(-3, 2):
            out[k] = 1
    return out


def nan_in_two_tuples(x, a):
    """Tuples, too, ask for identity first."""
    return x + 1.0 if (a, 1) == (a, 1) else x
