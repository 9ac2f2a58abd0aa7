"""Modules of `--target dask`: their calls of Dask, results beside NumPy's, what is refused."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest

from porter.bench.counting import counting
from porter.commands.convert import run
from porter.config import Config
from porter.convert.files import ModuleOutcome, convert_file
from porter.diagnostics import UsageError
from porter.options import ConvertOptions
from porter.source.files import SourceFile
from porter.verify import run as verifying
from porter.verify.oracle.chunked import CUTS, cut
from porter.verify.run import verify_module
from tests.support.paths import GOLDEN, ROOT

SOURCE = """
import numpy as np
from numpy.typing import NDArray


def scaled(x, w):
    return np.maximum(x * w, 0.5)


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def centred(x):
    return (x - x.mean(axis=0)) / x.shape[0]


def blurred(x):
    out = x.copy()
    out[2:-2] = (x[:-4] + x[1:-3] + x[2:-2] + x[3:-1] + x[4:]) / 5
    return out


def framed(x):
    out = x.copy()
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if i >= 3 and j < x.shape[1] - 4:
                out[i, j] = -x[i, j]
            elif i == 1:
                out[i, j] = 7.0
    return out


def waves(u: NDArray[np.float64], v: NDArray[np.float64], n: int):
    for _ in range(n):
        new = 2.0 * u - v
        new[1:-1] = new[1:-1] + 0.25 * (u[:-2] - 2.0 * u[1:-1] + u[2:])
        u, v = new, u
    return u


