"""Pages that show themselves in notebooks."""

from __future__ import annotations

import html
import os
from pathlib import Path


class Page:
    """A page of HTML: a notebook shows it in place, and :meth:`save` writes it for a browser."""

    __slots__ = ("html",)

    def __init__(self, html: str) -> None:
        self.html = html

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the page to a file, and returns where it is."""
        file = Path(path)
        file.write_text(self.html, encoding="utf-8")
        return file

    def __repr__(self) -> str:
        return f"<Page of {len(self.html)} bytes: save(PATH) writes it for a browser>"

    def _repr_html_(self) -> str:
        style = "width: 100%; height: 56rem; border: 0"
        return f'<iframe srcdoc="{html.escape(self.html)}" title="tailwater explore" style="{style}"></iframe>'
