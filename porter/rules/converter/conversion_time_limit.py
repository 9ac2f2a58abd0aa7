"""PRT918: a function that takes too long to convert."""

from __future__ import annotations

from porter.rules.base import ConverterRule
from porter.rules.converter.verification_failed import VerificationFailed


class ConversionTimeLimit(ConverterRule):
    """
    ## What it does

    Reports a function whose conversion did not end within the time limit: the seconds of
    `porter convert --timeout` (300), or two minutes in `porter analyze`.

    ## Why is this bad?

    Nothing is written for the function.

    ## Example

    ```python
    porter convert --timeout 20 model.py  # PRT918: converting `model` takes more than 20 s
    ```

    Split the function into several ones, or give it more time.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT918"
    name = "conversion-time-limit"
    VALID = VerificationFailed.VALID
    INVALID = ""
