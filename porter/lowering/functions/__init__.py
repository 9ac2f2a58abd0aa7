"""The NumPy functions that porter converts: each is a table row or a few lines.

A handler is declared with the parameters of its function (`registry.function`), which completes
the record in `porter.numpy_functions`; importing this package does so for every file in it.
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
