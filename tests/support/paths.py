"""Where things lie in the repository."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
ROOT = TESTS.parent
EXAMPLES = ROOT / "examples"
#: the modules that are generated from the examples, as they are committed
GOLDEN = TESTS / "golden"
#: the programs of the corpus; what they are called with lies in `corpus/cases/`
CORPUS = TESTS / "corpus" / "programs"
#: modules for tests of the verifier, with their sources
VERIFY_MODULES = TESTS / "verify" / "modules"
