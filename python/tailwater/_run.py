"""What the command does, for programs and notebooks."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple, overload

from tailwater import _progress, _tailwater, _values
from tailwater._errors import PointError, ScenarioWarning, SchemeError
from tailwater._folder import Temporary
from tailwater._page import Page
from tailwater._text import Text
from tailwater.results import Reproduction, Results
from tailwater._declared import has_source
from tailwater.scheme import Scheme

Source = str | os.PathLike[str] | Mapping[str, Any]
"""A scenario: the name of a built-in one or of a paper's figure, a path, TOML text, or a dictionary."""

Schemes = str | type[Scheme] | Sequence[str | type[Scheme]]
"""Schemes: names, compositions, variants, and classes that derive from tw.Sender and others."""


class Point(NamedTuple):
    """One simulation: a scheme, a seed and the settings that results name."""

    number: int
    scheme: str
    seed: int
    set: Mapping[str, str]


class Shard(NamedTuple):
    """A part of a run, which :func:`merge` puts together with the others."""

    path: Path
    """Its folder."""
    finished: int
    """Finished simulations in the folder."""
    points: int
    """Simulations of the whole run."""


class Scenario:
    """A checked scenario with all its simulations; nothing has run.

    Args:
        scenario: The name of a built-in scenario (``"incast"``) or of a paper's figure (``"rcc/fig5a"``), a path,
            a text in TOML, or a dictionary.
        schemes: Schemes, compositions (``"hscc+cubic"``), variants, and classes that derive from :class:`Sender`
            and others, instead of the scenario's own.
        set: Settings by key. A list, a range or an array gives an axis of the sweep. Texts are as on the command
            line, numbers as in TOML: a value with a unit is a text, as in ``{"link.delay": "40us"}``.
        seeds: How many seeds every combination runs with.
        seed: The first seed.
        until: Add seeds until the 95 % interval of every row's 99th percentile of completion times is within
            this share of its mean: ``0.05`` or ``"5%"``.
        max_seeds: The most seeds that ``until`` runs.
        ties: Simulate every row again, without jitter, under this many orders of simultaneous events.
        goals: Goals for every row, as in ``"p99 < 15ms"``; they replace the goals of the scenario.
        trace: More quantities to record over time, as in ``["queue", "cwnd"]``; ``"off"`` records nothing
            at all.
        pcap: Where to capture packets: ``"bottleneck"``, ``"host:N"``, ``"port:N"``, or several of them.

    Raises:
        ScenarioError: The input is wrong; the error lists every mistake with its place, cause and remedy.
    """

    def __init__(
        self,
        scenario: Source,
        *,
        schemes: Schemes | None = None,
        set: Mapping[str, Any] | None = None,
        seeds: int | None = None,
        seed: int | None = None,
        until: float | str | None = None,
        max_seeds: int = 100,
        ties: int | None = None,
        goals: str | Sequence[str] | None = None,
        trace: str | Sequence[str] | None = None,
        pcap: str | Sequence[str] | None = None,
    ) -> None:
        if set is not None and not isinstance(set, Mapping):
            raise _values.wrong("set", set, "give settings by key, as in {'workload.senders': 40}")
        word, text = _source(scenario)
        given: dict[str, Any] = {
            "word": word,
            "text": text,
            "schemes": _values.schemes(schemes),
            "sets": [_values.setting(key, value) for key, value in (set or {}).items()],
            "goals": _values.texts("goals", goals),
            "seed": _values.whole("seed", seed, 0),
            "seeds": _values.whole("seeds", seeds, 1, _MOST),
            "trace": _values.names("trace", trace),
            "until": _values.percent("until", until),
            "max_seeds": _values.whole("max_seeds", max_seeds, 2, _MOST),
            "ties": _values.whole("ties", ties, 1, _MOST),
            "pcap": _values.names("pcap", pcap),
        }
        self._request = _tailwater.prepare(given)
        self._captures: str | None = given["pcap"]
        self._command = _command(given)

    @property
    def name(self) -> str:
        """Its name."""
        return self._request.name

    @property
    def title(self) -> str | None:
        """What it shows, in one line."""
        return self._request.title

    @property
    def schemes(self) -> list[str]:
        """The labels of its schemes, in the order of its rows."""
        return self._request.schemes

    @property
    def seeds(self) -> int:
        """How many seeds each combination begins with."""
        return self._request.seeds

    @property
    def points(self) -> list[Point]:
        """The simulations of the first seeds, in order."""
        return [Point(*point) for point in self._request.points]

    @property
    def toml(self) -> Text:
        """Every setting, as ``tailwater show --resolved`` prints it."""
        return Text(self._request.resolved)

    @property
    def notes(self) -> list[str]:
        """What was done to traces before they are simulated: times that were shifted, hosts that got numbers."""
        return self._request.notes

    @property
    def warnings(self) -> list[str]:
        """What is allowed and probably not meant."""
        return [text for text, _ in self._request.warnings]

    def __repr__(self) -> str:
        many = len(self._request.points)
        return f"<Scenario {self.name}: {many} simulation{'s' if many != 1 else ''}>"

    def _repr_html_(self) -> str:
        return self.toml._repr_html_()


