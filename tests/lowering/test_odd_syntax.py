"""Odd but valid statements: a function with one converts, or is refused at its place."""

from __future__ import annotations

import ast

import pytest

from porter.convert.function import convert_function
from porter.diagnostics import Refusal
from porter.source.module import SourceModule
from tests.support.sampling import one_in

STATEMENTS = r"""
pass
...
return
"a lone string"
global K
assert (x, "msg")
assert (x)
assert (k), "b"
assert(k > 0), f"{k}"
assert(k)
assert k, x
assert True
assert(len(x) > 0)
print()
print
x
k
1
None
x.shape
tuple()
list()
dict()
set()
frozenset()
int()
float()
bool()
complex()
str()
bytes()
max()
min()
sum()
len()
range()
abs()
round()
sorted()
zip()
enumerate()
map()
any()
all()
np.zeros()
np.sum()
np.dot()
np.array()
np.array([])
np.where()
np.linalg.norm()
math.sqrt()
math.sqrt(1, 2)
isinstance()
isinstance(x)
hasattr()
slice()
t = tuple()
t = list()
t = dict()
t = set()
t = int()
t = float()
t = bool()
t = complex()
t = str()
t = max()
t = ()
t = []
t = {}
t = [*x]
t = (*x,)
t = {*()}
t = {**{}}
t = {1, 2}
t = {1: x}
t = {i: i for i in range(3)}
t = {i for i in range(3)}
t = [i for i in range(3) if i]
t = (i for i in range(3))
t = [[j for j in range(i)] for i in range(3)]
t = lambda: x
t = lambda *a, **k: a
t = (lambda y: y * 2)(x)
t = yield
t = yield x
yield from x
await x
t = await x
if (n := len(x)) > 2: pass
t = (n := k + 1)
del k
del x
del x[0]
del t
match k:\n    case 1: pass\n    case _: pass
with open("f") as f: pass
with np.errstate(all="ignore"): pass
with np.errstate(all="ignore") as e, open("g"): t = 1
with (open("f") as f, open("g") as g): pass
try:\n    t = 1\nfinally:\n    t = 2
try:\n    t = 1\nexcept* ValueError:\n    pass
for i in []: pass
for i in (): t = 1
for i in range(0): pass
for i in range(3): pass\nelse: t = 1
for i in range(3): break
for i in range(3): continue
for i, *j in [(1, 2)]: pass
for i, (a, b) in enumerate([(1, 2)]): t = a
for x[0] in range(3): pass
for x.a in range(3): pass
while True: break
while False: pass
while k: k -= 1\nelse: t = 1
while k > 0: pass
def g(): pass
def g(a, /, b, *, c=1, **d): return a\nt = g(1, 2)
def g(*a): return a\nt = g(*x)
async def g(): pass
class C: pass
class C(object):\n    y = 1\nt = C.y
@staticmethod\ndef g(): pass
type T = int
import os
import os.path as p
from math import sqrt as s\nt = s(2.0)
if k: import os
t: int
t: int = 3
t: "np.ndarray"
x[0]: int = 3
x.a: int
t = u = 1
t, u = 1, 2
t, *u = 1, 2, 3
*t, = x
[t, u] = [1, 2]
(t) = 1
(t, (u, v)) = 1, (2, 3)
x[0], x[1] = x[1], x[0]
x[...] = 1
x[()] = 1
x[None] = 1
x[::2] = 1
x[::-1] = 1
x[1:2:3] += 1
x[:, 0] = 1
x[k:] = x[:-k]
x[[0, 1]] = 1
x[x > 0] = 0
x["a"] = 1
x[1.5] = 1
x[True] = 1
x.shape = (3, 1)
x.T[0] = 1
x @= x
t = x @ x
t = x ** x
t = x // x
t = x << 1
t = 5 >> 1
t = ~k
t = not x
t = +x
t = -(-x)
t = x is None
t = x is not None
t = k in (1, 2)
t = k not in [1, 2]
t = k in x
t = 0 < k < 5 != 3
t = 0 < x < 5
t = k and x
t = k or 1
t = x if k else -x
t = x if x else -x
t = f"{k}"
t = f"{k:>{10}.2f}"
t = f"{k!r:>{k}}"
t = f"{x=}"
t = "a" "b" f"{k}"
t = b"a" b"b"
t = r"\\d"
t = "k x"
t = 1_000
t = 0x_ff
t = 0b1
t = 1e-3
t = 1_0.0_1
t = 3j
t = 1 + 3j
t = x * 2j
t = 10 ** 400
t = 1e400
t = ...
t = Ellipsis
t = NotImplemented
t = __name__
t = __debug__
t = True + True
t = None
t = not None
t = x.real.imag
t = x.nope
t = x.nope()
t = np.nope(x)
t = nope(x)
t = nope
t = x[0][0]
t = x[0, 0, 0]
t = x[nope]
t = x[1:2, ...]
t = x[..., None]
t = x[slice(1, 2)]
t = x[slice(None)]
t = x[np.newaxis]
t = x()()
t = k()
t = x(1)
t = np
t = np.float64
t = math
t = print
t = np.add(*[x, x])
t = np.add(x, x, **{})
t = np.add(*(x,), x)
t = max(*[1, 2])
t = max([])
t = min(())
t = sum([])
t = sum(())
t = max(k, x)
t = max(x, key=abs)
t = any([])
t = all(())
t = int("3")
t = int("a")
t = float("nan")
t = float("x")
t = int(x)
t = bool([])
t = str(k)
t = repr(x)
t = type(x)
t = type(x)(3)
t = divmod(k, 2)
t = pow(k, 2, 3)
t = round(k, 2)
t = abs(-3)
t = [1, 2][k]
t = (1, 2)[0]
t = (1, 2)[5]
t = {}["a"]
t = "abc"[0]
t = "abc".upper()
t = "".join([])
t = [1, 2] + [3]
t = [0] * 3
t = [x] * 2
t = (x,) + (x,)
t = [1, 2] == [1, 2]
t = () == ()
t = "a" < "b"
t = "a" * k
t = "%d" % k
t = len([])
t = len(())
t = len("a")
t = len({})
t = len(k)
t = range(3)
t = range(3)[1]
t = list(range(3))
t = tuple(x)
t = list(x)
t = set(x)
t = sorted(x)
t = reversed(x)
t = list(zip(x, x))
t = list(map(abs, x))
t = dict(a=1)
t = dict(a=1)["a"]
t = np.array([[1, 2], [3]])
t = np.array([[]])
t = np.array(3)
t = np.array([None])
t = np.array("a")
t = np.zeros(())
t = np.zeros(0)
t = np.zeros(-1)
t = np.zeros((2, -1))
t = np.arange(0)
t = np.arange(3, 0)
t = np.concatenate([])
t = np.stack(())
t = np.sum([])
t = np.max([])
t = np.where([], [], [])
t = np.r_[1:3]
t = np.einsum("i,i", x, x)
t = np.einsum("", x)
t = x.reshape()
t = x.reshape(-1, -1)
t = x.sum(axis=5)
t = x.sum(axis=())
t = x.sum(axis=(0,))
t = x.sum(0, 1, 2, 3, 4, 5)
t = x.sum(nope=1)
t = x.T.T.T
t = x.mean().mean()
t = k.sum()
t = k.shape
t = np.linalg
t = np.random.rand(3)
if k: t = 1
if k: pass\nelse: pass
if k: return x
if k: return
if k: t = x\nelse: t = None
if k: t = 1\nelif x.sum(): t = 2\nelse: t = x
if (): pass
if "": pass
if []: t = 1
if x: pass
if None: pass
if k: y = "a"\nelse: y = [1]
if k:\n    t = tuple()\nelse:\n    t = ()
if k > 0:\n    s = 0\nelse:\n    s = 1
raise
raise ValueError
raise ValueError("a") from None
return None
return ()
return []
return {}
return x, 
return x, None
return *x, 1
return (yield)
return "a"
return lambda: x
return np
return x[0:0]
return not x
return print(x)
return 3
return 3j
return -0.0
return ...
return k
return x is x
k += 1
x += x
x += None
x -= "a"
t += 1
x[0] += x[1]
x[0] **= 2
k //= 0
k = 1 / 0
k = 1 % 0
k = 0 ** -1
k <<= 2
k = -k ** -k
pass; pass
t = 1; u = 2
if k: pass; t = 1
x.sort()
x.fill(0)
x.resize(3)
x.sum
x.append(1)
t = []; t.append(1)
t = []; t.append(x); t = np.array(t)
t = [1]; t[0] = 2
t = [1, 2]; t.extend([3]); t.pop()
t = {}; t["a"] = x
t = set(); t.add(1)
t = ""; t += "a"
t = iter(x); next(t)
exec("1")
eval("1")
globals()
locals()
vars()
dir()
super()
__import__("os")
input()
exit()
open("a")
breakpoint()
print(x, k, sep="", end="")
print(*x)
print(f"{x}")
print("a", file=None)
async with x: pass
async for i in x: pass
def g():\n    nonlocal k\n    k = 1
x.flags.writeable = False
if k:\n    x\nelse:\n    ...
for i in range(len(x)):\n    ...
for i in range(len(x)):\n    "doc"
for i in range(len(x)):\n    x
while k:\n    global K\n    break
for i in range(len(x)):\n    x[i] = tuple()
for i in range(len(x)):\n    assert x[i]
for i in range(len(x)):\n    print()
for i in range(len(x)):\n    pass; x[i] = 1
for i in range(len(x)):\n    return x
for i in range(len(x)):\n    if x[i]: return i
"""

