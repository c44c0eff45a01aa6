"""Simulates points for another process: what workers of every kind do, and the process that is one."""

from __future__ import annotations

import pickle
import time
import traceback
from collections.abc import Callable
from typing import IO, Any, NamedTuple

from tailwater import _tailwater
from tailwater._folder import Temporary


class Task(NamedTuple):
    """Simulations that one worker does, one after the other."""

    version: str
    toml: str
    captures: str | None
    classes: bytes | None
    """Schemes in Python, by cloudpickle."""
    steps: int
    """Steps that one simulation may take."""
    memory: int | None
    """Memory that it may take, in bytes."""
    jobs: tuple[tuple[int, tuple[int, ...]], ...]
    """Each job's number, and the points that it answers."""


class Raised(NamedTuple):
    """What a scheme in Python has raised."""

    scheme: str
    seed: int
    time: int
    exception: bytes
    trace: str


Answers = tuple[float, list[tuple[int, list[bytes], "Raised | None"]]]
"""How many seconds it took; for each job its number, the bytes of its points, and what a scheme has raised."""


def work(task: Task) -> Answers:
    """Does a task."""
    start = time.perf_counter()
    worker = _worker(task)
    answers = []
    for number, points in task.jobs:
        packed, raised = worker.simulate(list(points), task.steps, task.memory)
        answers.append((number, packed, None if raised is None else _told(*raised[1:])))
    return time.perf_counter() - start, answers


_last: tuple[tuple[Any, ...], _tailwater.Worker, Temporary] | None = None
"""The worker of the last task: those of one run are alike."""


def _worker(task: Task) -> _tailwater.Worker:
    global _last
    key = (task.version, task.toml, task.captures, task.classes)
    last = _last
    if last is None or last[0] != key:
        if task.version == _tailwater.VERSION and task.classes is not None:
            from tailwater._declared import register

            for scheme in pickle.loads(task.classes):
                register(scheme)
        folder = Temporary("worker")
        worker = _tailwater.Worker(task.version, task.toml, task.captures, folder.path)
        last = _last = (key, worker, folder)
    return last[1]


def _told(scheme: str, seed: int, moment: int, exception: BaseException) -> Raised:
    trace = "".join(traceback.format_exception(exception))
    try:
        import cloudpickle

        written = cloudpickle.dumps(exception)
        pickle.loads(written)
    except Exception:
        written = pickle.dumps(RuntimeError(f"{type(exception).__name__}: {exception}"))
    return Raised(scheme, seed, moment, written, trace)


def receive(stream: IO[bytes]) -> Any:
    """The next object that the other process sent, which ends a stream with its own end."""
    size = stream.read(8)
    if len(size) < 8:
        raise EOFError
    content = stream.read(int.from_bytes(size, "big"))
    if len(content) < int.from_bytes(size, "big"):
        raise EOFError
    return pickle.loads(content)


def send(stream: IO[bytes], value: object) -> None:
    """Sends an object to the other process."""
    content = pickle.dumps(value)
    stream.write(len(content).to_bytes(8, "big") + content)
    stream.flush()


def serve(do: Callable[[Task], Answers] = work) -> None:
    """Does the tasks that come in over the standard input, until it ends."""
    import os
    import signal
    import sys

    # Whoever asked for the run hears Ctrl-C, and ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tasks, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What schemes print must not come between answers.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdin = open(0, encoding="utf-8", closefd=False)
    while True:
        try:
            task = receive(tasks)
        except EOFError:
            return
        try:
            done: object = do(task)
        except Exception as error:
            done = error
        send(answers, done)
