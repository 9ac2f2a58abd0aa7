"""PRT900: the file is not Python."""

from __future__ import annotations

from porter.rules.base import ConverterRule


class SyntaxErrorRule(ConverterRule):
    """
    ## What it does

    Reports a file, or a cell of a notebook, that Python cannot parse.

    ## Why is this bad?

    Nothing in it can be analyzed or converted.

    ## Example

    ```python
    def f(x:  # PRT900
        return x
    ```

    Correct the syntax. porter parses files with the Python version that it runs on.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT900"
    name = "syntax-error"
    VALID = """
        x = 1
        ---
        ---
        def f(x):
            return x
        """
    INVALID = """
        --- 1:6
        def f(x:
            return x
        --- 1:5
        x = = 1
        """
