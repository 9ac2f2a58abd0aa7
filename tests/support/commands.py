"""The command line in processes of its own, which are forked where porter is imported already.

Starting Python and importing porter takes most of a second.  A server of each test process does it
once; a command is a fork of it, with its own folder, environment, input and output.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from tests.support.paths import ROOT

#: what commands import when they need it
PRELOADED = (
    "porter.cli", "porter.commands.analyze", "porter.commands.convert", "porter.commands.verify",
    "porter.commands.trace", "porter.convert.files", "porter.convert.function",
    "porter.verify.run",
)  # fmt: skip
Done = subprocess.CompletedProcess[str]


def porter(
    folder: Path,
    *arguments: str,
    given: str = "",
    environment: Mapping[str, str] | None = None,
    seconds: int = 300,
) -> Done:
    """`python -m porter` in a folder, with some input; raises `TimeoutError`."""
    folder = folder.resolve()
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})}
    if os.name != "posix":
        command = [sys.executable, "-m", "porter", *arguments]
        return subprocess.run(
            command, input=given, capture_output=True, text=True, cwd=folder, env=variables,
            timeout=seconds,
        )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="porter-command-") as place:
        files = [Path(place, name) for name in ("in", "out", "err")]
        files[0].write_text(given)
        code = _server().run(
            arguments=arguments, folder=str(folder), files=list(map(str, files)),
            environment=variables, seconds=seconds,
        )  # fmt: skip
        said = [file.read_text("utf-8") for file in files[1:]]
    return subprocess.CompletedProcess(list(arguments), code, *said)


class _Server:
    """A process that forks itself for each command."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", __name__],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        atexit.register(self.close)

    def run(self, **request: Any) -> int:
        """The exit code of a command, negative for a signal."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        code = int(self.process.stdout.readline())
        if code == -signal.SIGALRM:
            raise TimeoutError(f"porter {' '.join(request['arguments'])}")
        return code

    def close(self) -> None:
        """End it; a fork of the tests' process leaves it alone."""
        if os.getpid() == self.owner:
            assert self.process.stdin is not None
            self.process.stdin.close()
            self.process.wait()


@functools.cache
def _server() -> _Server:
    return _Server()


def _serve() -> None:
    """Fork for each line of the input; write the exit code of each command."""
    for name in PRELOADED:
        importlib.import_module(name)
    for line in iter(sys.stdin.readline, ""):
        pid = os.fork()
        if not pid:
            _command(**json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


def _command(
    arguments: list[str],
    folder: str,
    files: list[str],
    environment: dict[str, str],
    seconds: int,
) -> NoReturn:
    """What `python -m porter` does, in this process."""
    code = 1
    try:
        # unless it is caught, the alarm ends the process
        signal.alarm(seconds)
        modes = (os.O_RDONLY, *[os.O_WRONLY | os.O_CREAT | os.O_APPEND] * 2)
        for number, (file, mode) in enumerate(zip(files, modes, strict=True)):
            os.dup2(os.open(file, mode, 0o600), number)
        sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False), "utf-8")
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.path[0] = folder
        sys.argv = ["porter", *arguments]
        cli = importlib.import_module("porter.cli")
        cli.main()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve()
