"""Ends what other threads do in Python."""

from __future__ import annotations

import ctypes


def interrupt(threads: list[int]) -> None:
    """Raises ``KeyboardInterrupt`` in threads, as Ctrl-C does in the main one."""
    for thread in threads:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt)
        )
