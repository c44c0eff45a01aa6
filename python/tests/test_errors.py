"""Wrong calls: the right exception, with its place, its cause and its remedy."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tailwater as tw

SENDERS = "workload.senders"
Call = Callable[[], object]

CALLS: list[tuple[Call, str | None, str]] = [
    # What is called, the name of the place, what the text says.
    (lambda: tw.run("incst"), None, "did you mean `incast`"),
    (lambda: tw.run("./missing.toml"), None, "there is no such file"),
    (lambda: tw.run(Path("missing")), None, "there is no such file"),
    (lambda: tw.run(7), "scenario", "tw.Scenario"),  # type: ignore[arg-type]
    (lambda: tw.run("-"), "scenario", "a text in TOML"),
    (lambda: tw.run("schemes = [\n"), "scenario", "scenario:"),
    (lambda: tw.run('workload.sender = 4\nschemes = ["newreno"]'), "scenario", SENDERS),
    (lambda: tw.run({"workload": {"sender": 4}}), "scenario", SENDERS),
    (lambda: tw.run({"workload": {"senders": object()}}), 'scenario["workload"]["senders"]', "list"),
    (lambda: tw.run("incast", schemes="newrno"), "schemes", "did you mean `newreno`"),
    (lambda: tw.run("incast", schemes=["rcc", "rcc"]), "schemes", "listed twice"),
    (lambda: tw.run("incast", schemes=[1]), "schemes", "a list of them"),  # type: ignore[list-item]
    (lambda: tw.run("incast", schemes=[]), "schemes", "a list of them"),
    (lambda: tw.run("incast", schemes="dctcp+rcc+nonsense"), "schemes", "nonsense"),
    (lambda: tw.run("incast", set={"workload.sender": 4}), 'set["workload.sender"]', SENDERS),
    (lambda: tw.run("incast", set={"link.delay": 40}), 'set["link.delay"]', "40us"),
    (lambda: tw.run("incast", set={SENDERS: [4, None]}), f'set["{SENDERS}"]', "a number"),
    (lambda: tw.run("incast", set={SENDERS: []}), f'set["{SENDERS}"]', "at least one"),
    (lambda: tw.run("incast", set={SENDERS: -1}), f'set["{SENDERS}"]', "whole number"),
    (lambda: tw.run("incast", set={SENDERS: 1.5}), f'set["{SENDERS}"]', "whole number"),
    (lambda: tw.run("incast", set={4: 4}), "set", "keys are texts"),  # type: ignore[dict-item]
    (lambda: tw.run("incast", set="a=1"), "set", "by key"),  # type: ignore[arg-type]
    (lambda: tw.run("incast", seeds=0), "seeds", "at least 1"),
    (lambda: tw.run("incast", seeds="many"), "seeds", "whole number"),  # type: ignore[arg-type]
    (lambda: tw.run("incast", seeds=True), "seeds", "whole number"),
    (lambda: tw.run("incast", seed=-1), "seed", "at least 0"),
    (lambda: tw.run("incast", until="500%"), "until", "5%"),
    (lambda: tw.run("incast", until=0.1, max_seeds=1), "max_seeds", "at least 2"),
    (lambda: tw.run("incast", jobs=0), "jobs", "from 1 to 4096"),
    (lambda: tw.run("incast", memory="lots"), "memory", "8GB"),
    (lambda: tw.run("incast", goals="p99 under 5ms"), "goals", "p99"),
    (lambda: tw.run("incast", trace="nonsense"), "trace", "nonsense"),
    (lambda: tw.run("incast", pcap="nonsense"), "pcap", "bottleneck"),
    (lambda: tw.run("incast", resume=True), "resume", "out="),
    (lambda: tw.run("incast", out=7), "out", "path"),  # type: ignore[arg-type]
    (lambda: tw.run("incast", progress="loud"), "progress", "'auto'"),
    (lambda: tw.run(tw.Scenario("incast"), seeds=2), "seeds", "tw.Scenario"),
    (lambda: tw.open("missing"), None, "tailwater run"),
    (lambda: tw.explain("nonsense"), None, "tailwater list"),
    (lambda: tw.show("nonsense"), None, "built-in scenarios"),
    (lambda: tw.reproduce("nonsense"), None, "nonsense"),
    (lambda: tw.reproduce("rcc/fig5a", causes="few"), None, "missed"),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_a_wrong_call_says_where_what_and_how(number: int) -> None:
    call, place, says = CALLS[number]
    with pytest.raises(tw.ScenarioError) as raised:
        call()
    error = raised.value
    assert isinstance(error, ValueError)
    problem = error.problems[0]
    assert says in str(error) + str(problem), str(error)
    assert problem.message and problem.help, str(error)
    assert "--" not in (problem.help or "").replace("`tailwater", ""), problem.help
    if place is not None:
        assert problem.place is not None, str(error)
        assert problem.place.name == place
        assert problem.place.line >= 1 and problem.place.column >= 1 and problem.place.text
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.problems) == (str(error), error.problems)


def test_every_mistake_of_a_scenario_is_told_at_once() -> None:
    wrong: dict[str, Any] = {"workload.sender": 4, "link.delay": 40, "tcp.mss": "many"}
    with pytest.raises(tw.ScenarioError) as raised:
        tw.Scenario("incast", set=wrong)
    names = [problem.place.name for problem in raised.value.problems if problem.place]
    assert len(names) >= 1 and names[0] == 'set["workload.sender"]'


def test_the_place_in_a_text_has_a_line_and_a_column() -> None:
    with pytest.raises(tw.ScenarioError) as raised:
        tw.Scenario('schemes = ["newreno"]\n\nworkload.senders = 4\n  link.delay = 40\n')
    place = raised.value.problems[0].place
    assert place == tw.Place("scenario", 4, 16, "  link.delay = 40")


def test_a_folder_that_is_not_empty_is_left_alone() -> None:
    Path("full").mkdir()
    Path("full/mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(tw.ScenarioError, match="not empty") as raised:
        tw.run("incast", out="full")
    assert "choose another out" in (raised.value.problems[0].help or "")
    assert "resume=True" in str(raised.value)


def test_failures_come_with_the_results_of_the_others() -> None:
    # Poisson arrivals of so little load that none comes within a microsecond.
    rare = {
        "schemes": ["newreno"],
        "workload": {"kind": "poisson", "load": 0.1, "duration": ["1us", "50ms"]},
    }
    with pytest.raises(tw.PointError) as raised:
        tw.run(rare, out="kept", seeds=1)
    error = raised.value
    assert [failure.set["workload.duration"] for failure in error.failures] == ["1us"]
    failure = error.failures[0]
    assert failure.scheme == "newreno" and failure.seed == 1
    assert "no flow starts" in failure.error
    assert failure.command.startswith("tailwater run scenario.toml")
    assert [row["scheme"] for row in error.results.summary["rows"]] == ["newreno", "newreno"]
    assert len(error.results.points) == 1
    assert str(failure) in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert again.failures == error.failures


def test_a_warning_is_a_warning_of_python() -> None:
    with pytest.warns(tw.ScenarioWarning, match="nothing in this scenario is random"):
        tw.run("incast", schemes="newreno", seeds=2, set={"link.jitter": "0s"})
    with pytest.warns(tw.ScenarioWarning):
        asked = tw.Scenario("incast", schemes="newreno", seeds=2, set={"link.jitter": "0s"})
        assert len(asked.warnings) == 1
        tw.run(asked)
