"""Constants of the module level: folded with the value that Python computes, or refused."""

from __future__ import annotations

import json
import textwrap
import types
from pathlib import Path

import numpy as np
import pytest

from porter.convert.module_child import computed
from porter.convert.module_values import ModuleValues
from porter.diagnostics import Refusal
from porter.inference.signature import candidates
from porter.ir.interp import run
from porter.lowering.program import build
from porter.resolve.computed import Computed
from porter.resolve.globals import Globals
from porter.resolve.toplevel import Executed, Plain, TopLevel, Unknown
from porter.source.module import SourceModule
from tests.support.commands import porter

HEAD = "import math\nimport numpy as np\n"


def source(text: str, body: str) -> str:
    """A module with these statements and a function `f` that uses the constant K."""
    return f"{HEAD}{textwrap.dedent(text).strip()}\n\ndef f(x):\n    return {body}\n"


def here(path: str, text: str, name: str) -> Computed:
    """The value as the child computes it, in this process."""
    return Computed(**computed(Path(path), text, name, False))


def converted(text: str, tmp_path: Path, signature: str = "float64[:]") -> np.ndarray:
    """What the array program of `f` gives for four numbers."""
    module = SourceModule(text, str(tmp_path / "m.py"))
    scope = Globals(module)
    scope.options.values = here
    function = module.by_name["f"]
    program = build(function, next(candidates(function, signature)), scope)
    return np.asarray(run(program, (np.array([1.0, -2.5, 3.0, 0.5]),)))


def executed(text: str) -> np.ndarray:
    """What Python gives for them."""
    namespace = types.ModuleType("m")
    exec(compile(text, "m.py", "exec"), namespace.__dict__)
    return np.asarray(namespace.f(np.array([1.0, -2.5, 3.0, 0.5])))