ALL = [line.replace("\\n", "\n") for line in STATEMENTS.strip().splitlines()]


def indented(text: str, depth: int = 1) -> str:
    return "\n".join("    " * depth + line for line in text.split("\n"))


def programs(statement: str) -> list[str]:
    """Functions with the statement before an array, in a branch, and alone."""
    head = "import math\nimport numpy as np\nK = 3\n\ndef f(x, k):\n"
    branch = f"    if k > 3:\n{indented(statement, 2)}\n"
    plain = indented(statement) + "\n"
    ends = ("    return x * 2\n", "")
    return [head + body + end for body in (plain, branch) for end in ends]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("statement", one_in(4, ALL))
def test_a_statement_is_converted_or_refused(statement: str) -> None:
    tried = 0
    for text in programs(statement):
        try:
            compile(text, "t.py", "exec")
        except SyntaxError:
            continue
        tried += 1
        (function,) = [f for f in SourceModule(text, "t.py").functions if f.name == "f"]
        try:
            made = convert_function(function, "float64[:], int64")
        except Refusal as refusal:
            found = refusal.diagnostic
            assert found.code.startswith("PRT") and found.function == "f"
            assert 0 < len(found.message) <= 120
            assert 1 <= found.span.line <= text.count("\n")
        else:
            for part in made.text.parts:
                ast.parse(part)
    assert tried or "type " in statement or "async" in statement or "await" in statement
