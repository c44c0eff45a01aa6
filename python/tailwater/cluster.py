"""Where simulations run: in processes of this machine, or on the workers of Ray, of Dask, or of an executor.

A job is a scenario and the number of a point; its answer is the point's file as bytes. The driver stores each answer as
a local run does, and then lets go of it. So a worker that is killed loses the batch that it was at, and the death of
the driver nothing that was stored.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from typing import Any, Protocol

from tailwater import _tailwater, _values
from tailwater._errors import ScenarioError, WorkerError
from tailwater._worker import Answers, Raised, Task, work

Handle = Any
"""A task that is under way."""


class Engine(Protocol):
    """Has tasks done by workers."""

    workers: int
    """Tasks that are done at a time."""
    ahead: int
    """Tasks that may wait besides, so that no worker waits."""

    def submit(self, task: Task) -> Handle: ...
    def done(self, handles: Sequence[Handle]) -> Sequence[Handle]:
        """Those that are done; it waits for the first a little while."""
        ...

    def result(self, handle: Handle) -> Answers: ...
    def release(self, handle: Handle) -> None:
        """Nobody needs its answers any more."""

    def cancel(self, handle: Handle) -> None: ...
    def close(self) -> None: ...


class Driver:
    """Hands out the simulations of a run, and takes in their answers."""

    def __init__(
        self, engine: Engine, captures: str | None, classes: bytes | None, memory: int | None
    ) -> None:
        self._engine = engine
        self._captures = captures
        self._classes = classes
        self._memory = memory
        self._under_way: list[tuple[Handle, Task]] = []

    def answers(
        self, toml: str, jobs: list[tuple[list[int], float]], steps: int
    ) -> Generator[tuple[int, list[bytes], Any] | None, None, None]:
        """The answer of each job, as they come, and ``None`` every now and then; the next one is asked for when
        the last one is stored."""
        engine = self._engine
        waiting = deque(range(len(jobs)))
        rate = 0.0
        while waiting or self._under_way:
            while waiting and len(self._under_way) < engine.workers + engine.ahead:
                share = -(-len(waiting) // (engine.workers + engine.ahead))
                batch = _batch(waiting, [job[1] for job in jobs], rate, share)
                task = Task(
                    _tailwater.VERSION,
                    toml,
                    self._captures,
                    self._classes,
                    steps,
                    self._memory,
                    tuple((number, tuple(jobs[number][0])) for number in batch),
                )
                self._under_way.append((engine.submit(task), task))
            done = engine.done([handle for handle, _ in self._under_way])
            yield None
            for handle in done:
                place = next(
                    place for place, other in enumerate(self._under_way) if other[0] is handle
                )
                seconds, found = engine.result(handle)
                for number, packed, raised in found:
                    yield number, packed, None if raised is None else _raised(raised)
                expected = sum(jobs[number][1] for number, _, _ in found)
                rate = max(rate * 0.5, seconds / max(expected, 1.0))
                del self._under_way[place]
                engine.release(handle)

    def close(self) -> None:
        """Takes back what is under way."""
        for handle, _ in self._under_way:
            self._engine.cancel(handle)
        self._under_way.clear()

    def end(self) -> None:
        """Ends the workers that were begun for the run."""
        self._engine.close()


def _batch(waiting: deque[int], steps: list[float], rate: float, share: int) -> list[int]:
    """Jobs of about a second together; one alone until it is known how long they take."""
    batch = [waiting.popleft()]
    seconds = steps[batch[0]] * rate
    while rate and waiting and len(batch) < share:
        seconds += steps[waiting[0]] * rate
        if seconds > SECONDS:
            break
        batch.append(waiting.popleft())
    return batch


SECONDS = 1.0
"""How long a worker is at a batch: long beside what it costs to hand it out, and short to do again."""


PATIENCE = 60.0
"""Seconds after which a cluster without workers is given up."""


class RemoteTraceback(Exception):
    """The traceback of an exception that was raised in another process."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f'\n"""\n{self.text}"""'


def _raised(raised: Raised) -> tuple[str, int, int, BaseException]:
    exception: BaseException = pickle.loads(raised.exception)
    exception.__cause__ = RemoteTraceback(raised.trace)
    return raised.scheme, raised.seed, raised.time, exception


def driver(
    on: object,
    jobs: int | None,
    memory: int | None,
    captures: str | None,
    classes: Sequence[type[Any]],
) -> Driver | None:
    """The driver of a run; none if its simulations are threads of this process."""
    if on is None:
        return None
    sent = _sent(classes) if classes else None
    engine: Engine
    if on == "processes":
        from tailwater._processes import Processes

        engine = Processes(jobs or _cores())
    elif on == "ray":
        engine = _Ray(jobs)
    elif on == "dask":
        engine = _Dask(None, jobs)
    elif isinstance(on, Executor):
        engine = _Executor(on, jobs)
    elif type(on).__module__.split(".")[0] == "distributed":
        engine = _Dask(on, jobs)
    else:
        expected = "'processes', 'ray', 'dask', a client of Dask, or an executor of concurrent.futures"
        raise _values.wrong("on", on, expected)
    # The limit is for all simulations together.
    share = None if memory is None else max(1, memory // engine.workers)
    return Driver(engine, captures, sent, share)


def _sent(classes: Sequence[type[Any]]) -> bytes:
    """Pickles classes with their code, so that workers do not need their files."""
    try:
        import cloudpickle
    except ImportError:
        raise _missing("cloudpickle", "processes") from None
    modules = {sys.modules[one.__module__] for one in classes if one.__module__ in sys.modules}
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    try:
        for one in classes:
            # Its hash goes with it.
            from tailwater._declared import has_source

            has_source(one)
        return bytes(cloudpickle.dumps(list(classes)))
    except Exception as error:
        names = ", ".join(one.__name__ for one in classes)
        message = f"{names} cannot be sent to other processes: {error}"
        expected = "use no objects of this process in its methods, such as open files and locks"
        raise ScenarioError(f"{message}\n  help: {expected}") from error
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)


def _missing(name: str, extra: str) -> ImportError:
    text = f"{name} is not installed; install it with: python -m pip install '.[{extra}]' in the clone, or {name} alone"
    return ImportError(text, name=name)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Executor:
    """An executor of ``concurrent.futures``."""

    def __init__(self, executor: Executor, jobs: int | None) -> None:
        self._executor = executor
        self.workers = jobs or int(getattr(executor, "_max_workers", 0)) or _cores()
        self.ahead = 1

    def submit(self, task: Task) -> Future[Answers]:
        return self._executor.submit(work, task)

    def done(self, handles: Sequence[Future[Answers]]) -> list[Future[Answers]]:
        done, _ = wait(handles, timeout=0.05, return_when=FIRST_COMPLETED)
        return [handle for handle in handles if handle in done]

    def result(self, handle: Future[Answers]) -> Answers:
        return handle.result()

    def release(self, handle: Future[Answers]) -> None:
        pass

    def cancel(self, handle: Future[Answers]) -> None:
        handle.cancel()

    def close(self) -> None:
        pass


class _Ray:
    """Ray: what runs already, or else the cores of this machine."""

    def __init__(self, jobs: int | None) -> None:
        try:
            import ray as library
        except ImportError:
            raise _missing("ray", "ray") from None
        ray: Any = library
        self._ray = ray
        self._ours = not ray.is_initialized()
        if self._ours:
            ray.init(num_cpus=jobs or _cores(), include_dashboard=False, log_to_driver=False)
        self.workers = jobs or int(ray.cluster_resources().get("CPU", 1)) or 1
        self.ahead = 1
        self._work = ray.remote(max_retries=3)(work)

    def submit(self, task: Task) -> Handle:
        return self._work.remote(task)

    def done(self, handles: Sequence[Handle]) -> Sequence[Handle]:
        done, _ = self._ray.wait(list(handles), num_returns=1, timeout=0.05)
        return [handle for handle in handles if handle in done]

    def result(self, handle: Handle) -> Answers:
        try:
            return self._ray.get(handle)  # type: ignore[no-any-return]
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from None

    def release(self, handle: Handle) -> None:
        # The last reference goes with the driver's own.
        pass

    def cancel(self, handle: Handle) -> None:
        self._ray.cancel(handle, force=True)

    def close(self) -> None:
        if self._ours:
            self._ray.shutdown()


class _Dask:
    """Dask: a client, or else a cluster of processes on this machine."""

    def __init__(self, client: Any, jobs: int | None) -> None:
        try:
            import distributed as library
        except ImportError:
            raise _missing("distributed", "dask") from None
        distributed: Any = library
        self._distributed = distributed
        self._ours = client is None
        self._client: Any = client
        if client is None:
            self._client = distributed.Client(
                n_workers=jobs or _cores(), threads_per_worker=1, dashboard_address=None
            )
        threads = self._client.nthreads()
        self.workers = jobs or max(1, sum(threads.values()))
        self.ahead = 1
        self._looked = self._worked = time.monotonic()

    def submit(self, task: Task) -> Handle:
        return self._client.submit(work, task, pure=False)

    def done(self, handles: Sequence[Handle]) -> Sequence[Handle]:
        try:
            self._distributed.wait(list(handles), timeout=0.05, return_when="FIRST_COMPLETED")
        except (TimeoutError, self._distributed.TimeoutError):
            self._look()
            return []
        return [handle for handle in handles if handle.done()]

    def _look(self) -> None:
        """A scheduler waits for ever for workers that never come, or come back."""
        now = time.monotonic()
        if now - self._looked < 1:
            return
        self._looked = now
        if self._client.nthreads():
            self._worked = now
        elif now - self._worked > PATIENCE:
            raise WorkerError(
                f"Dask has had no worker for {now - self._worked:.0f} s\n"
                "  help: read the logs of the workers; with out=, resume=True runs the missing simulations"
            )

    def result(self, handle: Handle) -> Answers:
        return handle.result()  # type: ignore[no-any-return]

    def release(self, handle: Handle) -> None:
        handle.release()

    def cancel(self, handle: Handle) -> None:
        handle.cancel()

    def close(self) -> None:
        if self._ours:
            cluster = self._client.cluster
            self._client.close()
            if cluster is not None:
                cluster.close()