@overload
def run(
    scenario: Source | Scenario,
    *,
    schemes: Schemes | None = None,
    set: Mapping[str, Any] | None = None,
    seeds: int | None = None,
    seed: int | None = None,
    until: float | str | None = None,
    max_seeds: int = 100,
    ties: int | None = None,
    goals: str | Sequence[str] | None = None,
    trace: str | Sequence[str] | None = None,
    pcap: str | Sequence[str] | None = None,
    jobs: int | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    work: float | None = None,
    disk: int | str | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    shard: None = None,
    on: object = None,
    progress: str | bool | _progress.Progress | None = "auto",
) -> Results: ...
@overload
def run(
    scenario: Source | Scenario,
    *,
    schemes: Schemes | None = None,
    set: Mapping[str, Any] | None = None,
    seeds: int | None = None,
    seed: int | None = None,
    goals: str | Sequence[str] | None = None,
    trace: str | Sequence[str] | None = None,
    pcap: str | Sequence[str] | None = None,
    jobs: int | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    work: float | None = None,
    disk: int | str | None = None,
    out: str | os.PathLike[str],
    resume: bool = False,
    shard: tuple[int, int],
    on: object = None,
    progress: str | bool | _progress.Progress | None = "auto",
) -> Shard: ...
def run(
    scenario: Source | Scenario,
    *,
    schemes: Schemes | None = None,
    set: Mapping[str, Any] | None = None,
    seeds: int | None = None,
    seed: int | None = None,
    until: float | str | None = None,
    max_seeds: int = 100,
    ties: int | None = None,
    goals: str | Sequence[str] | None = None,
    trace: str | Sequence[str] | None = None,
    pcap: str | Sequence[str] | None = None,
    jobs: int | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    work: float | None = None,
    disk: int | str | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    shard: tuple[int, int] | None = None,
    on: object = None,
    progress: str | bool | _progress.Progress | None = "auto",
) -> Results | Shard:
    """Simulates every point of a scenario, as ``tailwater run`` does.

    Ctrl-C ends it at once; with ``out`` finished simulations are kept, and ``resume=True`` continues.

    Args:
        scenario: As for :class:`Scenario`, with the arguments up to ``pcap``; or a ``Scenario``.
        jobs: Threads to run on, all cores by default; results do not depend on it.
        threads: How many of these threads share one simulation; results do not depend on it. By default the threads
            that other simulations leave idle, if that makes a large network faster.
        memory: Memory that all simulations together may use: bytes, or a text such as ``"8GB"``.
        work: Steps that one simulation may take.
        disk: Disk space that all recorded series together may use.
        out: The folder for the results. Without it they are in a temporary folder, removed with the result.
        resume: Continue an earlier run into ``out``.
        shard: The part to simulate and the number of parts, as in ``(1, 8)``; ``merge`` joins all parts.
        on: Where to simulate: ``None`` for threads of this process, ``"processes"``, ``"ray"``, ``"dask"``, a client
            of Dask, or an executor of ``concurrent.futures``. With ``"processes"`` there are ``jobs`` of them.
        progress: ``"auto"`` shows it at terminals and in notebooks, ``True`` always, ``False`` never; a function is
            called with the number of finished and of all simulations, at most ten times a second.

    Raises:
        ScenarioError: The input is wrong; nothing has run.
        PointError: Simulations failed; ``results`` has the others.
        SchemeError: The same, because a method of a scheme in Python raised an exception.
        KeyboardInterrupt: Ctrl-C was pressed.
    """
    if isinstance(scenario, Scenario):
        asked = scenario
        others = {"schemes": schemes, "set": set, "seeds": seeds, "seed": seed, "until": until}
        others |= {"ties": ties, "goals": goals, "trace": trace, "pcap": pcap}
        for name, value in others.items():
            if value is not None:
                raise _values.wrong(name, value, "give it to tw.Scenario(...)")
    else:
        asked = Scenario(
            scenario,
            schemes=schemes,
            set=set,
            seeds=seeds,
            seed=seed,
            until=until,
            max_seeds=max_seeds,
            ties=ties,
            goals=goals,
            trace=trace,
            pcap=pcap,
        )
    limits = _limits(jobs, memory, work, disk, threads)
    part = _shard(shard, until, ties, out)
    if resume and out is None:
        raise _values.wrong("resume", resume, "name the folder to continue: out='results/incast'")
    sourceless = [scheme.__name__ for scheme in asked._request.classes if not has_source(scheme)]
    if sourceless and (resume or part):
        expected = f"the source of {sourceless[0]} is unknown, so results of different code could be mixed"
        wrong: tuple[str, object] = ("shard", shard) if part else ("resume", resume)
        raise _values.wrong(*wrong, f"{expected}: put the class into a file")
    if sourceless and out is not None:
        text = f"this run cannot be resumed: the source of {sourceless[0]} is unknown"
        warnings.warn(text, ScenarioWarning, stacklevel=2)
    for text, _ in asked._request.warnings:
        warnings.warn(text, ScenarioWarning, stacklevel=2)
    folder, temporary = _folder(out, asked.name)
    tell, end = _progress.of(progress)
    command = [*asked._command, *([] if out is None else ["--out", str(folder)])]
    request = asked._request
    with _driven(on, limits, asked._captures, request.classes) as driver:
        try:
            if part is not None:
                (done, points), _ = request.run_shard(folder, part, limits, tell, driver)
                return Shard(folder, done, points)
            access: Literal["new", "resume", "scratch"] = "resume" if resume else "new"
            if temporary is not None:
                access = "scratch"
            report = temporary is None
            raised = request.run(folder, access, report, limits, command, tell, driver)
        finally:
            end()
    results = Results._of(folder, temporary)
    if raised:
        _, scheme, seed, moment, exception = raised[0]
        raise SchemeError(results.failures, results, scheme, seed, moment) from exception
    if results.failures:
        raise PointError(results.failures, results)
    return results


