"""What PTX text and the linker's log say about a kernel."""

from __future__ import annotations

import re

#: pi/2 * 2**-64: the last step of the range reduction of float32 sin, cos and tan
_REDUCTION = "0d3BF921FB54442D19"
#: an instruction with or without a predicate; not a directive, a comment or a label
_OPCODE = re.compile(r"(@!?%\w+\s+)?(?P<opcode>[a-z][\w.:]*)\s")
_REGISTER = re.compile(r"%[a-z]+\d+")


def double_instructions(ptx: str) -> int:
    """How many instructions work on float64, those of sin/cos/tan's range reduction apart.

    CUDA's float32 sin, cos and tan reduce large arguments with a 64-bit product that is
    scaled in float64: a conversion, a multiplication by a known constant, a conversion
    back.  Exactly the instructions that hang together with that multiplication are owed.
    """
    doubles = [line for line in map(str.strip, ptx.splitlines()) if _is_double(line)]
    owed: set[int] = set()
    for k, line in enumerate(doubles):
        if _REDUCTION in line and line.startswith("mul"):
            owed |= {k} | _neighbours(doubles, line)
    return len(doubles) - len(owed)


def _is_double(line: str) -> bool:
    found = _OPCODE.match(line)
    return found is not None and ".f64" in found["opcode"]


def _neighbours(doubles: list[str], multiplication: str) -> set[int]:
    """The float64 instructions that make the product's operand or use its result."""
    registers = _REGISTER.findall(multiplication)
    if len(registers) < 2:
        return set()
    result, operand = registers[0], registers[1]
    found = set()
    for k, line in enumerate(doubles):
        names = _REGISTER.findall(line)
        if names[:1] == [operand] or (result in names[1:] and line.startswith("cvt")):
            found.add(k)
    return found


def resources(log: str) -> dict[str, int | None]:
    """registers, spill_bytes and shared_bytes from the log of `ptxas -v` or nvJitLink."""
    registers = [int(n) for n in re.findall(r"[Uu]sed (\d+) registers", log)]
    spills = [int(n) for n in re.findall(r"(\d+) bytes spill (?:stores|loads)", log)]
    shared = [int(n) for n in re.findall(r"(\d+) bytes smem", log)]
    return {
        "registers": max(registers, default=None),
        "spill_bytes": sum(spills) if spills else None,
        "shared_bytes": max(shared, default=0) if registers else None,
    }
