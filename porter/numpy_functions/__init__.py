"""What is known of NumPy's functions: one record for each, which every part of porter reads.

The records lie on the ground floor because inference, the resolver of names, the converter and
the analyzer's rules all ask for them, and the last works without the converter being loaded:
`table.py` has the facts, and importing this package fills the register. A handler of
`lowering/functions/` completes the record of its function with the parameters and what the
function becomes; of a function that the table does not have, it gives the facts itself. So a
new function is one declaration in one file.
"""

from porter.numpy_functions import table as _table  # noqa: F401
from porter.numpy_functions.spec import (
    MISSING,
    SPECS,
    Dotted,
    FunctionSpec,
    Rank,
    converted,
    declare,
    known,
    method_of,
    methods,
    spec_of,
)

__all__ = [
    "MISSING",
    "SPECS",
    "Dotted",
    "FunctionSpec",
    "Rank",
    "converted",
    "declare",
    "known",
    "method_of",
    "methods",
    "spec_of",
]