def distances(x, y):
    return np.sqrt(((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2))


def extremes(x):
    return x.min(), x.max(), x.sum()


def gram(x):
    return x @ x.T


def weighted(x):
    out = np.zeros_like(x)
    near = x.sum(axis=1)
    for i in range(1, x.shape[0] - 1):
        for j in range(x.shape[1]):
            out[i, j] = near[i - 1] * x[i, j] + near[i + 1]
    return out


def products(x):
    out = np.zeros(x.shape[0])
    for i in range(2, x.shape[0]):
        out[i] = (x[i - 2] * x[i]).sum()
    return out


def odd(x):
    out = x * 2.0
    n = x.shape[0]
    for i in range(n):
        if i > n - 3:
            out[i] = 1.0
        elif i <= 2:
            out[i] = x[i + 1] if i + 1 < n else 5.0
        elif 0 == i - 4:
            out[i] = -3.0
        elif n - 5 != i and i >= 6:
            out[i] = x[i - 6] + 0.5
    return out


def tail(x):
    out = np.zeros_like(x)
    out[3:] = x[:-3] * 2.0
    out[:-5] += x[5:]
    return out


def columns(x):
    return np.cumsum(x[:, ::-1], axis=1)
"""
CALLS = {
    "scaled": ("x, w = _aligned(shape, x, w)", "da.map_blocks(scaled_block, x, w,"),
    "softmax": ("da.map_blocks(softmax_block, x.rechunk({1: -1}),",),
    "centred": ('adjust_chunks={"j": 1}', "total = parts.sum(axis=1, dtype=x.dtype)"),
    "blurred": ("_map_overlap(blurred_block, x, depth=(2,),",),
    "framed": ("depth=(3, 4)",),
    "waves": ("for _ in range(n):", "new = _map_overlap(waves_block, u2, v2, depth=(1,),"),
    "distances": ('da.blockwise(distances_block, "ijk", x, "ik", y, "jk",',),
    "extremes": ("parts.min(axis=0)", "parts2.max(axis=0)", "parts3.sum(axis=0, dtype=x.dtype)"),
    "gram": ("_block",),
    "weighted": ("_blockwise_overlap(", "depth={"),
    "products": ("_blockwise_overlap(",),
    "odd": ("depth=(6,)",),
    "tail": ("depth=(5,)",),
    "columns": ("da.map_blocks(columns_block, x.rechunk({1: -1}),",),
}
#: those of them that take vectors
VECTORS = ("blurred", "waves", "extremes", "odd", "tail")
REFUSED = {
    "def f(x):\n    x[:] = x * 2.0": "stores into its argument `x`",
    "def f(x):\n    return np.cumsum(x)": "needs axis 0 of `x` whole",
    "def f(x):\n    return x + x[::-1]": "needs axis 0 of `x` whole",
    "def f(x):\n    return x * np.arange(x.shape[0])": "uses the position along axis 0",
    "def f(x):\n    return x[1:] - x[:-1]": "axis 0 of `out` has another size than `x`",
    "def f(x, i):\n    return x[i]": "needs axis 0 of `x` whole",
    "def f(u):\n    u = u.copy()\n    for i in range(1, u.shape[0]):\n"
    "        u[i] = 0.5 * u[i - 1] + u[i]\n    return u": "whole",
    "def f(x, depth: float):\n    return x * depth": "uses `depth`, a name that Dask's functions",
    "def f(x, n: int):\n    a = x * 2.0\n    c = x * 1.0\n    for _ in range(n):\n        c = a\n"
    "        a[1:] = a[1:] + 1.0\n    return a, c": "gives another name to `a`, which is changed",
    "def f(x):\n    while x.sum() > 1.0:\n        x = x / 2.0\n    return x": "before what follows",
    "def f(x):\n    h = np.zeros(9)\n    for i in range(x.shape[0]):\n"
    "        h[int(x[i]) % 9] += 1.0\n    return h": "stores into `h` at another index",
}


def convert(folder: Path, text: str, **options: Any) -> ModuleOutcome:
    """What becomes of a file; its module is written beside it."""
    source = folder / "source.py"
    source.write_text(text)
    place = folder / "source_dask.py"
    given = ConvertOptions((str(source),), target="dask", **({"verify": False} | options))
    made = convert_file(SourceFile(str(source), text), given, Config(), place, lambda _: None)
    place.write_text(made.text or "")
    return made.delivered(str(place), stale=False)


def only(*names: str) -> str:
    """The source file with some of its functions."""
    head, *functions = SOURCE.split("\n\n\n")
    return "\n\n\n".join([head, *(f for f in functions if f[4:].startswith(names))])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> ModuleOutcome:
    return convert(tmp_path_factory.mktemp("chunks"), SOURCE)


@pytest.fixture(scope="module")
def module(made: ModuleOutcome) -> Any:
    spec = importlib.util.spec_from_file_location("source_dask", made.output)
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.fixture(scope="module")
def original() -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(SOURCE, names)
    return names


def computed(value: Any) -> Any:
    (found,) = dask.compute(value, scheduler="synchronous")
    return found


def chunkings(shape: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Every way to cut the axes of a shape, each axis in another way than the one before."""
    for start in range(len(CUTS)):
        yield tuple(cut(n, CUTS[(start + 3 * d) % len(CUTS)], 6) for d, n in enumerate(shape))


def test_everything_converts(made: ModuleOutcome) -> None:
    assert {f.name: f.status for f in made.functions} == dict.fromkeys(CALLS, "converted")


@pytest.mark.parametrize("name", CALLS)
def test_the_calls_of_dask_follow_from_the_subscripts(made: ModuleOutcome, name: str) -> None:
    text = made.text or ""
    own = text[text.index(f"\ndef {name}(") :].split("\ndef ")[1]
    own = " ".join(own.split()).replace("( ", "(").replace("{ ", "{")
    for call in CALLS[name]:
        assert call in own, own


@pytest.mark.parametrize("name", [n for n in CALLS if n not in VECTORS])
def test_matrices_in_any_chunks(name: str, module: Any, original: dict[str, Any]) -> None:
    rng = np.random.default_rng(5)
    for shape in ((11, 9), (1, 4), (9, 1)):
        arrays = [
            rng.normal(size=shape) for _ in range(2 if name in ("scaled", "distances") else 1)
        ]
        expected = original[name](*arrays)
        for cuts, others in zip(chunkings(shape), itertools.islice(
            itertools.cycle(chunkings(shape)), 3, None), strict=False):  # fmt: skip
            given = [da.from_array(a, c) for a, c in zip(arrays, (cuts, others), strict=False)]
            lazy = getattr(module, name)(*given)
            assert isinstance(lazy, da.Array) and lazy.shape == expected.shape
            np.testing.assert_allclose(computed(lazy), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", VECTORS)
def test_vectors_in_any_chunks(name: str, module: Any, original: dict[str, Any]) -> None:
    rng = np.random.default_rng(6)
    for n in (1, 2, 5, 17):
        arrays: list[Any] = [rng.normal(size=n) for _ in range(2 if name == "waves" else 1)]
        more = [3] if name == "waves" else []
        expected = original[name](*arrays, *more)
        for cuts in chunkings((n,)):
            lazy = getattr(module, name)(*(da.from_array(a, cuts) for a in arrays), *more)
            np.testing.assert_allclose(computed(lazy), expected, rtol=1e-12, atol=1e-13)


def test_numpys_arrays_are_wrapped_and_lazy(module: Any) -> None:
    x = np.ones((3, 4), np.float32)
    lazy = module.softmax(x)
    assert isinstance(lazy, da.Array) and lazy.dtype == np.float32
    np.testing.assert_allclose(computed(lazy), np.full((3, 4), 0.25, np.float32))


def test_wrong_arguments_raise_before_anything_is_computed(module: Any) -> None:
    x = da.ones((3, 4), chunks=2)
    with pytest.raises(ValueError, match="x has 3 dimensions instead of 2"):
        module.softmax(x[None])
    with pytest.raises(TypeError, match="x has dtype int64"):
        module.softmax(x.astype(int))
    with pytest.raises(ValueError, match="broadcast"):
        module.scaled(x, da.ones((3, 3)))
    with pytest.raises(ValueError, match="chunks of unknown sizes"):
        module.softmax(x[x[:, 0] > 0])


def test_it_is_verified_in_chunks(tmp_path: Path) -> None:
    text = only("blurred", "distances")
    done = convert(tmp_path, text, verify=True)
    for function in done.functions:
        (evidence,) = function.evidence
        assert (evidence.status, evidence.cases) == ("passed", 24), function
        assert evidence.detail["chunkings"] >= 6


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("blurred", "depth=(2,)", "depth=(1,)"),
        ("framed", "depth=(3, 4)", "depth=(3, 3)"),
        ("softmax", ".rechunk({1: -1})", ""),
        ("centred", "x_size0=x.shape[0]", "x_size0=x.chunks[0][0]"),
    ],
)
def test_a_wrong_module_is_found(tmp_path: Path, name: str, old: str, new: str) -> None:
    place = Path(convert(tmp_path, only(name)).output)
    text = place.read_text()
    assert old in text
    place.write_text(text.replace(old, new))
    (found,) = verify_module(place)
    assert found.failed and found.mismatch is not None


