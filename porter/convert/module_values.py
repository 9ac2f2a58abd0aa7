"""Values of constants, computed by a child process that runs what they need of their module."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from porter.resolve.computed import Computed
from porter.verify.process import Child

#: seconds that the statements of one constant may take
PATIENCE = 60.0


@dataclass
class ModuleValues:
    """Answers for the constants of files, each computed once.

    With `run_module` all of a module runs, as it does when Python imports it; else only the
    slice of its top level that binds or changes the constant.  `seconds` limits one answer.
    """

    run_module: bool = False
    seconds: float = PATIENCE
    _known: dict[tuple[str, str], Computed] = field(default_factory=dict)

    def __call__(self, path: str, text: str, name: str) -> Computed:
        """The value of the constant `name` of the file `path` that holds `text`."""
        key = (path, name)
        if key not in self._known:
            self._known[key] = self._computed(path, text, name)
        return self._known[key]

    def _computed(self, path: str, text: str, name: str) -> Computed:
        with tempfile.TemporaryDirectory(prefix="porter-", ignore_cleanup_errors=True) as folder:
            request, reply = Path(folder) / "request.json", Path(folder) / "reply.json"
            place = str(Path(path if path != "-" else "stdin.py").resolve())
            asked = {
                "path": place, "text": text, "name": name, "run_module": self.run_module,
                "reply": str(reply), "limit": self.seconds + 10,
            }  # fmt: skip
            request.write_text(json.dumps(asked), "utf-8")
            child = Child(
                "porter.convert.module_child", [str(request)], {}, Path(folder) / "child.log"
            )
            try:
                ended = child.wait(self.seconds)
            finally:
                child.stop()
            if not ended:
                why = "takes too much memory" if child.large else f"takes over {self.seconds:g} s"
                return Computed(why=f"{why} to compute")
            if not reply.exists():
                said = child.said() or child.ended()
                return Computed(why=f"cannot be computed: {said}")
            return Computed(**json.loads(reply.read_text("utf-8")))