SCALAR = "x * K"
TABLE = "x * K[:4]"
CHANGED = {
    # rebound
    "augmented": ("K = 2\nK += 1", SCALAR),
    "augmented twice": ("K = 2.5\nK *= 3\nK -= 1", SCALAR),
    "shifted": ("K = 1\nK <<= 3", SCALAR),
    "assigned twice": ("K = 2\nK = 7", SCALAR),
    "of its old self": ("K = 2\nK = K * K + 1", SCALAR),
    "of another's old value": ("A = 2\nK = A\nA = 5", SCALAR),
    "of another's new value": ("A = 2\nA = 5\nK = A", SCALAR),
    "swapped": ("a, K = 1, 2\na, K = K, a", SCALAR),
    "unpacked": ("(K, other), third = (3, 4), 5", SCALAR),
    "starred": ("first, *K = 1, 2, 3, 4, 5", "x * np.array(K)"),
    "chained": ("K = L = 3\nL = 4", SCALAR),
    "deleted and bound": ("K = 2\ndel K\nK = 9", SCALAR),
    "walrus": ("print(end='') or (K := 3)", SCALAR),
    "walrus in a test": ("if (K := 6) > 3:\n    pass", SCALAR),
    "loop variable": ("for K in range(5):\n    pass", SCALAR),
    "loop over a table": ("for K in (1.5, 2.5):\n    pass", SCALAR),
    "while": ("K = 1\nwhile K < 100:\n    K *= 3", SCALAR),
    "if": ("if math.pi > 3:\n    K = 1\nelse:\n    K = 2", SCALAR),
    "else": ("if math.pi > 4:\n    K = 1\nelse:\n    K = 2", SCALAR),
    "nested if": ("K = 0\nif math.pi > 3:\n    if math.e > 2:\n        K = 4", SCALAR),
    "try": ("try:\n    K = 1 // 0\nexcept ZeroDivisionError:\n    K = 5", SCALAR),
    "finally": ("try:\n    K = 1\nfinally:\n    K = 6", SCALAR),
    "try else": ("try:\n    K = 1\nexcept ValueError:\n    K = 2\nelse:\n    K = 3", SCALAR),
    "with": ("import contextlib\nwith contextlib.nullcontext():\n    K = 8", SCALAR),
    "with as": ("import contextlib\nwith contextlib.nullcontext(2.5) as K:\n    pass", SCALAR),
    "match": ("match 3:\n    case K:\n        pass", SCALAR),
    "match class": ("match {'a': 4}:\n    case {'a': K}:\n        pass", SCALAR),
    "annotated": ("K: int = 3\nK: int = 4", SCALAR),
    "conditional": ("K = 2 if math.pi > 4 else 3\nK = K", SCALAR),
    "a constant after a function": ("def K(x):\n    return x\nK = 4", SCALAR),
    "a constant after an import": ("from math import pi as K\nK = 4", SCALAR),
    "by a function": ("def make(n):\n    return n * 2\nK = make(4)", SCALAR),
    "by a function of a constant": (
        "N = 3\ndef make():\n    return N * 2\nN = 4\nK = make()", SCALAR),
    "by a lambda": ("twice = lambda v: v * 2\nK = twice(4)\nK += 1", SCALAR),
    "by eval": ("K = 1\nK += eval('2 + 3')", SCALAR),
    "by int": ("K = int('7')", SCALAR),
    "sum of a comprehension": ("K = sum(i for i in range(5))", SCALAR),
    "NumPy scalar": ("K = np.float64(2)\nK += 0.5", SCALAR),
    "of float32": ("K = np.float32(0.1)\nK = K * np.float32(3)", SCALAR),
    "a dtype": ("K = np.float64\nif math.pi > 3:\n    K = np.float32", "x.astype(K)"),
    "not finite": ("K = 1.0\nK = K * math.inf", SCALAR),
    "negative zero": ("K = 0.0\nK = -K", "np.copysign(x, K)"),
    "a truth": ("K = False\nK = not K", "x * 2 if K else x"),
    "None": ("K = 3\nK = None", "x if K is None else x * K"),
    "a text": ("K = 'a'\nK += 'b'", "x * 2 if K == 'ab' else x"),
    # stored into
    "filled by a loop": ("K = np.zeros(4)\nfor i in range(4):\n    K[i] = i * i", TABLE),
    "stored once": ("K = np.ones(4)\nK[2] = 5", TABLE),
    "stored by a slice": ("K = np.ones(4)\nK[1:3] = 5", TABLE),
    "stored by a mask": ("K = np.arange(4.0)\nK[K > 1] = -1", TABLE),
    "updated": ("K = np.ones(4)\nK[1] += 5", TABLE),
    "array updated": ("K = np.ones(4)\nK *= 3", TABLE),
    "fill": ("K = np.ones(4)\nK.fill(4)", TABLE),
    "sort": ("K = np.array([3.0, 1.0, 2.0, 0.0])\nK.sort()", TABLE),
    "out": ("K = np.ones(4)\nnp.multiply(K, 2, out=K)", TABLE),
    "out by position": ("K = np.ones(4)\nnp.multiply(K, 2, K)", TABLE),
    "out in a tuple": ("K = np.ones(4)\nnp.sqrt(K * 4, out=(K,))", TABLE),
    "copyto": ("K = np.ones(4)\nnp.copyto(K, 3)", TABLE),
    "put": ("K = np.ones(4)\nnp.put(K, [1], 7)", TABLE),
    "add.at": ("K = np.ones(4)\nnp.add.at(K, [1, 1], 2)", TABLE),
    "append": ("K = [1, 2, 3]\nK.append(5)", "x * np.array(K)"),
    "extend": ("K = [1]\nK.extend([2, 3, 5])", "x * np.array(K)"),
    "insert and pop": ("K = [1, 2, 3, 4, 5]\nK.pop(0)\nK.reverse()", "x * np.array(K)"),
    "list store": ("K = [1, 2, 3, 4]\nK[1:2] = [9]", "x * np.array(K)"),
    "list deleted": ("K = [0, 1, 2, 3, 4]\ndel K[0]", "x * np.array(K)"),
    "list augmented": ("K = [1, 2]\nK += [3, 4]", "x * np.array(K)"),
    "comprehension for its effect": (
        "K = np.zeros(4)\n[K.__setitem__(i, i) for i in range(4)]", TABLE),
    "through an alias": ("K = np.ones(4)\nV = K\nV[0] = 9", TABLE),
    "through a view": ("K = np.ones(4)\nV = K[1:]\nV[0] = 9", TABLE),
    "through a reshape": ("K = np.ones(4)\nV = K.reshape(2, 2)\nV[0, 1] = 9", TABLE),
    "through asarray": ("K = np.ones(4)\nV = np.asarray(K)\nV[0] = 9", TABLE),
    "through a transpose": ("K = np.ones((2, 2))\nK.T[0, 1] = 9", "x[:2] * K[1]"),
    "through a loop": ("K = np.ones((2, 2))\nfor row in K:\n    row[0] = 9", "x[:2] * K[1]"),
    "through a tuple": ("K = np.ones(4)\npair = (K, 1)\npair[0][2] = 9", TABLE),
    "through a dict": ("K = np.ones(4)\nD = {'k': K}\nD['k'][2] = 9", TABLE),
    "through a list of lists": ("K = [[0] * 2] * 2\nD = K + []\nD[0][0] = 1",
                                "x[:2] * np.array(K)[1]"),
    "through a class": ("K = np.ones(4)\nclass P:\n    k = K\nP.k[1] = 2", TABLE),
    "by a method": (
        "K = np.ones(4)\nclass P:\n    def go(self):\n        K[1] = 2\nP().go()", TABLE),
    "by a function without arguments": (
        "K = np.ones(4)\ndef fill():\n    K[1] = 2\nfill()", TABLE),
    "by a function of a function": (
        "K = np.ones(4)\ndef fill():\n    K[1] = 2\ndef go():\n    fill()\ngo()", TABLE),
    "by a function it is given to": ("K = np.ones(4)\ndef fill(w):\n    w[1] = 2\nfill(K)", TABLE),
    "by a default": ("K = np.ones(4)\ndef fill(w=K):\n    w[1] = 2\nfill()", TABLE),
    "by a function given as a value": (
        "K = np.ones(4)\ndef fill(i):\n    K[i] = i\nlist(map(fill, range(3)))", TABLE),
    "by a lambda on a list": ("K = [1, 2, 3]\ngo = lambda: K.append(4)\ngo()", "x * np.array(K)"),
    "by what get returns": (
        "T = np.ones(4)\ndef get():\n    return T\nget()[0] = 2\nK = T", TABLE),
    "by an unknown library": (
        "import heapq\nK = [3, 1, 2, 0]\nheapq.heapify(K)", "x * np.array(K)"),
    "random, seeded": ("K = np.zeros(4)\nK += np.random.default_rng(3).random(4)", TABLE),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGED)
