"""What the tests share: the command beside the package, and small scenarios."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import tailwater as tw

SMALL = {
    "schemes": ["newreno", "rcc"],
    "set": {"workload.senders": [4, 8], "workload.jitter": "100us"},
}
"""A sweep of four simulations with random starts."""
WORDS = "incast --scheme newreno,rcc --set workload.senders=4,8 --set workload.jitter=100us"
"""The same for the command."""

LONG = 'schemes = ["newreno"]\nworkload.senders = 8\nworkload.size = "10GB"\n'
"""A single simulation that lasts for minutes."""


@pytest.fixture(autouse=True)
def _scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests work in a folder of their own, in a terminal of the usual width."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture(autouse=True)
def _interruptible() -> None:
    """Ctrl-C interrupts, as in a terminal: what a shell puts into the background ignores it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> tw.Results:
    """A run of the small sweep with series, which tests only read."""
    out = tmp_path_factory.mktemp("small") / "run"
    return tw.run("incast", **SMALL, seeds=2, trace=["queue", "cwnd"], out=out)


@pytest.fixture(scope="session")
def command() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Runs the command `tailwater` that was built from the same sources."""
    program = os.environ.get("TAILWATER_COMMAND") or shutil.which("tailwater")
    assert program, "TAILWATER_COMMAND names the command to compare with"

    def run(*args: str, cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
        # The name of the program is part of what it prints, so that both have the same.
        return subprocess.run(
            ["tailwater", *args], executable=program, cwd=cwd, capture_output=True, check=False
        )

    return run


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[Callable[[Path], dict[str, bytes]]]:
    """Reads every file of a run folder but `run.json`, the only one that differs between equal runs."""

    def read(folder: Path) -> dict[str, bytes]:
        found = {path for path in folder.rglob("*") if path.is_file()}
        names = {str(path.relative_to(folder)): path for path in found}
        return {
            name: path.read_bytes()
            for name, path in sorted(names.items())
            if name not in ("run.json", ".lock")
        }

    yield read
