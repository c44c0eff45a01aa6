"""Temporary run folders."""

from __future__ import annotations

import os
import weakref
from pathlib import Path


class Temporary:
    """A folder that goes with the last object that uses it, and at the latest with the process."""

    def __init__(self, name: str) -> None:
        import tempfile

        root = tempfile.mkdtemp(prefix="tailwater-")
        self.path = Path(root) / name
        self._gone = weakref.finalize(self, _remove, root, os.getpid())


def _remove(root: str, owner: int) -> None:
    # A process that was forked has the object, too, and the folder is not its own.
    if os.getpid() == owner:
        import shutil

        shutil.rmtree(root, ignore_errors=True)