def test_a_constant_has_the_value_that_python_computes(name: str, tmp_path: Path) -> None:
    text = source(*CHANGED[name])
    expected = executed(text)
    found = converted(text, tmp_path)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


REFUSED = {
    "global": ("K = 2\ndef g(v):\n    global K\n    K = v", 5),
    "global, called": ("K = 2\ndef g(v):\n    global K\n    K = v\ng(3)", 5),
    "global in a method": (
        "K = 2\nclass P:\n    def g(self):\n        global K\n        K += 1", 6),
    "global in a nested function": (
        "K = 2\ndef g():\n    def h():\n        global K\n        K = 3\n    h()", 6),
    "global loop variable": (
        "K = 2\ndef g():\n    global K\n    for K in range(3):\n        pass", 5),
    "table of a function": ("K = np.ones(4)\ndef g(i):\n    K[i] = 0", 4),
    "table filled by a function": ("K = np.ones(4)\ndef g():\n    K.fill(0)", 4),
    "alias in a function": ("K = np.ones(4)\ndef g():\n    w = K\n    w += 1", 5),
    "through a helper's argument": (
        "K = np.ones(4)\ndef fill(w):\n    w[0] = 2\ndef g():\n    fill(K)", 6),
    "main block": ("K = 2\nif __name__ == '__main__':\n    K = 3", 4),
    "main block, stored": ("K = np.ones(4)\nif __name__ == '__main__':\n    K[0] = 3", 4),
    "globals": ("K = 2\nglobals()['K'] = 3", 3),
    "globals update": ("K = 2\nglobals().update(K=3)", 3),
    "exec": ("K = 2\nexec('K = 3')", 3),
    "exec in a function": ("K = 2\ndef g(code):\n    exec(code, globals())", 4),
    "run to run": ("import random\nK = 1\nK += random.random()", None),
    "clock": ("import time\nK = 0\nK += time.perf_counter()", None),
    "not a number": ("for K in (object(),):\n    pass", None),
    "a dict": ("K = {}\nK['a'] = 1", None),
    "raises": ("K = 2\nK += undefined", None),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_constant_that_may_change_is_refused(name: str, tmp_path: Path) -> None:
    text, line = REFUSED[name]
    with pytest.raises(Refusal) as caught:
        converted(source(text, TABLE if "np.ones" in text else SCALAR), tmp_path)
    found = caught.value.diagnostic
    assert found.code == "PRT914" and "`K`" in found.message and found.help
    if line is not None:
        line += HEAD.count("\n") - 1
        assert f"(line {line})" in found.message and found.notes[0].span.line == line


PATCHED = {
    "ufunc": ("np.sqrt = np.exp", "np.sqrt(x)"),
    "ufunc, unused elsewhere": ("def g():\n    np.exp = np.sqrt", "np.exp(x)"),
    "setattr": ("setattr(np, 'sqrt', np.exp)", "np.sqrt(x)"),
    "math": ("math.pi = 3", "x * math.pi"),
    "imported afterwards": ("np.sqrt = np.exp\nfrom numpy import sqrt", "sqrt(x)"),
    "linalg": ("np.linalg.norm = np.sum", "x * np.linalg.norm(x)"),
    "deleted": ("del np.sqrt", "np.sqrt(x)"),
    "in a branch": ("if math.pi > 3:\n    np.sqrt = np.exp", "np.sqrt(x)"),
    "a constant": ("np.pi = 3", "x * np.pi"),
    "by a loop": ("for np.sqrt in (np.exp, np.log):\n    pass", "np.sqrt(x)"),
    "in a helper": ("np.sqrt = np.exp\ndef h(v):\n    return np.sqrt(v)", "h(x)"),
}


@pytest.mark.parametrize("name", PATCHED)
def test_an_attribute_of_a_library_that_is_set_is_refused(name: str, tmp_path: Path) -> None:
    text = source(*PATCHED[name])
    with pytest.raises(Refusal) as caught:
        converted(text, tmp_path)
    assert caught.value.diagnostic.code == "PRT914"
    # what is not set is not refused
    other = source(PATCHED[name][0], "np.floor(x)")
    np.testing.assert_array_equal(converted(other, tmp_path), np.floor([1.0, -2.5, 3.0, 0.5]))


UNTOUCHED = {
    "read": "K = np.ones(4)\nprint(K, end='')\nS = K.sum()\nT = K * 2\nT[0] = 1",
    "saved": "K = np.ones(4)\nnp.save('file.npy', K)",
    "plotted": "import matplotlib.pyplot as plt\nK = np.ones(4)\nplt.plot(K)",
    "given to a reader": "K = np.ones(4)\ndef total(w):\n    return w.sum()\ntotal(K)",
    "copied": "K = np.ones(4)\nV = K.copy()\nV[0] = 2",
    "a new array": "K = np.ones(4)\nV = np.sqrt(K)\nV[0] = 2",
    "a number given away": "K = 3\ntrain(K)",
    "local of that name": "K = 3\ndef g():\n    K = 4\n    K += 1\n    return K",
    "parameter of that name": "K = np.ones(4)\ndef g(K):\n    K[0] = 4",
    "comprehension variable": "K = 3\nL = [K for K in range(3)]",
    "lambda parameter": "K = [1]\ng = lambda K: K.append(2)",
    "class attribute": "K = 3\nclass P:\n    K = 4",
    "an element as a start": "K = np.zeros(4)\ndef g(x):\n    s = K[0]\n    s += x\n    return s",
    "infinity as a start": "K = 3\ndef g(x):\n    s = np.inf\n    s += x\n    return s * K",
    "exec elsewhere": "K = 3\nexec('L = 4', {})",
}


@pytest.mark.parametrize("name", UNTOUCHED)
def test_what_only_reads_a_constant_does_not_count(name: str) -> None:
    top = TopLevel(HEAD + UNTOUCHED[name])
    assert isinstance(top.status("K"), Plain)
    lines = [top.body[k].lineno for k in top.slice(["K"])]
    assert len([n for n in lines if n > 2]) == 1, "only the assignment runs"


def test_status_says_which_lines(tmp_path: Path) -> None:
    top = TopLevel("K = 2\nif K:\n    K = 3\ndef g():\n    global L\n    L = 1\nL = 2\nM = K\n")
    assert top.status("K") == Executed((1, 2))
    assert isinstance(top.status("L"), Unknown)
    assert top.status("M") == Executed((8,))
    assert top.slice(["M"]) == [0, 1, 4]


SCRIPT = """
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
K = 2
K += 1
W = np.ones(3)
for i in range(3):
    W[i] = i


def log(word):
    (HERE / "ran").open("a").write(word + "\\n")


def train(steps):
    log("train")
    return steps


model = train(3)
log(f"{model}")
print("a side effect", file=sys.stderr)


def f(x):
    return np.sqrt(x[:3]) * W + K
"""


@pytest.mark.slow
def test_nothing_else_of_the_script_runs(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(SCRIPT)
    done = porter(tmp_path, "convert", "s.py", "-f", "f")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "K is 3 (lines 8 and 9)" in done.stdout
    assert not (tmp_path / "ran").exists()
    checked = porter(tmp_path, "convert", "s.py", "-f", "f", "--check")
    assert checked.returncode == 0, checked.stdout
    # an assumption that no longer holds makes the module stale
    module = tmp_path / "s_cuda.py"
    module.write_text(module.read_text().replace("K is 3", "K is 4"))
    assert porter(tmp_path, "convert", "s.py", "-f", "f", "--check").returncode == 1
    refused = porter(tmp_path, "convert", "s.py", "-f", "f", "--no-verify", "--force")
    assert refused.returncode == 1 and "PRT914" in refused.stdout


@pytest.mark.long
def test_run_module_takes_the_values_that_the_whole_file_leaves(tmp_path: Path) -> None:
    text = """
        def setup(v):
            global K
            K = v

        K = 2
        setup(5)

        def f(x):
            return x * K
    """
    (tmp_path / "s.py").write_text(textwrap.dedent(text))
    assert porter(tmp_path, "convert", "s.py", "-f", "f").returncode == 1
    done = porter(tmp_path, "convert", "s.py", "-f", "f", "--run-module")
    assert done.returncode == 0 and "K is 5 (running the module)" in done.stdout, done.stdout
    without = porter(tmp_path, "verify", "s_cuda.py")
    assert without.returncode == 2 and "--run-module" in without.stderr
    assert porter(tmp_path, "verify", "s_cuda.py", "--run-module").returncode == 0


def test_a_constant_that_takes_too_long(tmp_path: Path) -> None:
    values = ModuleValues(seconds=1.0)
    found = values(str(tmp_path / "m.py"), "K = 1\nwhile K:\n    K += 1\n", "K")
    assert found == Computed(why="takes over 1 s to compute")
    values = ModuleValues()
    found = values(str(tmp_path / "m2.py"), "K = 1\nimport os\nos._exit(3)\nK += 1\n", "K")
    assert found.text == "2"
    found = values(str(tmp_path / "m3.py"), "import os\nK = 1\nK += os._exit(3)\n", "K")
    assert "exit code 3" in found.why


def test_analysis_runs_nothing(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(SCRIPT)
    done = porter(tmp_path, "analyze", "s.py", "--output-format", "json")
    verdicts = {f["name"]: f["verdict"] for f in json.loads(done.stdout)["functions"]}
    assert verdicts["f"] == "convertible"
    assert not (tmp_path / "ran").exists()


ALTERNATIVES = {
    "missing": ("try:\n    import no_such_module as K\nexcept ImportError:\n    K = None",
                "x if K is None else x * 2"),
    "a flag": ("try:\n    import no_such_module\n    K = True\nexcept ImportError:\n    K = False",
               "x * 2 if K else x"),
    "there": ("try:\n    import numpy as K\nexcept ImportError:\n    K = None",
              "x if K is None else K.sqrt(np.abs(x))"),
    "a function of a library": (
        "try:\n    from no_such_module import K\nexcept ImportError:\n    K = np.sqrt",
        "K(np.abs(x))"),
    "a number": ("try:\n    from no_such_module import K\nexcept ImportError:\n    K = 5", SCALAR),
}  # fmt: skip


@pytest.mark.parametrize("name", ALTERNATIVES)
def test_an_import_with_an_alternative(name: str, tmp_path: Path) -> None:
    text = source(*ALTERNATIVES[name])
    np.testing.assert_array_equal(converted(text, tmp_path), executed(text))