def merge(
    *folders: str | os.PathLike[str], out: str | os.PathLike[str] | None = None
) -> Results:
    """Merges the shards of a run, as ``tailwater merge`` does.

    Args:
        folders: The folders of all shards; a single one if all shards ran into it.
        out: The folder of the run; by default the first of these folders.
    """
    if not folders:
        raise _values.wrong("folders", folders, "name the folders that tw.run(..., shard=...) wrote")
    paths = [Path(folder) for folder in folders]
    target = paths[0] if out is None else Path(out)
    words = ["tailwater", "merge", *map(str, paths)]
    _tailwater.merge(paths, target, [*words, *([] if out is None else ["--out", str(out)])])
    return Results(target)


def reproduce(
    *what: str,
    full: bool = False,
    seed: int | None = None,
    seeds: int | None = None,
    causes: str = "missed",
    phase: bool = False,
    jobs: int | None = None,
    memory: int | str | None = None,
    work: float | None = None,
    disk: int | str | None = None,
    out: str | os.PathLike[str] | None = None,
    on: object = None,
    progress: str | bool | _progress.Progress | None = "auto",
) -> Reproduction:
    """Runs figures of papers and judges their claims, as ``tailwater reproduce`` does.

    Args:
        what: Papers or figures, as in ``"rcc"`` or ``"rcc/fig7a"``; without any, all papers.
        full: Run at the paper's own scale if the default is smaller.
        seed: The first seed instead of the figure's; shows how much verdicts depend on chance.
        seeds: How many seeds to run instead of the number that each figure sets.
        causes: For which claims to search causes: for those ``"missed"``, for ``"all"`` or for ``"none"``.
        phase: Judge every claim again with random delays of up to 100 ns and 1 us on every link. Verdicts that
            change depend on the order of simultaneous events.
        jobs: As for :func:`run`, like ``memory``, ``work``, ``disk`` and ``progress``.
        on: As for :func:`run`.
        out: The folder of all results; results in it are continued. Without it they are in a temporary folder,
            which is removed with the result.
    """
    folder, temporary = _folder(out, "reproduce")
    named = _values.texts("what", what)
    given: dict[str, Any] = {
        "what": named,
        "full": bool(full),
        "seed": _values.whole("seed", seed, 0),
        "seeds": _values.whole("seeds", seeds, 1, _MOST),
        "causes": causes,
        "phase": bool(phase),
        "out": folder,
        "report": True,
        "limits": _limits(jobs, memory, work, disk),
        "command": ["tailwater", "reproduce", *named, *(["--full"] if full else [])],
    }
    tell, end = _progress.of(progress)
    with _driven(on, given["limits"], None, []) as driver:
        try:
            table, json_text, pages, _ = _tailwater.reproduce(given, tell, driver)
        finally:
            end()
    return Reproduction(folder, table, json_text, pages, temporary)


