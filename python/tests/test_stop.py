"""Ctrl-C, and going on afterwards."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import tailwater as tw
from conftest import LONG

Read = Callable[[Path], "dict[str, bytes]"]

TRUST = bool(os.environ.get("TAILWATER_TRUST"))
"""Whether there is time for all of it."""
PATIENCE = 0.2 if TRUST else 1.0
"""Seconds: the bound of 0.2 holds on an idle machine, and everyday tests share theirs."""


def _after(seconds: float, run: Callable[[], object]) -> float:
    """Presses Ctrl-C some time after `run` begins: how long it takes to end then."""
    pressed: list[float] = []

    def press() -> None:
        pressed.append(time.perf_counter())
        signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(seconds, press)
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        run()
    ended = time.perf_counter()
    timer.join()
    return ended - pressed[0]


@pytest.mark.trust
def test_a_long_simulation_ends_at_once() -> None:
    times = random.Random(21)
    moments = [times.uniform(0.05, 1.0) for _ in range(20 if TRUST else 3)]
    waits = [_after(moment, lambda: tw.run(LONG)) for moment in moments]
    assert min(waits) < 0.2, waits
    assert max(waits) < PATIENCE, waits


@pytest.mark.trust
def test_a_sweep_that_was_ended_goes_on_to_the_same_bytes(folders: Read) -> None:
    def run(out: str, resume: bool) -> tw.Results:
        jitter = {"workload.jitter": "1ms", "workload.senders": 20}
        return tw.run(
            "incast", schemes=["newreno", "dctcp"], set=jitter, seeds=120, out=out, resume=resume
        )

    whole = run("whole", False)
    moments = random.Random(20)
    ended = 0
    for _ in range(20 if TRUST else 4):
        try:
            timer = threading.Timer(moments.uniform(0.05, 0.3), signal.raise_signal, [signal.SIGINT])
            timer.start()
            run("ended", True)
            timer.cancel()
        except KeyboardInterrupt:
            ended += 1
        timer.join()
    assert ended > 0
    again = run("ended", True)
    theirs, ours = folders(whole.path), folders(again.path)
    assert list(ours) == list(theirs)
    assert [name for name in ours if ours[name] != theirs[name]] in ([], ["report.html"])


def test_a_thread_that_is_not_the_main_one_runs_and_nobody_interrupts_it() -> None:
    done: list[int] = []
    thread = threading.Thread(
        target=lambda: done.append(len(tw.run("incast", schemes="newreno").flows))
    )
    thread.start()
    thread.join()
    assert done and done[0] > 0


def test_other_threads_go_on_meanwhile() -> None:
    moments: list[float] = []
    over = threading.Event()

    def count() -> None:
        while not over.wait(0.001):
            moments.append(time.perf_counter())

    thread = threading.Thread(target=count)
    thread.start()
    begun = time.perf_counter()
    try:
        _after(0.3, lambda: tw.run(LONG, jobs=1))
    finally:
        ended = time.perf_counter()
        over.set()
        thread.join()
    # A run that kept the interpreter's lock would let it count before and behind itself alone, on any machine.
    quarter = (ended - begun) / 4
    assert [moment for moment in moments if begun + quarter < moment < ended - quarter]


def test_a_script_ends_with_a_traceback_as_others_do() -> None:
    code = f"import tailwater as tw\nprint('begun', flush=True)\ntw.run({LONG!r})"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"begun\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert said.rstrip().endswith(b"KeyboardInterrupt")
    assert process.returncode == -signal.SIGINT
