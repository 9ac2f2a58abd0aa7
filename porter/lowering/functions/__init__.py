"""The NumPy functions that porter converts: each is a table row or a few lines.

`FUNCTIONS` maps a dotted name to its handler; importing this package fills it from every
file in it.
"""

from importlib import import_module
from pkgutil import iter_modules

from porter.lowering.functions.registry import FUNCTIONS

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["FUNCTIONS"]
