"""The child process that compiles kernels to PTX, without a GPU.

It imports the compiler at once (see `backends`), then waits for lines on standard input: each is
the path of a JSON request with, for each function, the kernels and argument types that the
simulator saw.
"""

from __future__ import annotations

import faulthandler
import gc
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from porter.verify.compile import texts
from porter.verify.compile.assembly import link_log
from porter.verify.compile.backends import BACKENDS, Numba, backend, version
from porter.verify.compile.occupancy import ARCHITECTURES, occupancy
from porter.verify.compile.ptx_report import double_instructions, resources
from porter.verify.evidence import FAILED, PASSED, SKIPPED
from porter.verify.limits import restrict

#: what compilers say of an architecture that they do not know, or no longer
_UNKNOWN = ("CCSupportError", "UNSUPPORTED_ARCH")
_OPTIONS = ("fastmath", "opt", "debug", "lineinfo")


def prepare() -> str:
    """Import `numba.cuda`; the reason why nothing can be compiled, or ''."""
    return _prepared("numba-cuda")[1]


def _prepared(name: str) -> tuple[Numba | None, str]:
    try:
        return backend(name), ""
    except Exception as error:
        return None, _reason(name, error)


def _reason(name: str, error: Exception) -> str:
    # start-up: only a compiler that cannot be used needs its version
    import numpy

    said = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    newer = tuple(int(n) for n in numpy.__version__.split(".")[:2]) >= (2, 5)
    if not version(name):
        said = f"no CUDA compiler found ({name} is not installed)"
    elif newer and "numpy" in said and name == "numba-cuda":
        said = f"numba-cuda cannot work with NumPy {numpy.__version__}"
    else:
        said = f"no CUDA compiler found ({said})"
    return f"{said}; install: {BACKENDS[name]}"


