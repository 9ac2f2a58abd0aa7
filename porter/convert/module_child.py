"""The child process that computes one constant of a module.

`python -m porter.convert.module_child REQUEST`: the request is a JSON object with `path`, `text`,
`name`, `run_module`, `limit` (seconds) and `reply`, the file for the fields of a `Computed`.
"""

from __future__ import annotations

import faulthandler
import json
import math
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from porter.verify.limits import restrict
from porter.verify.oracle.original import load

#: elements of the largest array that is written down
MOST = 1000


class NoText(Exception):
    """A value that no expression of literals and NumPy gives; the text says what it is."""


def spelled(value: Any) -> str:
    """An expression of literals and `np` whose value is this one. Raises `NoText`."""
    if value is None or isinstance(value, (bool, str)):
        return repr(value)
    if type(value) is int:
        return repr(value)
    if type(value) is float:
        return _float(value)
    if type(value) is complex:
        if not (math.isfinite(value.real) and math.isfinite(value.imag)):
            raise NoText("is a complex number that is not finite")
        return f"complex({value.real!r}, {value.imag!r})"
    if isinstance(value, np.generic):
        return f"np.{_dtype(value.dtype)}({spelled(value.item())})"
    if isinstance(value, np.ndarray):
        return _array(value)
    if type(value) in (tuple, list):
        parts = ", ".join(map(spelled, value))
        if type(value) is list:
            return f"[{parts}]"
        return f"({parts},)" if len(value) == 1 else f"({parts})"
    if isinstance(value, np.dtype):
        return f"np.{_dtype(value)}"
    if isinstance(value, type) and issubclass(value, np.generic):
        return f"np.{value.__name__}"
    for builtin in (int, float, bool, complex):
        if value is builtin:
            return str(builtin.__name__)
    if isinstance(value, np.ufunc):
        known: Any = value
        if getattr(np, known.__name__, None) is value:
            return f"np.{known.__name__}"
    raise NoText(f"is {_a(type(value).__name__)}")


def _float(value: float) -> str:
    if math.isnan(value):
        return "np.nan"
    if math.isinf(value):
        return "np.inf" if value > 0 else "-np.inf"
    return repr(value)


def _array(value: np.ndarray[Any, Any]) -> str:
    if type(value) is not np.ndarray:
        raise NoText(f"is {_a(type(value).__name__)}")
    if value.size > MOST or not value.size:
        raise NoText(f"is an array of shape {value.shape}")
    return f"np.array({spelled(value.tolist())}, dtype=np.{_dtype(value.dtype)})"


def _dtype(dtype: np.dtype[Any]) -> str:
    if dtype.kind not in "biufc" or dtype.name == "longdouble":
        raise NoText(f"has the dtype {dtype}")
    return "bool_" if dtype.kind == "b" else dtype.name


def _a(name: str) -> str:
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def computed(path: Path, text: str, name: str, run_module: bool) -> dict[str, str]:
    """The fields of a `Computed`: the value after two runs that agree."""
    texts = []
    for _ in range(2):
        original = load(path, text, [name], run_module=run_module)
        if name not in original.namespace:
            return {"why": f"has no value: {original.missing.get(name, 'nothing binds it')}"}
        # a statement that fails half-way may leave a value that Python would not
        if original.missing:
            return {"why": f"has no value: {next(iter(original.missing.values()))}"}
        try:
            texts.append(spelled(original.namespace[name]))
        except NoText as error:
            return {"why": str(error)}
    if texts[0] != texts[1]:
        return {"why": f"differs from run to run ({texts[0][:30]}, {texts[1][:30]})"}
    return {"text": texts[0]}


def main() -> None:
    """Answer one request."""
    request = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    faulthandler.dump_traceback_later(float(request["limit"]), exit=True)
    restrict()
    reply = Path(request["reply"])
    path = Path(request["path"])
    sys.path.append(os.path.dirname(path))
    try:
        found = computed(path, request["text"], request["name"], bool(request["run_module"]))
    except Exception as error:
        found = {"why": f"cannot be computed: {type(error).__name__}: {error}"}
    part = reply.with_suffix(".part")
    part.write_text(json.dumps(found), "utf-8")
    part.replace(reply)


if __name__ == "__main__":
    main()
