"""The generated module and its source, loaded for all functions of a request."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from porter.bench.request import CountRequest
from porter.codegen.module.header import parse
from porter.verify import generated
from porter.verify.checks.subject import Subject, Version
from porter.verify.loaded import Source
from porter.verify.oracle.original import index_parameters, literals


class Module:
    """The host functions of a module, each beside its original."""

    def __init__(self, request: CountRequest) -> None:
        path, text = Path(request.place), Path(request.module).read_text("utf-8")
        header = parse(text)
        assert header is not None, "the parent has read the header"
        self.header = header
        source = Path(os.path.normpath(path.parent / header.source))
        # nothing is written beside the user's modules
        sys.dont_write_bytecode = True
        # at the end, so that no file of the user's hides a module of the library
        sys.path += [str(source.parent), str(path.parent)]
        self.source = Source(source, request.functions, request.run_module)
        self.module = generated.load(path, text, generated.OF_A_GPU)

    def subject(self, name: str) -> Subject:
        """A function in both forms.  Raises `LookupError` where one of them is missing."""
        source, record = self.source, self.header.function(name)
        assert record is not None, "the parent asks only for functions in the header"
        host = getattr(self.module, name.rsplit(".", 1)[-1], None)
        if not callable(host):
            raise LookupError(f"the module defines no function `{name}`")
        original = source.plain(record, source.original.function(name))
        version = Version(source.plain(record, host), {})
        return Subject(
            record, original, original, version, version,
            index_parameters(source.text, name),
            literals(source.text, name, source.original.namespace),
            source.domain(name), None, False, source.hints(name),
        )  # fmt: skip
