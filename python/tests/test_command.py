"""`python -m tailwater` is the command, byte for byte."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., "subprocess.CompletedProcess[bytes]"]

LINES = [
    "",
    "--help",
    "--version",
    "run --help",
    "reproduce --help",
    "list",
    "list schemes",
    "list scenarios",
    "list keys",
    "list papers",
    "list topologies",
    "list workloads",
    "list models",
    "list nonsense",
    "show incast",
    "show incast --resolved",
    "show rcc/fig5a",
    "show incst",
    "explain dctcp",
    "explain switch.ecn_threshold",
    "explain results",
    "explain K",
    "explain nonsense",
    "completions bash",
    "completions zsh",
    "man",
    "man run",
    "model rcc",
    "model",
    "model nonsense",
    "nonsense",
    "run",
    "run missing.toml",
    "run incast --scheme nonsense",
    "run incast --set workload.sender=40",
    "run incast --set link.delay=40",
    "run incast --seeds 0",
    "run incast --jobs many",
    "run incast --flows",
    "run incast --set switch.buffer=10KB --set switch.ecn_threshold=20KB --scheme dctcp --no-save",
    "report missing",
    "plot missing",
    "export missing",
    "merge missing",
    "reproduce nonsense/fig1",
    "run incast --no-save --scheme newreno,rcc --set workload.senders=4,8",
    "run incast --no-save --scheme newreno --set workload.senders=4 --format csv",
    "run incast --no-save --scheme newreno --set workload.senders=4 --format json --quiet",
]

COSTS = [
    # The last sentence below a table: what it took.
    rb"\nCost: .*$",
    rb'"(cpu_us|wall_us|ns_per_hop)": [^\n]*?\n',
]


def _plain(text: bytes) -> bytes:
    """Without what a run costs, which differs from time to time."""
    for cost in COSTS:
        text = re.sub(cost, b"", text, flags=re.DOTALL)
    return text


@pytest.mark.parametrize("line", LINES)
def test_a_line_gives_the_same_bytes_and_status(
    line: str, command: Command, tmp_path: Path
) -> None:
    theirs = command(*line.split(), cwd=tmp_path)
    ours = subprocess.run(
        [sys.executable, "-m", "tailwater", *line.split()],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert ours.returncode == theirs.returncode
    if "--format csv" in line:
        # Its columns of costs are the last but one.
        assert ours.stdout.splitlines()[0] == theirs.stdout.splitlines()[0]
    else:
        assert _plain(ours.stdout) == _plain(theirs.stdout)
    assert ours.stderr == theirs.stderr


def test_the_script_is_the_same_function() -> None:
    from tailwater.__main__ import main

    assert callable(main)
