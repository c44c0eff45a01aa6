"""Simulations in other processes: the same bytes, whoever dies."""

from __future__ import annotations

import concurrent.futures
import importlib.util
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import tailwater as tw
from conftest import SMALL
from tailwater import _worker, cluster
from twins import NewReno

TRUST = bool(os.environ.get("TAILWATER_TRUST"))
"""Whether there is time for all of it."""
KILLS = 20 if TRUST else 1
POINTS = 200 if TRUST else 24
Read = Callable[[Path], "dict[str, bytes]"]
ENGINES = ["processes", "ray", "dask"]
MARKS = ("tailwater._worker", "ray::work", "--multiprocessing-fork", "spawn_main")
"""What the command lines of workers have in them."""
MODULES = {"ray": "ray", "dask": "distributed"}


def _lacks(engine: str) -> None:
    module = MODULES.get(engine)
    if module is not None and importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    if importlib.util.find_spec("cloudpickle") is None:
        pytest.skip("cloudpickle is not installed")


@pytest.fixture(scope="module", params=ENGINES)
def on(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Two workers of each kind, which all tests use where that makes them quicker."""
    engine: str = request.param
    _lacks(engine)
    if engine == "processes":
        yield engine
    elif engine == "ray":
        import ray

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        yield engine
        ray.shutdown()
    else:
        import distributed

        with distributed.Client(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as client:
            yield client


def _same(ours: dict[str, bytes], theirs: dict[str, bytes]) -> None:
    assert list(ours) == list(theirs)
    # The report names the command and its cost.
    different = [name for name in ours if ours[name] != theirs[name]]
    assert different in ([], ["report.html"])


def test_files_are_those_of_a_local_run(on: Any, folders: Read) -> None:
    asked: dict[str, Any] = {**SMALL, "seeds": 3, "trace": "queue", "pcap": "bottleneck"}
    asked["schemes"] = ["newreno", "dctcp", NewReno]
    asked["set"] = {**SMALL["set"], "dctcp.g": [0.0625, 0.5]}  # type: ignore[dict-item]
    local = tw.run("incast", **asked, out="local")
    told: list[tuple[int, int]] = []
    tell = lambda done, total: told.append((done, total))  # noqa: E731
    away = tw.run("incast", **asked, out="away", on=on, jobs=2, progress=tell)
    _same(folders(away.path), folders(local.path))
    assert told[-1] == (36, 36)
    # More seeds continue it, elsewhere too.
    more = tw.run("incast", **{**asked, "seeds": 4, "pcap": None}, out="more", on=on, jobs=2)
    assert len(more.points) == 48


def test_a_scheme_that_raises_does_so_at_home(on: Any) -> None:
    class Wrong(tw.Sender):
        """Fails after its first loss."""

        def on_loss(self, loss: tw.Loss, in_flight: int, now: int) -> None:
            raise LookupError("on purpose")

    def run(on: Any) -> tw.SchemeError:
        senders = {"workload.senders": [1, 60]}
        with pytest.raises(tw.SchemeError) as raised:
            tw.run("incast", schemes=["newreno", Wrong], set=senders, seeds=1, on=on, jobs=2)
        return raised.value

    local, away = run(None), run(on)
    assert str(local) == str(away)
    assert (local.scheme, local.seed, local.time) == (away.scheme, away.seed, away.time)
    assert isinstance(away.__cause__, LookupError)
    assert "on_loss" in str(away.__cause__.__cause__)
    assert len(away.results.points) == 3


def _workers(marks: Sequence[str] = MARKS) -> list[int]:
    """The numbers of processes that simulate for this one, however they are begun."""
    parents: dict[int, int] = {}
    words: dict[int, str] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text()
                words[int(folder.name)] = (folder / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            parents[int(folder.name)] = int(stat.rsplit(")", 1)[1].split()[1])

    def ours(pid: int) -> bool:
        while pid > 1:
            pid = parents.get(pid, 0)
            if pid == os.getpid():
                return True
        return False

    helpers = ("resource_tracker", "semaphore_tracker")
    return [
        pid
        for pid, text in words.items()
        if ours(pid)
        and any(mark in text for mark in marks)
        and not any(helper in text for helper in helpers)
    ]


def _logged(log: Path) -> type[tw.Sender]:
    """A scheme that notes each simulation, and by whom it is done."""
    path = str(log)

    class Logged(tw.Sender):
        """Takes its time."""

        number: int = tw.param(0, help="Which one it is.")
        slept = False

        def on_established(self, mss: int, segments: int) -> None:
            if self.size is not None:
                with open(path, "a", encoding="utf-8") as file:
                    file.write(f"{os.getpid()} {self.number}\n")
                time.sleep(0.05)

    return Logged


@pytest.mark.trust
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="workers are found in /proc")
def test_a_worker_that_is_killed_loses_its_batch_alone(
    on: Any, tmp_path: Path, folders: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each batch is one simulation.
    monkeypatch.setattr(cluster, "SECONDS", 0.0)
    asked: dict[str, Any] = {"set": {"workload.senders": 1, "logged.number": range(POINTS)}, "seeds": 1}
    first = tw.run("incast", schemes=_logged(tmp_path / "log"), **asked, out="local")
    moments = random.Random(20)
    killed = 0
    for number in range(KILLS):
        log = tmp_path / f"log-{number}"
        scheme = _logged(log)
        chosen: list[int] = []
        over = threading.Event()

        def kill() -> None:
            after = moments.randrange(2, POINTS // 2)
            # However long workers take to start.
            while not over.wait(0.01):
                lines = log.read_text().split("\n")[:-1] if log.exists() else []
                if len(lines) >= after:
                    time.sleep(moments.uniform(0, 0.1))
                    # The one that has begun last is most likely at it.
                    pid = int(lines[-1].split()[0])
                    if pid in _workers():
                        os.kill(pid, signal.SIGKILL)
                        chosen.append(pid)
                        return

        thread = threading.Thread(target=kill)
        thread.start()
        try:
            away = tw.run("incast", schemes=scheme, **asked, out=f"away-{number}", on=on, jobs=2)
        finally:
            over.set()
            thread.join()
        killed += len(chosen)
        _same(folders(away.path), folders(first.path))
        done = Counter(line.split()[1] for line in log.read_text().splitlines())
        assert len(done) == POINTS
        # What it was at, and what it had done and nobody had fetched yet.
        assert sum(done.values()) - POINTS <= 2, done
    assert killed > KILLS // 2


def test_shards_become_one_run(folders: Read) -> None:
    whole = tw.run("incast", **SMALL, seeds=3, out="whole")
    for number in (1, 2):
        shard = tw.run("incast", **SMALL, seeds=3, shard=(number, 2), out=f"shard-{number}")
        assert (shard.finished, shard.points) == (6, 12)
    with pytest.raises(tw.ScenarioError, match="6 of 12 points"):
        tw.merge("shard-1", out="part")
    merged = tw.merge("shard-1", "shard-2", out="merged")
    _same(folders(merged.path), folders(whole.path))
    with pytest.raises(tw.ScenarioError, match="from 1 to n"):
        tw.run("incast", shard=(3, 2), out="x")
    with pytest.raises(tw.ScenarioError, match="until"):
        tw.run("incast", shard=(1, 2), until=0.1, out="x")  # type: ignore[call-overload]


def test_figures_of_papers_run_there_too() -> None:
    local = tw.reproduce("rcc/fig5a", seeds=1, causes="none")
    away = tw.reproduce("rcc/fig5a", seeds=1, causes="none", on="processes", jobs=2)
    assert away.claims == local.claims


def test_executors_do_it() -> None:
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
        away = tw.run("incast", **SMALL, seeds=2, on=executor)
    local = tw.run("incast", **SMALL, seeds=2)
    assert away.rows.to_arrow().equals(local.rows.to_arrow())


def test_a_worker_of_another_version_is_refused(tmp_path: Path) -> None:
    toml = str(tw.Scenario("incast", schemes="newreno", seeds=1).toml)
    task = _worker.Task("0.0.1+old", toml, None, None, 10**9, None, ((0, (0,)),))
    with pytest.raises(tw.ScenarioError, match="worker has version") as raised:
        _worker.work(task)
    assert "0.0.1+old" in str(raised.value) and tw.open is not None
    assert "install the same version" in str(raised.value)


def test_a_cluster_without_workers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    _lacks("dask")
    import distributed

    monkeypatch.setattr(cluster, "PATIENCE", 1.0)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as nobody,
        distributed.Client(nobody) as client,
        pytest.raises(tw.WorkerError, match="no worker for"),
    ):
        tw.run("incast", **SMALL, seeds=1, on=client)


def test_interrupted_runs_go_on_elsewhere(folders: Read) -> None:
    sizes = {"workload.senders": 20, "workload.jitter": "1ms", "workload.size": "1MB"}
    asked: dict[str, Any] = {"schemes": ["newreno", "dctcp"], "set": sizes, "seeds": 40}
    whole = tw.run("incast", **asked, out="whole")
    timer = threading.Timer(1.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        tw.run("incast", **asked, out="away", on="processes", jobs=2)
        timer.cancel()
    except KeyboardInterrupt:
        pass
    timer.join()
    assert not _workers(MARKS[:1])
    again = tw.run("incast", **asked, out="away", on="processes", jobs=2, resume=True)
    _same(folders(again.path), folders(whole.path))


def test_what_cannot_travel_says_so() -> None:
    pytest.importorskip("cloudpickle")
    lock = threading.Lock()

    class Locked(tw.Sender):
        """Holds what belongs to a process."""

        def on_ack(self, ack: tw.Ack) -> None:
            lock.acquire()

    with pytest.raises(tw.ScenarioError, match="Locked cannot be sent to other processes"):
        tw.run("incast", schemes=Locked, on="processes")


def test_without_an_engine_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for engine, module in MODULES.items():
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(ImportError, match=rf"\[{engine}\]"):
            tw.run("incast", on=engine)
    with pytest.raises(tw.ScenarioError, match="'processes', 'ray', 'dask'"):
        tw.run("incast", on="slurm")


def test_a_script_needs_no_guard(tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle")
    script = tmp_path / "script.py"
    script.write_text(
        "import tailwater as tw\n"
        "class Mine(tw.Sender):\n"
        "    '''Does nothing.'''\n"
        "    def on_ack(self, ack):\n"
        "        print('heard', flush=True)\n"
        "run = tw.run('incast', schemes=Mine, seeds=2, on='processes', jobs=2)\n"
        "print(len(run.points))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    # What schemes print does not come between answers.
    assert done.stdout.split() in ([b"3"], [b"6"]) and b"heard" in done.stderr
