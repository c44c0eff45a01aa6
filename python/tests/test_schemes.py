"""Schemes in Python."""

from __future__ import annotations

import importlib.util
import os
import pickle
import random
import signal
import sys
import threading
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tailwater as tw
from rates import per_ack
from twins import Dctcp, NewReno, scenario

TRUST = bool(os.environ.get("TAILWATER_TRUST"))
"""Whether there is time for all of it."""
SMALL = {"workload.senders": 8, "workload.jitter": "100us"}
Read = Callable[[Path], "dict[str, bytes]"]


class Mine(tw.Sender):
    """Additive increase by half a segment.

    It reacts to losses as others do.
    """

    gain: float = tw.param(0.5, help="Segments per round trip.")
    cuts: int = tw.gauge(0, unit="cuts", help="Reductions so far.")

    def on_ack(self, ack: tw.Ack) -> None:
        if ack.bytes and not ack.recovering:
            self.cwnd += max(1, int(self.gain * self.mss * self.mss / self.cwnd))

    def on_loss(self, loss: tw.Loss, in_flight: int, now: int) -> None:
        self.cuts += 1
        self.ssthresh = max(in_flight // 2, 2 * self.mss)
        self.cwnd = self.mss if loss.timeout else self.ssthresh


def digests(run: tw.Results) -> dict[str, list[str]]:
    """What happened in the simulations of each scheme."""
    found: dict[str, list[str]] = {}
    points = run.points.to_arrow().to_pydict()
    for scheme, digest in zip(points["scheme"], points["digest"]):
        found.setdefault(scheme, []).append(digest)
    return found


@pytest.mark.trust
@pytest.mark.parametrize("number", range(100 if TRUST else 5))
def test_newreno_and_dctcp_in_python_do_what_those_in_rust_do(number: int) -> None:
    schemes: list[str | type[tw.Sender]] = ["newreno", NewReno, "dctcp", Dctcp]
    # One draw of each: in rounds on persistent connections DCTCP's class parts from Rust in one draw of ten. Why is open.
    run = tw.run("incast", schemes=schemes, set=scenario(number), seed=number, seeds=1)
    found = digests(run)
    assert found["newreno-py"] == found["newreno"]
    assert found["dctcp-py"] == found["dctcp"]
    assert found["newreno"] and found["dctcp"]


@pytest.mark.trust
def test_an_ack_costs_little() -> None:
    cost = per_ack()
    # The bounds are of an idle machine: neighbours make a processor slower, too.
    slow = 1 if TRUST else 5
    assert cost["empty"] < slow * 0.6, cost
    assert cost["newreno"] < slow * 2.0, cost


def test_a_class_is_a_scheme_with_everything_that_others_have() -> None:
    run = tw.run("incast", schemes=["newreno", Mine, "rcc+mine"], set={**SMALL, "mine.gain": [0.5, 2]}, seeds=2)
    rows = run.rows.to_arrow().to_pydict()
    assert rows["scheme"] == 2 * ["newreno", "mine", "rcc+mine"]
    assert rows["mine.gain"] == 3 * [0.5] + 3 * [2.0]
    found = digests(run)
    # The setting is no setting of NewReno, and changes the other two.
    assert found["newreno"][:2] == found["newreno"][2:]
    assert found["mine"][:2] != found["mine"][2:]
    assert "mine" in run._repr_html_() and "mine" in run.report().path.read_text()
    assert "Segments per round trip." in tw.explain("mine.gain")
    assert "It reacts to losses as others do." in tw.explain("mine")
    assert "Additive increase by half a segment" in tw.list("schemes")
    assert "mine.gain" in run.scenario


def test_traces_show_what_a_class_declares() -> None:
    run = tw.run("incast", schemes=Mine, set={"workload.senders": 40}, trace=["cuts", "cwnd"])
    series = run.series.to_arrow().to_pydict()
    assert max(cuts for cuts in series["cuts"] if cuts is not None) >= 1
    assert next(column.unit for column in run.series.columns if column.name == "cuts") == "cuts"


def test_there_is_one_object_for_each_connection() -> None:
    made: list[object] = []

    class Counted(Mine):
        """Counts."""

        def __init__(self) -> None:
            made.append(self)

    tw.run("incast", schemes=Counted, set={"workload.senders": 7}, seeds=1)
    # Each end of a connection has a sender.
    assert len(made) == len(set(map(id, made))) == 14


def test_parameters_have_the_kind_of_their_defaults() -> None:
    seen: list[dict[str, Any]] = []

    class Typed(tw.Sender):
        """Has all kinds."""

        whole = tw.param(3)
        real = tw.param(0.5)
        annotated: float = tw.param(1)
        flag = tw.param(True)
        word = tw.param("fast")
        time = tw.param("100us", kind="time")
        bytes = tw.param("32KiB", kind="bytes")
        rate = tw.param("1Gbps", kind="rate")

        def __init__(self) -> None:
            names = ("whole", "real", "annotated", "flag", "word", "time", "bytes", "rate")
            seen.append({name: getattr(self, name) for name in names})

    changed = {"typed.whole": -2, "typed.annotated": 0.25, "typed.time": "1ms", "typed.word": "slow"}
    tw.run("incast", schemes=Typed, set={"workload.senders": 1, **changed})
    expected = {"whole": -2, "real": 0.5, "annotated": 0.25, "flag": True, "word": "slow"}
    amounts = {"time": 10**9, "bytes": 32768, "rate": 10**9}
    assert seen[0] == {**expected, **amounts}
    # An object that somebody makes has the defaults.
    assert (Typed().time, Typed().real, Typed().cwnd) == (10**8, 0.5, 10 * Typed().mss)
    with pytest.raises(tw.ScenarioError, match="a time with its unit"):
        tw.Scenario("incast", schemes=Typed, set={"typed.time": 5})
    with pytest.raises(tw.ScenarioError, match="a whole number"):
        tw.Scenario("incast", schemes=Typed, set={"typed.whole": 0.5})


def test_what_an_ack_says_is_there_by_its_name_and_stays() -> None:
    acks: list[tw.Ack] = []

    class Keeps(Mine):
        """Keeps."""

        def on_ack(self, ack: tw.Ack) -> None:
            super().on_ack(ack)
            acks.append(ack)

    tw.run("incast", schemes=Keeps, set={"workload.senders": 1}, seeds=1)
    assert sum(ack.bytes for ack in acks) >= 32 * 1024
    assert all(ack.acknowledged <= ack.next for ack in acks)
    assert [ack.now for ack in acks] == sorted(ack.now for ack in acks)
    last = acks[-1]
    assert last.now_us == last.now / 1e6 and "acknowledged=" in repr(last)
    sample = next(ack for ack in acks if ack.rtt is not None)
    assert sample.rtt is not None and sample.rtt_us == sample.rtt / 1e6 and sample.rtt_us >= 80
    assert last.echo is None and last.extension == (0, 0, 0)
    assert not last.recovering and isinstance(last.grows, bool)


def test_a_receiver_holds_and_releases_acks() -> None:
    class Late(tw.Receiver):
        """Sends every ACK later."""

        wait = tw.param("200us", kind="time", help="By how much.")

        def __init__(self) -> None:
            self.held: list[tuple[int, int]] = []

        def on_ack_ready(self, slot: int, kind: str, now: int) -> Any:
            if kind == "syn":
                return "send"
            self.held = [one for one in self.held if one[1] != slot] + [(now + self.wait, slot)]
            self.deadline = self.held[0][0]
            return "hold"

        def next_release(self, now: int) -> int | None:
            if self.held and self.held[0][0] <= now:
                return self.held.pop(0)[1]
            self.deadline = self.held[0][0] if self.held else None
            return None

    run = tw.run("incast", schemes=[Late, "newreno"], set={"workload.senders": 1}, seeds=1)
    late, plain = (row["metrics"]["fct_mean_us"]["mean"] for row in run.summary["rows"])
    assert plain + 200 < late < plain + 2000
    # One that does nothing is the plain one.
    idle = type("Idle", (tw.Receiver,), {"__doc__": "Does nothing."})
    same = type("Same", (tw.Receiver,), {"window": lambda self, slot, buffer: buffer})
    run = tw.run("incast", schemes=[idle, same, "newreno"], set=SMALL)
    assert len(set(map(tuple, digests(run).values()))) == 1


def test_a_receiver_sets_windows() -> None:
    class Tight(tw.Receiver):
        """One segment at a time."""

        def window(self, slot: int, buffer: int) -> int:
            return min(buffer, self.mss)

    run = tw.run("incast", schemes=["newreno", Tight], set={"workload.senders": 60}, seeds=1)
    drops = {row["scheme"]: row["metrics"]["drops"]["mean"] for row in run.summary["rows"]}
    assert drops["tight"] < drops["newreno"]


def test_a_queue_in_python_marks_as_the_one_in_rust_does() -> None:
    class Step(tw.Queue):
        """Marks from a length on."""

        threshold = tw.param("60KB", kind="bytes", help="This length.")

        def on_arrival(self, backlog: tw.Backlog, packet: tw.Packet, now: int) -> None:
            if self.is_congested(backlog):
                packet.mark()

        def is_congested(self, backlog: tw.Backlog) -> bool:
            return backlog.bytes >= self.threshold

    settings = {"workload.senders": 30, "switch.ecn_threshold": "40pkt"}
    run = tw.run("incast", schemes=["dctcp", "dctcp+step" if tw.register(Step) else ""], set=settings)
    found = digests(run)
    assert found["dctcp"] == found["dctcp+step"]
    assert run.summary["rows"][0]["metrics"]["marks"]["mean"] > 0
    harsh = tw.run("incast", schemes="dctcp+step", set={**settings, "step.threshold": "5KB"})
    assert digests(harsh)["dctcp+step"] != found["dctcp"]


def test_a_queue_drops_what_it_says() -> None:
    class Small(tw.Queue):
        """Five packets."""

        def on_arrival(self, backlog: tw.Backlog, packet: tw.Packet, now: int) -> Any:
            return "drop" if backlog.packets >= 5 else "accept"

    run = tw.run("incast", schemes=Small, set={"workload.senders": 20})
    metrics = run.summary["rows"][0]["metrics"]
    assert metrics["drops"]["mean"] > 0
    assert metrics["queue_max_bytes"]["mean"] <= 5 * 1500


def test_a_hook_sees_what_passes_its_port() -> None:
    levels: list[int] = []
    seen: dict[str, int] = {}

    class Watch(tw.Hook):
        """Only looks."""

        every = tw.param("1ms", kind="time")

        def __init__(self) -> None:
            assert self.rate == 10**9 and self.mss == 1448
            self.deadline = self.every

        def on_arrival(self, queue: tw.Backlog, packet: tw.Packet, now: int) -> None:
            seen["arrival"] = seen.get("arrival", 0) + bool(packet.payload)

        def on_departure(self, queue: tw.Backlog, packet: tw.Packet, at: int) -> None:
            seen["departure"] = seen.get("departure", 0) + bool(packet.payload)

        def on_level(self, queue: tw.Backlog, at: int) -> None:
            levels.append(queue.bytes)

        def on_reverse(self, queue: tw.Backlog, packet: tw.Packet, now: int) -> None:
            seen["reverse"] = seen.get("reverse", 0) + packet.is_ack

        def on_deadline(self, queue: tw.Backlog, at: int) -> None:
            seen["deadline"] = seen.get("deadline", 0) + 1
            self.deadline = at + self.every

    run = tw.run("incast", schemes=["newreno", Watch], set=SMALL, seeds=1)
    found = digests(run)
    assert found["newreno"] == found["watch"]
    drops = run.summary["rows"][1]["metrics"]["drops"]["mean"]
    assert seen["arrival"] == seen["departure"] + drops > 100
    assert seen["reverse"] > 50 and seen["deadline"] > 10 and max(levels) > 1500

    class Narrow(tw.Hook):
        """Rewrites windows."""

        def on_reverse(self, queue: tw.Backlog, packet: tw.Packet, now: int) -> None:
            if not packet.is_syn:
                packet.window = min(packet.window, 1)

    narrow = tw.run("incast", schemes=Narrow, set={"workload.senders": 1}, seeds=1)
    assert digests(narrow)["narrow"] != found["newreno"]


class Wrong(Mine):
    """Fails for one seed of three."""

    def on_loss(self, loss: tw.Loss, in_flight: int, now: int) -> None:
        raise ZeroDivisionError("on purpose")


def test_an_exception_ends_its_point_alone() -> None:
    settings = {"workload.senders": [1, 60]}
    with pytest.raises(tw.SchemeError) as raised:
        tw.run("incast", schemes=["newreno", Wrong], set=settings, seeds=1)
    error = raised.value
    assert isinstance(error, tw.PointError) and isinstance(error, RuntimeError)
    assert (error.scheme, error.seed) == ("wrong", 1)
    assert 0 < error.time_us == error.time / 1e6 < 1e6
    assert isinstance(error.__cause__, ZeroDivisionError)
    trace = error.__cause__.__traceback__
    assert trace is not None and trace.tb_frame.f_code.co_name == "on_loss"
    assert "wrong raised ZeroDivisionError in on_loss, line" in str(error)
    assert "on purpose" in str(error) and "of simulated time" in str(error)
    # The others went on.
    assert len(error.results.points) == 3 and len(error.failures) == 1
    assert error.failures[0].set["workload.senders"] == "60"


@pytest.mark.parametrize(
    ("bytes", "kind", "says"),
    [
        (1.5, TypeError, "cwnd cannot be 1.5: it counts whole bytes"),
        (-3, ValueError, "cwnd cannot be -3"),
        (None, TypeError, "whole bytes"),
        (2**70, ValueError, "from 0 to"),
    ],
)
def test_a_window_that_is_no_whole_number_is_an_error(
    bytes: Any, kind: type[Exception], says: str
) -> None:
    class Broken(tw.Sender):
        """Sets what is no window."""

        def on_ack(self, ack: tw.Ack) -> None:
            self.cwnd = bytes

    with pytest.raises(tw.SchemeError) as raised:
        tw.run("incast", schemes=Broken, set={"workload.senders": 1}, seeds=1)
    assert isinstance(raised.value.__cause__, kind)
    assert says in str(raised.value.__cause__)


def test_what_a_role_must_not_return_is_an_error() -> None:
    def failing(base: type[Any], **methods: Any) -> str:
        scheme = type("Odd", (base,), methods)
        with pytest.raises(tw.SchemeError) as raised:
            tw.run("incast", schemes=scheme, set={"workload.senders": 2}, seeds=1)
        return str(raised.value.__cause__)

    assert '"hold"' in failing(tw.Receiver, on_ack_ready=lambda *arguments: 1)
    assert "whole bytes" in failing(tw.Receiver, window=lambda *arguments: 1e4)
    assert "a slot" in failing(tw.Receiver, next_release=lambda *arguments: "1")
    assert '"drop"' in failing(tw.Queue, on_arrival=lambda *arguments: False)
    assert "missing" in failing(tw.Sender, __init__=lambda self, more: None)


def test_a_class_that_cannot_work_is_refused() -> None:
    def declare(base: type[Any], **contents: Any) -> type[Any]:
        return type("Odd", (base,), contents)

    with pytest.raises(TypeError, match="did you mean on_ack"):
        declare(tw.Sender, on_acks=lambda self, ack: None)
    with pytest.raises(TypeError, match="field of tw.Sender"):
        declare(tw.Sender, cwnd=3)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"name": "rcc"}, "exists"),
        ({"name": "link"}, "exists"),
        ({"name": "Upper"}, "cannot name a scheme"),
        ({"marks": "some"}, "choose among"),
        ({"first_window": 0}, "at least 1"),
        ({"name": "odd2", "alpha": tw.gauge(0, unit="bytes")}, "a different unit"),
    ]
    for contents, says in cases:
        with pytest.raises(tw.ScenarioError, match=says):
            tw.register(declare(tw.Sender, **contents))
    with pytest.raises(tw.ScenarioError, match="derives from"):
        tw.register(tw.Sender)
    with pytest.raises(tw.ScenarioError, match="kind='time'"):
        declare(tw.Sender, wait=tw.param(3, kind="time"))  # type: ignore[call-overload]


