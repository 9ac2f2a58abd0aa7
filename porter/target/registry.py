"""The targets that `--target` takes."""

from __future__ import annotations

from porter.target.base import Target
from porter.target.cuda import Cuda
from porter.target.loops import Loops

CUDA = Cuda()
TARGETS: dict[str, Target] = {t.name: t for t in (CUDA, Loops())}
