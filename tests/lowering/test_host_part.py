"""The host's part: methods, keyword-only parameters, notes of what stays, CuPy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from porter.codegen.module.module import module_text
from porter.convert.check import check_function
from porter.convert.function import convert_function
from porter.diagnostics import Refusal
from porter.resolve.globals import Globals
from porter.source.module import SourceModule
from porter.verify.run import verify_module
from tests.support.shell import Shell

HEAT = """
import numpy as np


class Heat:
    def __init__(self, dt: float, mask):
        self.dt = dt
        self.mask = mask

    def rate(self, u):
        lap = np.zeros_like(u)
        lap[1:-1] = u[2:] - 2 * u[1:-1] + u[:-2]
        return self.dt * lap

    def doubled(self, u):
        return self.rate(u) * 2

    def fill(self, u):
        self.mask[:] = u * self.dt

    def move(self, u):
        self.mask = u
        return u * self.dt

    @property
    def area(self):
        return self.dt**2

    def scaled(self, u):
        return u * self.area


def centred(x, *, axis=0, shift=0.5):
    return x - x.mean(axis=axis) + shift


def solved(a, b):
    return 2.0 * np.linalg.solve(a, b)


def energies(a):
    return 2.0 * np.linalg.eigvalsh(a)


def described(x):
    y = np.sqrt(np.abs(x))
    return {"mean": y.mean(), "count": len(x)}
"""


RETURN = '    return {"mean": y.mean(), "count": len(x)}'


def source(name: str, text: str = HEAT) -> tuple[object, Globals]:
    module = SourceModule(text, "heat.py")
    return module.by_name[name], Globals(module)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        pytest.param("Heat.rate", "self_dt", marks=pytest.mark.long),
        pytest.param("Heat.doubled", "self_dt", marks=pytest.mark.long),
        ("Heat.fill", "self_mask"),
        ("centred", "axis=0, shift=0.5"),
    ],
)
def test_methods_and_keywords_are_verified(tmp_path: Path, name: str, arguments: str) -> None:
    from porter.cli import main

    path = tmp_path / "heat.py"
    path.write_text(HEAT)
    with pytest.raises(SystemExit) as done:
        main(["convert", str(path), "-f", name, "-o", str(tmp_path / "out.py")])
    assert done.value.code == 0
    assert arguments in (tmp_path / "out.py").read_text()


def test_an_infinite_bound_of_a_check_has_a_name(tmp_path: Path) -> None:
    from porter.cli import main

    path = tmp_path / "bounded.py"
    path.write_text(
        "import numpy as np\n\n"
        "def check(p, bounds):\n"
        "    if p < bounds[0] or p > bounds[1]:\n"
        "        raise ValueError('p is out of bounds')\n\n"
        "def f(x, p):\n    check(p, [0.0, np.inf])\n    return x * p\n"
    )
    with pytest.raises(SystemExit) as done:
        main(["convert", str(path), "-f", "f", "-o", str(tmp_path / "out.py")])
    assert done.value.code == 0
    assert "[0.0, math.inf]" in (tmp_path / "out.py").read_text()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Heat.move", "assignment to the attribute `self.mask`"),
        ("Heat.scaled", "`self.area` is a property"),
    ],
)
def test_what_a_method_may_not_do(name: str, message: str) -> None:
    function, _ = source(name)
    found = check_function(function, None)  # type: ignore[arg-type]
    assert found.verdict == "refused"
    assert message in found.diagnostics[0].message


def test_verdict_partly_names_the_statement() -> None:
    function, _ = source("described")
    found = check_function(function, None)  # type: ignore[arg-type]
    assert found.verdict == "partly"
    assert [(d.code, d.span.line) for d in found.diagnostics] == [
        ("PRT912", HEAT.splitlines().index(RETURN) + 1)
    ]


@pytest.mark.parametrize(("call", "named"), [("linalg.eigvalsh(2 * a)", True),
                                             ("polyfit(2 * b, b, 2)", False)])  # fmt: skip
def test_a_library_call_on_the_host_names_the_option_that_moves_it(call: str, named: bool) -> None:
    text = f"import numpy as np\n\n\ndef f(a, b):\n    return np.{call} + 1.0\n"
    function, _ = source("f", text)  # type: ignore[assignment]
    (found,) = check_function(function, "float64[:, :], float64[:]").diagnostics  # type: ignore[arg-type]
    assert found.code == "PRT912" and ("--library cupy" in found.help) == named


def test_refuse_host(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from porter.cli import main

    path = tmp_path / "heat.py"
    path.write_text(HEAT)
    with pytest.raises(SystemExit) as done:
        main(["convert", str(path), "-f", "energies", "-f", "described", "--refuse-host",
              "--no-verify", "--output-format", "json", "-o", "-"])  # fmt: skip
    functions = json.loads(capsys.readouterr().out)["modules"][0]["functions"]
    assert done.value.code == 1
    assert [f["status"] for f in functions] == ["refused", "refused"]
    assert functions[0]["diagnostics"][0]["code"] == "PRT901"


def test_cupy_works_on_the_device_data() -> None:
    function, scope = source("solved")
    scope.options.library = "cupy"
    converted = convert_function(function, None, scope)  # type: ignore[arg-type]
    text = module_text(converted.texts, "heat.py")
    assert "import cupy as cp\n" in text
    assert "solution = _from_cupy(cp.linalg.solve(cp.asarray(d_a), cp.asarray(d_b)))" in text
    assert "_to_host(d_" not in text


def test_evidence_says_that_numpy_stood_in(tmp_path: Path) -> None:
    from porter.cli import main

    path, out = tmp_path / "heat.py", tmp_path / "out.py"
    path.write_text(HEAT)
    with pytest.raises(SystemExit):
        main(["convert", str(path), "-f", "solved", "--library", "cupy", "-o", str(out)])
    found = verify_module(out, on=("simulator",), cases=8)[0]
    assert found.evidence[0].status == "passed"
    assert "CuPy" in str(found.evidence[0].detail["library"])


OPS = """
import numpy as np