@pytest.mark.parametrize("text", REFUSED)
def test_what_has_no_chunked_form_is_refused_with_the_axis(tmp_path: Path, text: str) -> None:
    made = convert(tmp_path, "import numpy as np\n\n\n" + text)
    (function,) = made.functions
    assert function.status == "refused"
    assert function.diagnostics[0].code == "PRT806"
    assert REFUSED[text] in function.diagnostics[0].message


def test_without_dask_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Path(convert(tmp_path, "def f(x):\n    return x * 2.0\n").output)
    monkeypatch.setattr(verifying, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"runs with Dask: pip install 'dask\[array\]'"):
        verify_module(place)


@pytest.mark.slow
def test_blocks_for_a_gpu(tmp_path: Path) -> None:
    done = convert(tmp_path, only("blurred"), dask_blocks="cuda", verify=True)
    (function,) = done.functions
    assert {e.on: e.status for e in function.evidence}["simulator"] == "passed", function
    own = (done.text or "").split("def blurred_block(x):")[1].split("\ndef ")[0]
    assert "cuda.to_device(" in own and own.rstrip().endswith("out.copy_to_host()")


def test_a_lazy_function_is_not_timed() -> None:
    with pytest.raises(UsageError, match="is lazy"):
        counting(GOLDEN / "dask" / "softmax_dask.py")


def test_the_option_is_for_dask(tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text("def f(x):\n    return x * 2.0\n")
    with pytest.raises(UsageError, match="--dask-blocks cuda is for Dask, not for loops"):
        run(ConvertOptions((str(source),), target="loops", dask_blocks="cuda"))


def graph_sizes() -> Iterator[str]:
    """The rows of the table in `docs/dask.md`: tasks, before and after Dask's own passes."""
    for stem, name, more in (
        ("hidden_layer", "hidden_layer", 0), ("softmax", "softmax", 0), ("l2_norms", "l2_norms", 0),
        ("zscores", "zscores", 0), ("sobel", "sobel", 0), ("heat", "heat", 1), ("heat", "heat", 10),
    ):  # fmt: skip
        function = getattr(golden(stem), name)
        cells = []
        for side in (4, 10):
            x = da.zeros((100 * side, 100 * side), chunks=100)
            given = (x, x) if stem == "hidden_layer" else (x, 0.1, more) if more else (x,)
            lazy = function(*given)
            (less,) = dask.optimize(lazy)
            cells += [len(dict(g.__dask_graph__())) for g in (lazy, less)]
        steps = f", {more} step{'s' if more > 1 else ''}" if more else ""
        yield f"| `{name}`{steps} | {' | '.join(f'{n:,}' for n in cells)} |"


def golden(stem: str) -> Any:
    """A module of `tests/golden/dask`."""
    spec = importlib.util.spec_from_file_location(
        f"{stem}_dask", GOLDEN / "dask" / f"{stem}_dask.py"
    )
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = found
    spec.loader.exec_module(found)
    return found


def test_graph_sizes_are_those_of_the_page() -> None:
    page = (ROOT / "docs" / "dask.md").read_text("utf-8")
    for row in graph_sizes():
        assert row in page, row


@pytest.mark.long
def test_a_cluster_with_less_memory_than_the_array(tmp_path: Path) -> None:
    from distributed import Client, LocalCluster

    limit = 400 * 2**20
    heat, zscores = golden("heat"), golden("zscores")
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=limit, dashboard_address=None,
            local_directory=str(tmp_path),
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        for module in (heat, zscores):
            client.upload_file(module.__file__)
        n = da.arange(10_500, chunks=1_050, dtype=np.float64)
        plane = 3.0 * n[:, None] + n[None, :]
        assert plane.nbytes > 2 * limit
        # a plane has no curvature: nothing flows
        assert abs(heat.heat(plane, 0.1, 1) - plane).max().compute() == 0.0
        table = zscores.zscores(plane)
        mean, deviation = dask.compute(table.mean(), table.std())
        np.testing.assert_allclose([mean, deviation], [0.0, 1.0], atol=1e-9)
        # `ru_maxrss` would be that of this process, from which the workers were forked
        for status in client.run(Path("/proc/self/status").read_text).values():
            most = next(line for line in status.splitlines() if line.startswith("VmHWM"))
            assert int(most.split()[1]) * 1024 < limit
