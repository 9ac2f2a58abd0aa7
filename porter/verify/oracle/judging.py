"""Whether two exceptions are the same refusal, and other questions about one call."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from porter.verify.engines.launches import LaunchError
from porter.verify.engines.scheduler import from_kernel
from porter.verify.inputs.arguments import Inputs
from porter.verify.inputs.cases import CaseSpec
from porter.verify.oracle import calls, compare

#: with an axis no longer than this, a plain ValueError where NumPy goes on is a refusal
SHORT = 3
#: what NumPy says of a mask with other axes than the array
MASK_MISMATCH = "boolean index did not match"
#: what a host function says of an axis that is too short for a branch, whether it is taken or not
_IN_A_BRANCH = "in a branch that data decide"
#: what a host function says of a power of Python's integers, which have no bounds
_LARGE_POWER = "is too large for an integer of a kernel"
#: what a host function says of arguments that share memory
_ONE_ARRAY = ("are one array: pass a copy", "overlap in part")
#: and of one with gaps, of which `x.ravel()` is a copy that no store reaches
_CONTIGUOUS = "must be contiguous"


def has_changed(outcome: compare.Outcome, inputs: Inputs) -> bool:
    """Whether a call changed an array argument: the lists that were given instead do not."""
    pairs = zip(inputs.arguments, outcome.arguments, strict=True)
    return any(
        not np.array_equal(a.value, after, equal_nan=a.value.dtype.kind in "fc")
        for a, after in pairs
        if isinstance(a.value, np.ndarray)
    )


def is_empty(inputs: Inputs, outcome: compare.Outcome) -> bool:
    """Whether there is nothing to compute: an argument has no elements, or no result has any."""
    found, _ = calls.fetched(outcome, inputs.form)
    results = [v for _, v in compare.parts(replace(found, arguments=[]), [])]
    return not inputs.smallest or not any(np.size(v) for v in results)


def asks_for_copy(inputs: Inputs, error: BaseException | None) -> bool:
    """Whether a ValueError asks for a copy of an argument that shares its memory with another, or
    that has gaps."""
    if not isinstance(error, ValueError) or isinstance(error, LaunchError) or from_kernel(error):
        return False
    gaps = inputs.form == "device-view" or any(a.layout != "C" for a in inputs.arguments)
    shared = any(a.like for a in inputs.arguments)
    text = str(error)
    return (gaps and _CONTIGUOUS in text) or (shared and any(w in text for w in _ONE_ARRAY))


def refuses_sizes(inputs: Inputs, actual: compare.Outcome) -> bool:
    """An error about arrays so short that NumPy broadcasts, or has nothing to do, or about sizes
    that were found by trying: an argument that the original does not look at may have any.
    Or about a power that is no integer of a kernel, or about a branch that data decide.

    A mask without elements selects from whatever array, as NumPy has it.
    """
    empty = inputs.smallest == 0 and MASK_MISMATCH in str(actual.error)
    same = not isinstance(actual.error, LaunchError) and not from_kernel(actual.error)
    branch = isinstance(actual.error, IndexError) and _IN_A_BRANCH in str(actual.error)
    return (
        same
        and (branch or isinstance(actual.error, ValueError) or empty)
        and (
            inputs.smallest <= SHORT
            or inputs.counts_few(SHORT)
            or inputs.found
            or branch
            or _LARGE_POWER in str(actual.error)
        )
        and not (actual.arguments and has_changed(actual, inputs))
    )


def leaves_reals(inputs: Inputs, expected: compare.Outcome, actual: compare.Outcome) -> bool:
    """A TypeError where numbers of the host became complex, with which kernels do not compute.

    Python makes complex numbers of `(-1.5) ** 0.5`: by the values and not by the types.
    """
    names = [a.name for a in inputs.arguments]
    given = (np.asarray(a.value).dtype.kind for a in inputs.arguments if a.value is not None)
    complex_now = any(np.iscomplexobj(v) for _, v in compare.parts(expected, names))
    refused = isinstance(actual.error, TypeError) and "complex" in str(actual.error)
    return refused and not from_kernel(actual.error) and complex_now and "c" not in set(given)


def refuses_fixed(spec: CaseSpec, form: str, error: BaseException | None) -> bool:
    """A read-only array, or a list, may be refused although nothing would be stored now."""
    refused = isinstance(error, (ValueError, TypeError)) and not isinstance(error, LaunchError)
    fixed = spec.layout in ("readonly", "broadcast")
    # a list has the dtype that NumPy makes of its numbers, or results have their types
    words = ("is changed in place", "has dtype", "is a list, and the results")
    fixed |= form == "list" and any(w in str(error) for w in words)
    return fixed and refused and not from_kernel(error)