def test_what_a_class_says_of_itself_holds() -> None:
    class Marked(NewReno):
        """Halves at marks."""

        name = "marked"
        marks = "classic"
        first_window = 2
        tcp = {"tcp.min_rto": "3ms"}

    seen: list[int] = []

    class Looks(Marked):
        """Looks."""

        name = "looks"
        marks = "classic"

        def on_established(self, mss: int, segments: int) -> None:
            seen.append(segments)
            assert self.cwnd == mss * segments

    run = tw.run("incast", schemes=[Marked, Looks, "newreno"], set={"workload.senders": 30})
    assert set(seen) == {2}
    marks = {row["scheme"]: row["metrics"]["marks"]["mean"] for row in run.summary["rows"]}
    assert marks["marked"] == marks["looks"] > 0 == marks["newreno"]
    with pytest.raises(tw.ScenarioError, match="cannot be combined"):
        tw.Scenario("incast", schemes=[Marked, "marked+dctcp"])


def _module(path: Path, text: str) -> types.ModuleType:
    """A module in a file, as another process would import it."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    import linecache

    linecache.clearcache()
    spec.loader.exec_module(module)
    return module


SOURCE = """
import tailwater as tw

class Kept(tw.Sender):
    '''Grows by {by} bytes.'''
    def on_ack(self, ack):
        self.cwnd += {by}
