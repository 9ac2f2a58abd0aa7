"""PRT917: a function on which porter itself failed."""

from __future__ import annotations

from porter.rules.base import ConverterRule
from porter.rules.converter.verification_failed import VerificationFailed


class InternalError(ConverterRule):
    """
    ## What it does

    Reports a function that porter could not convert, verify or analyze because of an error in
    porter itself. The other functions of the file are not affected.

    ## Why is this bad?

    Nothing is written for the function, although nothing may be wrong with it.

    ## Example

    ```python
    porter convert waves.py  # PRT917: porter could not convert `step` because of an error ...
    ```

    With `PORTER_DEBUG=1` in the environment porter stops there and shows where it was. Until the
    mistake is fixed, write the line that it stumbles over in another way.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT917"
    name = "internal-error"
    VALID = VerificationFailed.VALID
    INVALID = ""
