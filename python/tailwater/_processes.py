"""Workers that are processes of this machine."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from tailwater._folder import Temporary
from tailwater._worker import Answers, Task, receive, send

_BEGIN = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from tailwater._worker import serve; serve()"
)
"""Finds modules where this process does, and this package first."""
_HERE = str(Path(__file__).resolve().parents[1])
"""Where this package is."""


class _Job:
    def __init__(self, task: Task) -> None:
        self.task = task
        self.answers: Answers | None = None
        self.error: Exception | None = None
        self.deaths = 0


class _Process:
    """A process and the thread that hears it."""

    def __init__(self, told: queue.SimpleQueue[tuple[_Process, object]], folder: Path) -> None:
        self.job: _Job | None = None
        self.process = subprocess.Popen(
            [sys.executable, "-c", _BEGIN, json.dumps([_HERE, *map(str, sys.path)])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(folder)},
        )
        self._told = told
        self._thread = threading.Thread(target=self._hear, daemon=True)
        self._thread.start()

    def begin(self, job: _Job) -> None:
        self.job = job
        assert self.process.stdin is not None
        try:
            send(self.process.stdin, job.task)
        except OSError:
            # It has gone, of which its thread tells.
            pass

    def end(self) -> None:
        if self.job is not None:
            self.process.kill()
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            # It ends when nothing more can come.
            self.process.stdin.close()
        except OSError:
            pass
        self.process.wait()
        self._thread.join()
        self.process.stdout.close()

    def _hear(self) -> None:
        assert self.process.stdout is not None
        while True:
            try:
                answer = receive(self.process.stdout)
            except Exception:
                self._told.put((self, None))
                return
            self._told.put((self, answer))


class Processes:
    """So many processes. One that is killed is replaced, and what it was at is done again."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        # Each gets a task as soon as it has none.
        self.ahead = 1
        self._told: queue.SimpleQueue[tuple[_Process, object]] = queue.SimpleQueue()
        self._waiting: list[_Job] = []
        self._processes: list[_Process] = []
        # Workers that are killed leave their files here.
        self._folder = Temporary("workers")
        self._folder.path.mkdir()

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes."""
        return [process.process.pid for process in self._processes]

    def submit(self, task: Task) -> _Job:
        job = _Job(task)
        self._waiting.append(job)
        self._assign()
        return job

    def done(self, handles: Sequence[_Job]) -> list[_Job]:
        try:
            self._hear(*self._told.get(timeout=0.05))
            while True:
                self._hear(*self._told.get_nowait())
        except queue.Empty:
            pass
        return [job for job in handles if job.answers is not None or job.error is not None]

    def result(self, handle: _Job) -> Answers:
        if handle.error is not None:
            raise handle.error
        assert handle.answers is not None
        return handle.answers

    def release(self, handle: _Job) -> None:
        handle.answers = None

    def cancel(self, handle: _Job) -> None:
        if handle in self._waiting:
            self._waiting.remove(handle)

    def close(self) -> None:
        for process in self._processes:
            process.end()
        self._processes.clear()

    def _hear(self, process: _Process, answer: object) -> None:
        job, process.job = process.job, None
        if answer is None:
            self._processes.remove(process)
            process.end()
            if job is not None:
                self._again(job, process.process.returncode)
        elif job is not None and isinstance(answer, Exception):
            job.error = answer
        elif job is not None:
            job.answers = answer  # type: ignore[assignment]
        self._assign()

    def _again(self, job: _Job, status: int) -> None:
        job.deaths += 1
        if job.deaths <= _DEATHS:
            self._waiting.insert(0, job)
            return
        job.error = RuntimeError(
            f"{job.deaths} processes ended with status {status} at the same simulations: they may need more memory "
            "than is available; run fewer at a time with jobs, or resume in threads"
        )

    def _assign(self) -> None:
        while self._waiting:
            idle = next((process for process in self._processes if process.job is None), None)
            if idle is None:
                if len(self._processes) >= self.workers:
                    return
                idle = _Process(self._told, self._folder.path)
                self._processes.append(idle)
            idle.begin(self._waiting.pop(0))


_DEATHS = 3
"""Processes that may die at the same task."""
