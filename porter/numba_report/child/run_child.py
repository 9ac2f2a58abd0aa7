"""The child process of `porter analyze --run`: a script as `__main__`, with Numba watched.

`python -m porter.numba_report.child.run_child REQUEST`; the request is a JSON object with `script`,
`args`, `reply` (a file that gets one JSON line per event), `raw` and, of a notebook, `text`: its
code cells, joined, without the magics.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
import types
from pathlib import Path

from porter.numba_report.child.cells import run_cells
from porter.numba_report.child.recorder import Recorder
from porter.numba_report.child.watching import AfterImport, is_own, text_of
from porter.source import newer


def main() -> None:
    """Run the script; ends with the script's own exit code."""
    request = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    script = os.path.abspath(request["script"])
    recorder = Recorder(
        Path(request["reply"]), lambda f: f == script or is_own(f), text_of, request["raw"]
    )
    AfterImport(recorder.watch).install()
    newer.read_imports()
    sys.argv = [request["script"], *request["args"]]
    sys.path.insert(0, os.path.dirname(script))
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    try:
        if request["text"] is not None:
            run_cells(request["text"], script, module)
        else:
            module.__file__ = script
            code, names = newer.compiled(Path(script).read_bytes(), script)
            module.__dict__.update(names)
            exec(code, module.__dict__)
    except Exception as error:
        recorder.write(_raised(error, script))
        traceback.print_exc()
        sys.stderr.flush()
        sys.exit(1)


def _raised(error: Exception, script: str) -> dict[str, object]:
    """What the script raised and its own line that did; 0 when it has none."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f.lineno or 0 for f in frames if f.filename == script]
    if isinstance(error, SyntaxError) and error.filename == script:
        lines = [error.lineno or 0]
    text = str(error).strip().splitlines()
    reason = text[0][:200] if text else ""
    return {
        "event": "raised",
        "kind": type(error).__name__,
        "reason": reason,
        "line": lines[-1] if lines else 0,
    }


if __name__ == "__main__":
    main()
