"""What there is to choose from."""

from __future__ import annotations

from tailwater import _tailwater
from tailwater._text import Text


def list(what: str | None = None) -> Text:
    """What there is to choose from: schemes, classes that were registered included, scenarios, keys and others.

    >>> list("schemes")
    """
    return Text(_tailwater.list(what))
