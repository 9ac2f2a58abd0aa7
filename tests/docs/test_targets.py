"""The page of targets is what its command writes."""

from __future__ import annotations

import pytest

from tests.tools.make_targets import PAGE, page


@pytest.mark.long
def test_the_page_is_current() -> None:
    assert PAGE.read_text("utf-8") == page(), "python -m tests.tools.make_targets"
