"""PRT900: the file is not Python."""

from __future__ import annotations

from porter.rules.base import Bad, ConverterRule


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
    VALID = (
        "x = 1\n",
        "",
        """
        def f(x):
            return x
        """,
    )
    INVALID = (
        Bad(
            """
            def f(x:
                return x
            """,
            "1:6",
        ),
        Bad(
            "x = = 1\n",
            "1:5",
        ),
    )
