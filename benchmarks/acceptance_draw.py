"""Which functions of research repositories porter takes, and the 80 that are drawn of them.

    python benchmarks/acceptance_draw.py --repos DIR [--seed N] [--write FILE]

The pool: top-level functions with a parameter that `porter analyze` judges `convertible` or
`partly`, outside of tests, docs and examples, and that can be loaded with what is installed.
FILE gets the counts of the verdicts, the codes of the refusals, the pool and the draw as JSON.
"""

from __future__ import annotations

import argparse
import ast
import collections
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
#: repository: the folder of its package
PACKAGES = {
    "antropy": "src/antropy",
    "librosa": "librosa",
    "lmfit-py": "lmfit",
    "neurodsp": "neurodsp",
    "pvlib-python": "pvlib",
    "python-acoustics": "acoustics",
    "transforms3d": "transforms3d",
    "trimesh": "trimesh",
}
TAKEN = ("convertible", "partly")
#: drawn, but no call can be made of what is installed
UNSUITED = {"pvlib-python/pvlib/modelchain.py:_all_same_index": "takes pandas DataFrames only"}
OUTSIDE = {"tests", "testing", "docs", "doc", "examples", "benchmarks"}
LOADS = """
import json, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from acceptance_load import load
from inspect import signature
for line in json.load(sys.stdin):
    path, _, name = line.partition(":")
    try:
        if signature(load(Path(sys.argv[2]) / path, name)).parameters:
            print("LOADS", line)
    except BaseException as error:
        print("LEFT", line, type(error).__name__, str(error)[:80])
"""


def analyze(folder: Path) -> list[dict[str, Any]]:
    """What `porter analyze` says of each function below the folder."""
    command = [sys.executable, "-m", "porter", "analyze", str(folder), "--no-cache"]
    with tempfile.NamedTemporaryFile(suffix=".json") as output:
        command += ["--output-format", "json", "--output-file", output.name]
        subprocess.run(command, capture_output=True, check=False, cwd=ROOT)
        functions: list[dict[str, Any]] = json.loads(output.read())["functions"]
    return functions


def plain(path: Path) -> set[str]:
    """The names of the top-level functions of a file that have no decorator."""
    try:
        tree = ast.parse(path.read_text())
    except SyntaxError:  # of a newer Python: the original cannot run here
        return set()
    return {n.name for n in tree.body if isinstance(n, ast.FunctionDef) and not n.decorator_list}


def candidates(repos: Path, functions: list[dict[str, Any]]) -> list[str]:
    """`file:name` of the functions that porter takes, below the folder of the repositories."""
    found = set()
    for f in functions:
        path = Path(f["path"]) if Path(f["path"]).is_absolute() else repos / f["path"]
        inside = path.resolve().relative_to(repos.resolve())
        if f["verdict"] in TAKEN and not OUTSIDE & set(inside.parts) and f["name"] in plain(path):
            found.add(f"{inside}:{f['name']}")
    return sorted(found)


def loadable(repos: Path, names: list[str]) -> list[str]:
    """Those that can be loaded here, each file in a process of its own."""
    files: dict[str, list[str]] = collections.defaultdict(list)
    for name in names:
        files[name.partition(":")[0]].append(name)
    found = []
    for of_file in files.values():
        command = [sys.executable, "-c", LOADS, str(Path(__file__).parent), str(repos)]
        done = subprocess.run(
            command, input=json.dumps(of_file), capture_output=True, text=True, check=False
        )
        lines = done.stdout.splitlines()
        found += [line.split()[1] for line in lines if line.startswith("LOADS ")]
    return sorted(found)


def draw(pools: dict[str, list[str]], count: int, seed: int) -> list[str]:
    """`count` names: one of each repository in turn, in an order that the seed decides."""
    chance = random.Random(seed)
    shuffled = {name: chance.sample(pool, len(pool)) for name, pool in pools.items()}
    queues = {k: [n for n in names if n not in UNSUITED] for k, names in shuffled.items()}
    drawn: list[str] = []
    while len(drawn) < count and any(queues.values()):
        for queue in queues.values():
            if queue and len(drawn) < count:
                drawn.append(queue.pop())
    return sorted(drawn)


def count(functions: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The verdicts, and the refusals by code, most frequent first."""
    functions = list(functions)
    verdicts = collections.Counter(f["verdict"] for f in functions)
    refused = (f for f in functions if f["verdict"] == "refused")
    codes = collections.Counter(code for f in refused for code in set(f["reasons"]))
    return {"verdicts": dict(verdicts.most_common()), "refusals": dict(codes.most_common())}


def main() -> int:
    """Analyse, draw, write."""
    made = argparse.ArgumentParser(description="Draws functions of research repositories.")
    made.add_argument("--repos", type=Path, required=True, metavar="DIR")
    made.add_argument("--seed", type=int, default=22)
    made.add_argument("--count", type=int, default=80)
    made.add_argument("--write", type=Path, metavar="FILE")
    options = made.parse_args()
    pools, repositories = {}, {}
    for repository, package in PACKAGES.items():
        checkout = options.repos / repository
        command = ["git", "-C", str(checkout), "rev-parse", "HEAD"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        functions = analyze(checkout / package)
        judged = candidates(options.repos, functions)
        pools[repository] = loadable(options.repos, judged)
        repositories[repository] = {
            "commit": done.stdout.strip(),
            "functions": len(functions),
            **count(functions),
            "judged": len(judged),
            "pool": len(pools[repository]),
        }
        print(repository, json.dumps(repositories[repository]), flush=True)
    drawn = draw(pools, options.count, options.seed)
    print(*drawn, sep="\n")
    if options.write:
        record = {
            "seed": options.seed,
            "unsuited": UNSUITED,
            "repositories": repositories,
            "drawn": drawn,
        }
        options.write.write_text(json.dumps(record, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
