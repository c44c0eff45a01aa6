"""Texts that show themselves as they are."""

import html


class Text(str):
    """A text of several lines: a prompt prints it, and a notebook shows it with its lines and columns."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self).rstrip("\n")

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"