def explain(word: str) -> Text:
    """Explains a scheme, a setting, a symbol, a figure of a paper or a metric.

    >>> explain("switch.ecn_threshold")
    """
    return Text(_tailwater.explain(word))


def import_flows(
    file: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    kind: str | None = None,
    size: int | None = None,
    lenient: bool = False,
) -> Text:
    """Writes a trace of the flows in a file of another program, and says what was read and what was skipped.

    The file may have flow records of nfdump as text or JSON, packets (pcap, pcapng), the flows of HPCC's simulator and
    those made from it, a connection matrix of htsim, a GOAL schedule, or a Chakra trace beside those of the other ranks;
    its content tells which, or ``kind``, as in ``"hpcc"``. ``size`` is the payload of flows that have no end, and
    ``lenient`` leaves out what a trace cannot have. The name of the output ends in ``.csv`` or ``.parquet``. A topology
    or a distribution of sizes becomes a scenario, whose name ends in ``.toml``.

    >>> import_flows("nfdump.csv", "flows.csv")
    >>> run("trace", set={"workload.trace": "flows.csv"})
    """
    return Text(_tailwater.import_flows(Path(file), Path(output), kind, size, lenient))


def show(scenario: Source | Scenario) -> Text:
    """A scenario as TOML, as a starting point for your own.

    >>> show("incast")
    """
    asked = scenario if isinstance(scenario, Scenario) else Scenario(scenario)
    return Text(asked._request.written)


def explore(
    scenario: Source = "incast",
    *,
    schemes: Schemes | None = None,
    set: Mapping[str, Any] | None = None,
    seed: int | None = None,
) -> Page:
    """A page with sliders that simulates in the browser; a notebook shows it in place.

    Args:
        scenario: As in :class:`Scenario`. The page does not contain its files, nor schemes in Python.
        schemes: Up to four schemes to begin with.
        set: Settings to begin with.
        seed: The seed to begin with.

    >>> explore("incast", schemes=["dctcp", "rcc"], set={"workload.senders": 40})
    """
    asked = Scenario(scenario, schemes=schemes, set=set, seed=seed)
    word, _ = _source(scenario)
    return Page(asked._request.explore(word or "scenario.toml"))


