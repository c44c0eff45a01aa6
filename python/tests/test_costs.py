"""What the package costs beside simulations: time for a point, and the interpreter's lock."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import tailwater as tw

TRUST = bool(os.environ.get("TAILWATER_TRUST"))
"""Whether there is time for all of it."""
POINTS = 1000 if TRUST else 100


@pytest.mark.trust
def test_a_point_costs_little_beside_its_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Ext4 gives no file the inode of one that was deleted in the last minutes, and looks past those of all points of
    # the repeats before, which takes longer than a point. In memory the package's own work is left.
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(dir=memory)) if os.access(memory, os.W_OK) else tmp_path
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    pair = {"workload.senders": 2, "workload.size": "4KB", "workload.jitter": "1ms"}

    def each(number: int, out: str | None) -> float:
        """Milliseconds of a processor for a point, without those of its events."""
        start = time.process_time()
        run = tw.run(
            "incast", schemes="newreno", set=pair, seeds=POINTS, jobs=1, trace="off", out=out
        )
        spent = time.process_time() - start
        return (spent * 1e3 - run.summary["cost"]["cpu_us"] / 1e3) / POINTS

    repeats = range(7 if TRUST else 2)
    scratch = min(each(number, None) for number in repeats)
    kept = min(each(number, f"{folder}/run-{number}") for number in repeats)
    on_disk = each(0, str(tmp_path / "run"))
    shutil.rmtree(folder)
    print(f"a point costs {scratch:.3f} ms, in a folder that is kept {kept:.3f} ms, on disk {on_disk:.3f} ms")
    bound = 1 if TRUST else 4
    assert scratch < bound and kept < bound, (scratch, kept)


@pytest.mark.trust
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="two threads need two processors")
def test_a_thread_beside_a_run_keeps_its_speed() -> None:
    def speed(over: Callable[[], bool]) -> float:
        """Additions a second until it is over."""
        start, counted = time.perf_counter(), 0
        while not over():
            for _ in range(10_000):
                counted += 1
        return counted / (time.perf_counter() - start)

    def alone() -> float:
        until = time.perf_counter() + 0.5
        return speed(lambda: time.perf_counter() > until)

    def beside() -> float:
        size = {"workload.senders": 16, "workload.size": "8MB"}
        run = lambda: tw.run("incast", schemes="newreno", set=size, jobs=1, trace="off")  # noqa: E731
        thread = threading.Thread(target=run)
        thread.start()
        return speed(lambda: not thread.is_alive())

    shares = [beside() / alone() for _ in range(5)]
    print(f"a thread beside a run has {max(shares):.0%} of its speed")
    # Who shares the machine takes as much from one as from two.
    assert max(shares) > (0.8 if TRUST else 0.3), shares
