"""The code cells of a notebook, run one after the other as Jupyter runs them, without IPython."""

from __future__ import annotations
import __future__

import ast
import asyncio
import inspect
import linecache
import os
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any

from porter.source import newer

_FUTURES = {name: getattr(__future__, name).compiler_flag for name in __future__.all_feature_names}


class Shell:
    """What `get_ipython()` returns: magics are left out, here as where they begin with `%`."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None


def display(*objects: Any, **options: Any) -> None:
    """Print what a notebook would show."""
    print(*objects, sep="\n")


def run_cells(text: str, path: str, module: ModuleType) -> None:
    """Run the joined cells of the notebook at `path`, whose folder becomes the current one."""
    os.chdir(os.path.dirname(path))
    # Numba and tracebacks read the source, which the file does not hold as it is run
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    module.__dict__.update(display=display, get_ipython=Shell)
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    loop = asyncio.new_event_loop()
    try:
        tree, names = newer.runnable(text, path)
        module.__dict__.update(names)
        for statement in tree.body:
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                # may stand in any cell, and holds in those that follow
                for alias in statement.names:
                    flags |= _FUTURES.get(alias.name, 0)
            one = ast.Module([statement], [])
            _run(compile(one, path, "exec", flags, dont_inherit=True), module, loop)
    finally:
        loop.close()


def _run(code: CodeType, module: ModuleType, loop: asyncio.AbstractEventLoop) -> None:
    if code.co_flags & inspect.CO_COROUTINE:
        loop.run_until_complete(eval(code, module.__dict__))
    else:
        exec(code, module.__dict__)