def chosen(launches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each kernel and dtypes, the most and the least contiguous launch."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for launch in launches:
        dtypes = [t.get("array") or t for t in launch["types"]]
        groups.setdefault(f"{launch['kernel']} {dtypes}", []).append(launch)
    picked = []
    for group in groups.values():
        group.sort(key=lambda launch: sum(t.get("layout") == "C" for t in launch["types"]))
        picked += [group[-1], group[0]] if group[0] != group[-1] else [group[-1]]
    return picked


def single(launch: dict[str, Any]) -> bool:
    """Whether all arrays are float32 (at least one), integers or bools."""
    dtypes = [t["array"] for t in launch["types"] if "array" in t]
    whole = all(d == "float32" or d.startswith(("int", "uint", "bool")) for d in dtypes)
    return whole and "float32" in dtypes


class Module:
    """The generated module with its own block sizes; only its definitions are executed."""

    def __init__(self, path: Path, place: Path, compiler: Numba) -> None:
        self.compiler, self.texts = compiler, ""
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        self.module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = self.module
        sys.path.append(str(place.parent))
        # imports Numba's CUDA target, which may be missing where nothing is compiled
        from porter.verify import generated
        from porter.verify.compile import ufuncs
        from porter.verify.engines.cupy import stand_in

        # nothing is written beside the user's modules
        sys.dont_write_bytecode = True
        text = path.read_text("utf-8")
        if stand_in.needed(text):
            stand_in.install()
        compiler.install(text)
        tree, _ = generated.definitions(text, path)
        if ufuncs.for_cuda(tree):
            ufuncs.rewrite(tree, "_porter_ufunc", "_porter_helper")
            vars(self.module).update(device_ufuncs(compiler))
        exec(compile(tree, str(path), "exec", dont_inherit=True), vars(self.module))

    def ptx(self, launch: dict[str, Any], arch: str) -> str:
        """The PTX of a kernel for a launch's types; raises what the compiler raises."""
        return self.lowered(launch, arch)()

    def lowered(self, launch: dict[str, Any], arch: str) -> Callable[[], str]:
        """A kernel whose types are inferred: a function, for any thread, that gives its PTX.

        Both raise what the compiler raises.
        """
        kernel = getattr(self.module, launch["kernel"])
        options = getattr(kernel, "targetoptions", {})
        given = {name: options[name] for name in _OPTIONS if options.get(name) is not None}
        capability = ARCHITECTURES[arch].capability
        make = self.compiler.lowered(kernel.py_func, launch["types"], capability, **given)

        def kept() -> str:
            text = make()
            if self.texts:
                texts.keep(Path(self.texts), launch, arch, text)
            return text

        return kept

    def target(self, arch: str) -> None:
        """Compile for another architecture from now on, device functions included."""
        self.compiler.target(ARCHITECTURES[arch].capability)
        for value in vars(self.module).values():
            overloads = getattr(value, "overloads", None)
            if isinstance(overloads, dict):
                overloads.clear()


class Kernel:
    """The kernel that Numba makes around the body of a ufunc; `overloads` are those of the body."""

    def __init__(
        self, compiler: Numba, signatures: Sequence[str], layout: str, function: Any
    ) -> None:
        # imports Numba, which only the child needs
        from porter.verify.compile.ufuncs import Layout, kernel_source

        core = compiler.cuda.jit(device=True)(function)
        names = {"cuda": compiler.cuda, "core": core}
        source = (
            Layout.parse(layout, signatures[0]).source(function.__name__)
            if layout
            else kernel_source(function.__name__, function.__code__.co_argcount)
        )
        exec(source, names)
        self.py_func, self.overloads = names[function.__name__], core.overloads


def device_ufuncs(compiler: Numba) -> dict[str, Any]:
    """What a module of ufuncs finds in place of its decorators."""
    return {
        "_porter_ufunc": lambda signatures, layout="": partial(
            Kernel, compiler, signatures, layout
        ),
        "_porter_helper": compiler.cuda.jit(device=True),
    }


def linked(module: Module, launches: list[dict[str, Any]], arch: str) -> Iterator[tuple[str, str]]:
    """The PTX of each launch and the linker's log of it, up to the first that fails: that raises.

    NVVM and the linker, which hold no lock of Python's, work on some while the types of the next
    one are inferred.
    """

    def assembled(make: Callable[[], str]) -> tuple[str, str]:
        ptx = make()
        return ptx, link_log(ptx, arch)

    failed: Exception | None = None
    begun: list[Future[tuple[str, str]]] = []
    with ThreadPoolExecutor(2) as pool:
        for launch in launches:
            try:
                begun.append(pool.submit(assembled, module.lowered(launch, arch)))
            except Exception as error:
                failed = error
                break
        for each in begun:
            yield each.result()
    if failed is not None:
        raise failed


def compiled(
    module: Module, launches: list[dict[str, Any]], arch: str, blocks: dict[str, int]
) -> dict[str, Any]:
    """The evidence of one function for one architecture.

    `blocks` gives the threads of a kernel's blocks, as far as they are known.
    """
    detail: dict[str, Any] = {"arch": arch}
    worst: dict[str, int | None] = {"registers": None, "spill_bytes": None, "shared_bytes": None}
    doubles: int | None = None
    shares: list[float] = []
    refused = ""
    module.target(arch)
    found: list[tuple[str, str]] = []
    failed: Exception | None = None
    try:
        for each in linked(module, launches, arch):
            found.append(each)
    except Exception as error:
        failed = error
    for launch, (ptx, log) in zip(launches, found, strict=False):
        used = resources(log)
        for name, value in used.items():
            worst[name] = _worse(worst[name], value)
        threads, registers = blocks.get(launch["kernel"]), used["registers"]
        if threads and registers is not None:
            shares.append(occupancy(arch, threads, registers, used["shared_bytes"] or 0))
            if not shares[-1]:
                shared = f" and {used['shared_bytes']} bytes of shared memory"
                refused = (
                    f"{launch['kernel']}: a block of {threads} threads, each with {registers}"
                    f" registers{shared if used['shared_bytes'] else ''}, does not fit a"
                    " multiprocessor"
                )
        if single(launch):
            doubles = (doubles or 0) + double_instructions(ptx)
    if failed is not None:
        name = launches[len(found)]["kernel"]
        text = _short(f"{name}: {type(failed).__name__}: {failed}")
        if any(word in text for word in _UNKNOWN):
            return _skipped(f"the installed compiler does not know {arch}", arch)
        failure = detail | worst | {"f64": doubles, "error": text}
        return {"on": "ptx", "status": FAILED, "cases": len(found), "detail": failure}
    detail |= worst | {"f64": doubles, "occupancy": min(shares, default=None)}
    if refused:
        failure = detail | {"error": refused, "unfit": True}
        return {"on": "ptx", "status": FAILED, "cases": len(launches), "detail": failure}
    return {"on": "ptx", "status": PASSED, "cases": len(launches), "detail": detail}


def _worse(one: int | None, other: int | None) -> int | None:
    known = [n for n in (one, other) if n is not None]
    return max(known, default=None)


def _short(text: str) -> str:
    """A compiler's message on one line, without the lines that say nothing."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(" ".join(lines).split())[:600]


def answer(
    request: dict[str, Any], compiler: Numba | None, reason: str
) -> Iterable[dict[str, Any]]:
    """One reply line per function; `reason` says why there is no compiler."""
    module: Module | None = None
    if compiler is not None:
        try:
            module = Module(Path(request["module"]), Path(request["place"]), compiler)
            module.texts = request.get("texts", "")
        except Exception as error:
            reason = f"the module cannot be imported: {type(error).__name__}: {error}"
    for name, launches in request["launches"].items():
        if module is None:
            evidence = [_skipped(reason)]
        elif not launches:
            evidence = [_skipped("no kernel was launched on the simulator")]
        else:
            picked = chosen(launches)
            blocks = request["blocks"].get(name, {})
            evidence = [compiled(module, picked, arch, blocks) for arch in request["archs"]]
        yield {"done": name, "evidence": evidence}


def _skipped(reason: str, arch: str = "") -> dict[str, Any]:
    detail = {"reason": reason} | ({"arch": arch} if arch else {})
    return {"on": "ptx", "status": SKIPPED, "cases": 0, "detail": detail}


def main() -> None:
    """Warm up, then answer requests until the input ends."""
    name = sys.argv[1]
    compiler, reason = _prepared(name)
    # a tenth of a compilation would go into collections that find little
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)
    # requests come from the input, which nothing else may read
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    # a driver may be there and reserve terabytes: the parent watches the memory
    restrict(address_space=False)
    for line in requests:
        request = json.loads(Path(line.strip()).read_text("utf-8"))
        faulthandler.dump_traceback_later(2 * request["seconds"], exit=True)
        with Path(request["reply"]).open("a", encoding="utf-8") as reply:
            for result in answer(request, compiler, reason):
                for evidence in result["evidence"]:
                    evidence["detail"]["backend"] = f"{name} {version(name) or ''}".strip()
                reply.write(json.dumps(result) + "\n")
                reply.flush()
            reply.write(json.dumps({"end": True}) + "\n")
        faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    main()