from .consts import GAIN

SCALE = 3.0


def clamp(x, low=0.0, high=SCALE):
    return np.minimum(np.maximum(x, low), high)


def gained(x):
    return clamp(x) * GAIN


def bad(x):
    return np.roots(x)
"""
USER = """
import numpy as np

import pkg.consts as consts
from pkg.ops import gained as g2

from . import ops
from .ops import bad, clamp

SCALE = 7.0


def first(x):
    return clamp(x, high=SCALE) + 1.0


def second(x):
    return ops.gained(x) - g2(x * 0.5) * consts.GAIN


def third(x):
    return bad(x) * 2
"""


def test_helpers_of_other_files_are_followed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from porter.cli import main

    folder = tmp_path / "pkg"
    folder.mkdir()
    files = {"__init__": "", "consts": "GAIN = 2.5\n", "ops": OPS, "main": USER}
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    with pytest.raises(SystemExit):
        main(["convert", str(folder / "main.py"), "-o", str(tmp_path / "out.py"),
              "--output-format", "json"])  # fmt: skip
    functions = json.loads(capsys.readouterr().out)["modules"][0]["functions"]
    assert [f["status"] for f in functions] == ["converted", "converted", "refused"]
    found = functions[2]["diagnostics"][0]
    assert "(ops.py, line 18)" in found["message"]
    assert found["line"] == USER.splitlines().index("    return bad(x) * 2") + 1
    assert "ops" not in (tmp_path / "out.py").read_text().split("import numpy")[1].split("def ")[0]


WRAPPED = """
import numpy as np

try:
    import bottleneck as bn

    def _wrap(f):
        def wrapped(*args):
            return f(*args)

        return wrapped

    nanmean = _wrap(bn.nanmean)
except ImportError:
    nanmean = np.nanmean
"""
CENTRED = """\
import numpy as np
from utils import nanmean


def centred(x):
    y = np.nan_to_num(nanmean(x))
    return x - y
"""


def test_what_another_file_computes_by_a_helper_of_its_own_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from porter.cli import main

    (tmp_path / "utils.py").write_text(WRAPPED)
    user = tmp_path / "stats.py"
    user.write_text(CENTRED)
    with pytest.raises(SystemExit):
        main(["analyze", str(user), "--output-format", "json", "--no-cache"])
    (function,) = json.loads(capsys.readouterr().out)["functions"]
    assert function["verdict"] == "refused" and "PRT917" not in function["reasons"]
    assert [p["line"] for p in function["places"]] == [6]


BLUR = """
import numpy as np


