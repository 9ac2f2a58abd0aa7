"""What assembling a PTX text says of the registers that its kernel has.

A GPU's driver assembles the text of a kernel as a whole program.  So does `ptxas`.  nvJitLink,
which stands in where there is no `ptxas`, makes objects that others may be linked to: it hands out
a third more registers for tiles of a matrix product.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

#: seconds that `ptxas` may take
_PATIENCE = 120.0


def link_log(ptx: str, arch: str) -> str:
    """The log for a PTX text; '' where nothing is installed that assembles it."""
    return _assembled(ptx, arch) or _linked(ptx, arch)


@cache
def _ptxas() -> str:
    """The program in NVIDIA's wheels, of the compiler's version; '' if there is none."""
    spec = find_spec("nvidia")
    name = "ptxas.exe" if os.name == "nt" else "ptxas"
    for folder in (spec and spec.submodule_search_locations) or ():
        for found in sorted(Path(folder).glob(f"*/bin/{name}"), reverse=True):
            return str(found)
    return ""


def _assembled(ptx: str, arch: str) -> str:
    """What `ptxas` says; '' if it cannot be used, or does not know the text's version."""
    if not _ptxas():
        return ""
    with tempfile.TemporaryDirectory(prefix="porter-", ignore_cleanup_errors=True) as folder:
        text = Path(folder) / "kernel.ptx"
        text.write_text(ptx, "utf-8")
        command = [_ptxas(), "-v", f"-arch={arch}", "-o", f"{folder}/kernel.cubin", str(text)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_PATIENCE, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
    return "" if done.returncode else done.stdout + done.stderr


def _linked(ptx: str, arch: str) -> str:
    try:
        from cuda.bindings import nvjitlink
    except ImportError:
        return ""
    handle = nvjitlink.create(2, [f"-arch={arch}", "-verbose"])
    try:
        data = ptx.encode()
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, data, len(data), "kernel")
        nvjitlink.complete(handle)
        log = bytearray(nvjitlink.get_info_log_size(handle))
        nvjitlink.get_info_log(handle, log)
    finally:
        nvjitlink.destroy(handle)
    return log.decode("utf-8", "replace")
