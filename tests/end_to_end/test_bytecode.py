"""What children keep of what they import: bytecode of porter's modules, none beside the user's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HELPER = "FACTOR = 2.0\n\n\ndef doubled(x):\n    return FACTOR * x\n"
SOURCE = "from helper import doubled\n\n\ndef twice(x):\n    return doubled(x) + x\n"


def test_nothing_is_written_beside_the_users_files(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "source.py").write_text(SOURCE)
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "porter", "convert", "source.py", "--signature", "float64[:]"]
    for call in ([*command, "-o", "made.py"], [sys.executable, "-m", "porter", "bench", "made.py"]):
        done = subprocess.run(call, cwd=tmp_path, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["helper.py", "made.py", "source.py"]
