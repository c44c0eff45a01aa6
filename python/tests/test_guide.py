"""The sessions that the guide shows say what it shows.

In a block ``pycon`` each statement stands behind ``>>>``, and what it prints follows. ``...`` in the output stands
for any text. ``TAILWATER_WRITE=1`` writes what the statements print into the page, to be read before it is kept.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guide"
PAGES = ["python.md", "python-schemes.md", "clusters.md", "learning.md"]


def _sessions(text: str) -> Iterator[tuple[int, int]]:
    """Where the lines of each session begin and end."""
    lines = text.splitlines()
    begin = None
    for number, line in enumerate(lines):
        if line == "```pycon":
            begin = number + 1
        elif line == "```" and begin is not None:
            yield begin, number
            begin = None


def _steps(lines: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Each statement with the lines that it prints."""
    typed: list[str] = []
    shown: list[str] = []
    for line in lines:
        if line.startswith(">>> "):
            if typed:
                yield typed, shown
            typed, shown = [line], []
        elif line.startswith("... ") and not shown:
            typed.append(line)
        else:
            shown.append(line)
    if typed:
        yield typed, shown


def _printed(statement: str, names: dict[str, object]) -> str:
    """What a prompt prints behind a statement."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(statement + "\n", "<guide>", "single"), names)  # noqa: S102
        except Exception as error:
            lines = traceback.format_exception_only(error)
            out.write("Traceback (most recent call last):\n  ...\n" + "".join(lines))
    # Blank lines at the end of an answer would be lost between statements.
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip().splitlines())


def _matches(shown: str, printed: str) -> bool:
    pattern = ".*?".join(map(re.escape, shown.split("...")))
    return re.fullmatch(pattern, printed, re.DOTALL) is not None


@pytest.mark.parametrize("name", PAGES)
def test_the_sessions_of_the_guide_print_what_it_shows(name: str) -> None:
    for module in ("polars", "duckdb", "pyarrow"):
        pytest.importorskip(module)
    page = GUIDE / name
    text = page.read_text(encoding="utf-8")
    lines = text.splitlines()
    names: dict[str, object] = {"__name__": "__main__"}
    wrong, steps, written = [], 0, list(lines)
    shift = 0
    for begin, end in _sessions(text):
        new: list[str] = []
        for typed, shown in _steps(lines[begin:end]):
            printed = _printed("\n".join(line[4:] for line in typed), names)
            told = "\n".join(shown).rstrip()
            steps += 1
            if not _matches(told, printed):
                wrong.append("\n".join([*typed, printed]))
            new += [*typed, *(told if _matches(told, printed) else printed).splitlines()]
        written[begin + shift : end + shift] = new
        shift += len(new) - (end - begin)
    if wrong and os.environ.get("TAILWATER_WRITE"):
        page.write_text("\n".join(written) + "\n", encoding="utf-8")
        pytest.fail(f"{len(wrong)} outputs were written into {page}: read them")
    assert not wrong, "\n\n".join(wrong)
    assert steps > 3
