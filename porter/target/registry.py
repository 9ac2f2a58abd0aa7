"""The targets that `--target` takes."""

from __future__ import annotations

from porter.target.base import Target
from porter.target.cuda import Cuda
from porter.target.cupy import Cupy
from porter.target.dask import Dask, DaskCuda
from porter.target.loops import Loops
from porter.target.ufuncs import CpuGufunc, CpuUfunc, Gufunc, Ufunc

CUDA = Cuda()
TARGETS: dict[str, Target] = {t.name: t for t in (CUDA, Loops(), Ufunc(), Gufunc(), Cupy(), Dask())}
#: what `--dask-blocks cuda` makes, by the name that headers have
_KERNELS: dict[tuple[str, str], Target] = {("dask", "kernels"): DaskCuda()}
#: what `--ufunc-target` makes of targets whose functions Numba calls for elements
_ON_CPU: dict[tuple[str, str], Target] = {
    (t.name, kind): t
    for kind in ("cpu", "parallel")
    for t in (CpuUfunc(parallel=kind == "parallel"), CpuGufunc(parallel=kind == "parallel"))
}


def target_named(name: str, kind: str = "cuda") -> Target:
    """The target; one of ufuncs for what runs them, one of blocks for what they are."""
    return (_ON_CPU | _KERNELS).get((name, kind), TARGETS[name])