def _source(scenario: object) -> tuple[str | None, str | None]:
    """A name or a path, or else a text."""
    if isinstance(scenario, Mapping):
        return None, _values.toml(scenario)
    if isinstance(scenario, os.PathLike):
        path = os.fspath(scenario)
        if isinstance(path, str):
            # A path without a folder would be taken for a name.
            return (path if os.sep in path else os.path.join(os.curdir, path)), None
    if isinstance(scenario, str):
        if "\n" in scenario or "=" in scenario and not os.path.exists(scenario):
            return None, scenario
        if scenario != "-":
            return scenario, None
    expected = "give a name such as 'incast', a path, a text in TOML, a dictionary, or tw.Scenario(...)"
    raise _values.wrong("scenario", scenario, expected)


@contextmanager
def _driven(
    on: object, limits: Mapping[str, int | None], captures: str | None, classes: list[type[Any]]
) -> Iterator[Any]:
    """The driver that distributes simulations, or ``None`` if this process runs them all."""
    if on is None:
        yield None
        return
    from tailwater.cluster import driver

    made = driver(on, limits["jobs"], limits["memory"], captures, classes)
    try:
        yield made
    finally:
        if made is not None:
            made.end()


def _shard(
    shard: tuple[int, int] | None, until: object, ties: object, out: object
) -> tuple[int, int] | None:
    if shard is None:
        return None
    expected = "give (i, n) with i from 1 to n, as in (1, 8)"
    whole = isinstance(shard, tuple) and len(shard) == 2 and all(type(n) is int for n in shard)
    if not whole or not 1 <= shard[0] <= shard[1] < 2**32:
        raise _values.wrong("shard", shard, expected)
    if until is not None:
        raise _values.wrong("shard", shard, "until needs the results of all shards: leave one out")
    if ties is not None:
        raise _values.wrong("shard", shard, "ties needs the results of all shards: leave one out")
    if out is None:
        raise _values.wrong("shard", shard, "name the folder of the shard: out='results/shard-1'")
    return shard


def _limits(
    jobs: int | None,
    memory: int | str | None,
    work: float | None,
    disk: int | str | None,
    threads: int | None = None,
) -> dict[str, int | None]:
    if isinstance(work, float) and work.is_integer():
        work = int(work)
    return {
        "jobs": _values.whole("jobs", jobs, 1, 4096),
        "threads": _values.whole("threads", threads, 1, 4096),
        "memory": _values.size("memory", memory),
        "work": _values.whole("work", work, 1),
        "disk": _values.size("disk", disk),
    }


def _folder(out: str | os.PathLike[str] | None, name: str) -> tuple[Path, Temporary | None]:
    if out is not None:
        if not isinstance(out, (str, os.PathLike)):
            raise _values.wrong("out", out, "give the path of a folder")
        return Path(out), None
    letters = (letter if letter.isalnum() or letter in "-_." else "-" for letter in name)
    temporary = Temporary("".join(letters) or "run")
    return temporary.path, temporary


def _command(given: Mapping[str, Any]) -> list[str]:
    """The command that does the same; from within the run folder where the scenario is no file."""
    if given["word"] is None:
        return ["tailwater", "run", "scenario.toml"]
    words = ["tailwater", "run", given["word"]]
    if given["schemes"] is not None:
        words += ["--scheme", given["schemes"]]
    for setting in given["sets"]:
        words += ["--set", setting]
    for goal in given["goals"]:
        words += ["--goal", goal]
    for flag in ("seed", "seeds", "trace"):
        if given[flag] is not None:
            words += [f"--{flag}", str(given[flag])]
    if given["ties"] is not None:
        words += ["--ties", str(given["ties"])]
    if given["until"] is not None:
        words += ["--until", f"{given['until'] * 100:g}%", "--max-seeds", str(given["max_seeds"])]
    if given["pcap"] is not None:
        words.append(f"--pcap={given['pcap']}")
    return words


_MOST = 2**32 - 1
"""Most seeds."""