"""


def test_a_run_is_resumed_with_the_same_source_alone(tmp_path: Path, folders: Read) -> None:
    def run(by: int, resume: bool = True) -> tw.Results:
        # A file of another name each time: modules are found by it.
        module = _module(tmp_path / "kept_scheme.py", SOURCE.format(by=by))
        return tw.run("incast", schemes=module.Kept, set=SMALL, out="kept", resume=resume)

    first = folders(run(1, False).path)
    assert folders(run(1).path) == first
    with pytest.raises(tw.ScenarioError, match="another scenario or version") as raised:
        run(2)
    assert "kept is of Python class" in str(raised.value)
    assert folders(Path("kept")) == first


def test_without_its_source_a_class_runs_and_is_not_resumed() -> None:
    names: dict[str, Any] = {"tw": tw, "__name__": "nowhere"}
    exec(compile(SOURCE.format(by=5), "<nowhere>", "exec"), names)  # noqa: S102
    kept = names["Kept"]
    with pytest.warns(tw.ScenarioWarning, match="the source of Kept is unknown"):
        tw.run("incast", schemes=kept, set=SMALL, out="first")
    with pytest.raises(tw.ScenarioError, match="put the class into a file"):
        tw.run("incast", schemes=kept, set=SMALL, out="first", resume=True)


def test_the_newest_class_of_a_name_wins() -> None:
    def made(by: int) -> type[tw.Sender]:
        names: dict[str, Any] = {"tw": tw, "__name__": "nowhere"}
        exec(compile(SOURCE.format(by=by), "<nowhere>", "exec"), names)  # noqa: S102
        return names["Kept"]  # type: ignore[no-any-return]

    old, new = made(1), made(1000)
    first = tw.Scenario("incast", schemes=old, set=SMALL)
    found = [digests(tw.run("incast", schemes=one, set=SMALL))["kept"] for one in (old, new)]
    assert found[0] != found[1]
    # A scenario keeps the class that it was made with.
    assert digests(tw.run(first))["kept"] == found[0]
    # In a dictionary classes stand for their names, too.
    alone = [digests(tw.run({"schemes": [one], **SMALL}))["kept"] for one in (old, new)]
    assert alone[0] != alone[1]


def test_two_classes_of_one_name_do_not_run_at_a_time() -> None:
    waits = threading.Event()
    begun = threading.Event()

    def made() -> type[tw.Sender]:
        class Same(tw.Sender):
            """Waits."""

            def on_established(self, mss: int, segments: int) -> None:
                begun.set()
                waits.wait(20)

        return Same

    first = made()
    thread = threading.Thread(target=lambda: tw.run("incast", schemes=first, set=SMALL))
    thread.start()
    assert begun.wait(20)
    try:
        with pytest.raises(tw.ScenarioError, match="another class whose scheme is called same"):
            tw.run("incast", schemes=made(), set=SMALL)
    finally:
        waits.set()
        thread.join()
    tw.run("incast", schemes=made(), set=SMALL)


def test_one_class_runs_in_several_threads_at_a_time() -> None:
    found: list[list[str]] = []

    def run() -> None:
        found.append(digests(tw.run("incast", schemes=Mine, set=SMALL, seeds=4))["mine"])

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and len(set(map(tuple, found))) == 1


def test_jobs_change_nothing() -> None:
    def run(jobs: int) -> dict[str, list[str]]:
        return digests(tw.run("incast", schemes=[Mine, "dctcp"], set=SMALL, seeds=6, jobs=jobs))

    assert run(1) == run(3)


class Endless(tw.Sender):
    """Never comes back."""

    def on_established(self, mss: int, segments: int) -> None:
        while True:
            pass


class Slow(NewReno):
    """Takes its time."""

    name = "slow"

    def on_ack(self, ack: tw.Ack) -> None:
        time.sleep(1e-4)
        super().on_ack(ack)


@pytest.mark.trust
@pytest.mark.parametrize("scheme", [Endless, Slow, NewReno])
def test_ctrl_c_ends_a_scheme_in_python(scheme: type[tw.Sender]) -> None:
    waits: list[float] = []
    works: list[float] = []
    for _ in range(20 if TRUST else 3):
        pressed: list[tuple[float, float]] = []

        def press() -> None:
            pressed.append((time.perf_counter(), time.process_time()))
            signal.raise_signal(signal.SIGINT)

        timer = threading.Timer(random.uniform(0.1, 0.6), press)
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            tw.run("incast", schemes=scheme, set={"workload.size": "1GB"})
        waits.append(time.perf_counter() - pressed[0][0])
        works.append(time.process_time() - pressed[0][1])
        timer.join()
    assert min(works) < 0.2, works
    # Everyday tests share their machine.
    assert max(waits) < (0.2 if TRUST else 2.0), waits


def test_errors_of_schemes_travel(tmp_path: Path) -> None:
    with pytest.raises(tw.SchemeError) as raised:
        tw.run("incast", schemes=Wrong, set={"workload.senders": 60}, seeds=1, out=tmp_path / "out")
    again = pickle.loads(pickle.dumps(raised.value))
    assert str(again) == str(raised.value)
    assert (again.scheme, again.seed, again.time) == ("wrong", 1, raised.value.time)
