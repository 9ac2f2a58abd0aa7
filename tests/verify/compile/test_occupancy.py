"""porter's occupancy against NVIDIA's own calculator, a C header in the runtime's wheel."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from porter.verify.compile.occupancy import ARCHITECTURES, blocks_per_sm, occupancy
from porter.verify.report import ptx_lines
from porter.verify.run import verify_module
from tests.support.machine import compiler
from tests.support.shell import Shell

PROGRAM = """
#include <cstdio>
#include <cstddef>
#include "cuda_occupancy.h"

int main() {
    int major, minor, threads, regs, most; long shared, sm_shared, reserved;
    while (scanf("%d %d %d %ld %ld %d %d %ld", &major, &minor, &most, &sm_shared, &reserved,
                 &threads, &regs, &shared) == 8) {
        cudaOccDeviceProp p = {};
        p.computeMajor = major; p.computeMinor = minor;
        p.maxThreadsPerBlock = 1024; p.maxThreadsPerMultiprocessor = most;
        p.regsPerBlock = p.regsPerMultiprocessor = 65536; p.warpSize = 32;
        p.sharedMemPerBlock = 49152; p.sharedMemPerMultiprocessor = sm_shared;
        p.sharedMemPerBlockOptin = sm_shared - reserved; p.reservedSharedMemPerBlock = reserved;
        p.numSms = 1;
        cudaOccFuncAttributes f = {};
        f.maxThreadsPerBlock = 1024; f.numRegs = regs; f.sharedSizeBytes = shared;
        f.numBlockBarriers = 1;
        f.partitionedGCConfig = PARTITIONED_GC_OFF;
        cudaOccDeviceState s = {};
        cudaOccResult r = {};
        int error = cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &f, &s, threads, 0);
        printf("%d\\n", error ? -error : r.activeBlocksPerMultiprocessor);
    }
}
"""


def test_against_the_header(tmp_path: Path) -> None:
    headers = list(Path(sysconfig.get_path("purelib")).glob("nvidia/*/include/cuda_occupancy.h"))
    compiler = shutil.which("g++") or shutil.which("c++")
    if not headers or compiler is None:
        pytest.skip("needs nvidia-cuda-runtime's header and a C++ compiler")
    source, program = tmp_path / "ask.cpp", tmp_path / "ask"
    source.write_text(PROGRAM)
    subprocess.run(
        [compiler, "-w", "-I", str(headers[0].parent), str(source), "-o", str(program)], check=True
    )
    questions = [
        (arch, threads, registers, shared)
        for arch in ARCHITECTURES
        for threads in (1, 32, 33, 96, 128, 256, 384, 512, 1000, 1024)
        for registers in (8, 16, 31, 32, 33, 40, 64, 65, 96, 128, 168, 255)
        for shared in (0, 1, 1024, 2048, 8192, 16384, 33000, 48 * 1024)
    ]
    lines = []
    for arch, threads, registers, shared in questions:
        a = ARCHITECTURES[arch]
        own = f"{a.capability[0]} {a.capability[1]} {a.threads} {a.shared} {a.reserved}"
        lines.append(f"{own} {threads} {registers} {shared}")
    ran = subprocess.run(
        [str(program)], input="\n".join(lines), capture_output=True, text=True, check=True
    )
    theirs = list(map(int, ran.stdout.split()))
    wrong = [
        (question, blocks_per_sm(*question), their)
        for question, their in zip(questions, theirs, strict=True)
        if blocks_per_sm(*question) != their
    ]
    assert wrong == []


def test_known_figures() -> None:
    # from NVIDIA's table: 32 registers and 256 threads fill an SM of 2048 threads
    assert occupancy("sm_80", 256, 32, 0) == 1.0
    assert occupancy("sm_80", 256, 64, 0) == 0.5
    assert occupancy("sm_86", 1024, 32, 0) == pytest.approx(2 / 3)
    assert occupancy("sm_75", 128, 16, 40_000) == 0.125
    assert occupancy("sm_90", 1024, 128, 0) == 0.0


@pytest.mark.skipif(compiler() is None, reason="no CUDA compiler is installed")
def test_a_block_that_does_not_fit_fails(shell: Shell) -> None:
    """The launch would be an error; the simulator and the emulator know of no registers."""
    text = "import numpy as np\n\n\ndef f(x, o):\n    return np.sqrt(((x - o) ** 2).sum(axis=1))\n"
    shell.write("f.py", text)
    assert shell.convert("f.py", "--signature", "float64[:, :], float64[:]", "--no-verify") == 0
    path = shell.folder / "f_cuda.py"
    path.write_text(path.read_text().replace("\nTHREADS = 256", "\nTHREADS = 1024"))
    (found,) = verify_module(path, on=("ptx",), timeout=5)
    unfit = [e for e in found.evidence if e.detail.get("unfit")]
    assert unfit and found.failed and all(e.detail["occupancy"] == 0 for e in unfit)
    (line, *_) = ptx_lines(unfit)
    assert line.startswith(
        f"cannot be launched for {unfit[0].detail['arch']}: f_rows: a block of 1024"
    )
