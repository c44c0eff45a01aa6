"""How far a run has come, for people."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Is told how many simulations are done, and of how many."""


def of(progress: str | bool | Progress | None) -> tuple[Progress | None, Callable[[], None]]:
    """What to tell, and what to call at the end."""
    if callable(progress):
        return progress, lambda: None
    if progress in (False, None):
        return None, lambda: None
    if progress is not True and progress != "auto":
        from tailwater._values import wrong

        raise wrong("progress", progress, "give 'auto', True, False, or a function of (done, total)")
    if progress == "auto" and not _watched():
        return None, lambda: None
    line = _Line()
    return line.tell, line.end


def _watched() -> bool:
    """Whether somebody looks on: at a terminal, or at a notebook."""
    if "IPython" in sys.modules:
        shell = sys.modules["IPython"].get_ipython()
        if shell is not None and hasattr(shell, "kernel"):
            return True
    return sys.stderr is not None and sys.stderr.isatty()


class _Line:
    """A line that is written over: of a run that is over before anybody could read it, nothing."""

    def __init__(self) -> None:
        self.start = time.monotonic()
        self.length = 0

    def tell(self, done: int, total: int) -> None:
        passed = time.monotonic() - self.start
        if passed < 0.5 or done >= total and not self.length:
            return
        text = f"{done:,} of {total:,} simulations"
        if done:
            text += f", about {_duration(passed * (total - done) / done)} left"
        self._write(text)

    def end(self) -> None:
        if self.length:
            self._write("")
            sys.stderr.write("\r")
            sys.stderr.flush()

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self.length))
        sys.stderr.flush()
        self.length = len(text)


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole >= 3600:
        return f"{whole // 3600} h {whole // 60 % 60} min"
    return f"{whole // 60} min {whole % 60} s" if whole >= 60 else f"{whole} s"