def blurred(x, kernel):
    assert kernel.size % 2 == 1
    p = np.pad(x, kernel.size // 2, mode="reflect")
    out = np.zeros_like(x)
    for k in range(kernel.size):
        out += kernel[k] * p[k : k + x.size]
    return out
"""


def test_an_assert_comes_before_the_checks_of_what_follows() -> None:
    function, scope = source("blurred", BLUR)
    converted = convert_function(function, None, scope)  # type: ignore[arg-type]
    text = module_text(converted.texts, "heat.py")
    checks = text.index("def blurred(")
    assert text.index("assert ", checks) < text.index("raise ValueError(", checks)


BARE = """
import numpy as np


def rooted(x, u):
    assert(0 <= u <= len(x))
    if(u > 9):
        raise(ValueError(f"{u}"))
    assert(np.sum(x) > u)
    return np.sqrt(x) + u
"""


def test_parentheses_that_keep_words_apart_stay() -> None:
    function, scope = source("rooted", BARE)  # type: ignore[assignment]
    made = convert_function(function, "float64[:], int64", scope)  # type: ignore[arg-type]
    text = module_text(made.texts, "")
    assert "    assert 0 <= u <= len(x)\n    if u > 9:\n        raise (ValueError(" in text
    assert "    assert _to_host(value, stream)[()]\n" in text


CHECKED = """
import numpy as np


def weighted(x, w):
    if len(x) != len(w):
        raise ValueError(f"{len(w)} weights for {len(x)} values")
    return np.sum(x * w)


def late(x, w):
    d = x - w
    if len(x) != len(w):
        raise ValueError("too late")
    return d
"""


def test_the_users_checks_are_first_as_written_and_made_once() -> None:
    function, scope = source("weighted", CHECKED)  # type: ignore[assignment]
    text = module_text([convert_function(function, "float64[:], float64[:]", scope).text], "")
    check, said = CHECKED.splitlines()[5:7]
    assert f"{check}\n{said}\n    on_device = " in text
    assert text.count("shape[0] !=") == 0
    function, scope = source("late", CHECKED)
    text = module_text([convert_function(function, "float64[:], float64[:]", scope).text], "")
    # what the subtraction raises comes before it; the check is there as it was
    assert text.index("could not be broadcast") < text.index(check)


LOCAL_IMPORTS = """
def detrended(x):
    import scipy.signal as part
    from scipy.signal import detrend
    return part.detrend(x * 2.0) + detrend(x * 3.0)

def smoothed(x):
    import scipy.ndimage as part
    return part.uniform_filter1d(x * 2.0, 3)
"""


def test_imports_inside_of_functions(shell: Shell) -> None:
    """They are the module's, and a name that means two things gets two names."""
    shell.write("f.py", LOCAL_IMPORTS)
    assert shell.convert("f.py", "--no-verify", "--signature", "float64[:]") == 0
    lines = (shell.folder / "f_cuda.py").read_text().splitlines()
    assert "import scipy.signal as scipy_signal" in lines
    assert "import scipy.ndimage as scipy_ndimage" in lines
    assert "from scipy.signal import detrend" in lines


ELIMINATION = (
    "import numpy as np\n\n\ndef f(A, b):\n    for k in range(A.shape[0]):\n"
    "        if {tested} == 0.0:\n            raise ValueError('singular')\n"
    "        A[k + 1:, k] /= A[k, k]\n        A[k] *= 2.0\n"
)


def test_a_check_of_each_element_is_refused_where_it_stands() -> None:
    """Statements that convert follow it."""
    source = ELIMINATION.format(tested="b[k]")
    (function,) = SourceModule(source, "f.py").functions
    with pytest.raises(Refusal) as found:
        convert_function(function, "float64[:, :], float64[:]")
    assert found.value.diagnostic.code == "PRT902"
    assert found.value.diagnostic.span.line == 6


def test_what_a_loop_stores_is_checked_in_the_loop() -> None:
    """No check before the loop could know it, and each turn goes through rows anyway."""
    source = ELIMINATION.format(tested="A[k, k]")
    (function,) = SourceModule(source, "f.py").functions
    text = module_text(convert_function(function, "float64[:, :], float64[:]").texts, "f.py")
    loop = text[text.index("for k in range(") :]
    assert loop.index('raise ValueError("singular")') < loop.index("f_kernel2[")


def test_a_loop_over_elements_does_not_check_what_it_stores() -> None:
    """Each turn would be a launch for one element, or for three of them."""
    source = (
        "import numpy as np\n\n\ndef f(x, y):\n    for i in range(x.shape[0]):\n"
        "        for c in range(3):\n            y[i, c] = np.sqrt(x[i, c])\n"
        "        if y[i, 0] > 2.0:\n            raise ValueError('far')\n"
    )
    (function,) = SourceModule(source, "f.py").functions
    with pytest.raises(Refusal) as found:
        convert_function(function, "float64[:, :], float64[:, :]")
    assert found.value.diagnostic.code == "PRT902"
