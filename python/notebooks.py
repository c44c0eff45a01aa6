"""The notebooks of the guide: pages whose blocks ``python`` are cells, and whose blocks ``text`` are what these print.

``python python/notebooks.py --out FOLDER`` runs them and writes them as notebooks, with all that their cells show.
``--write`` puts what cells print into the pages, to be read before it is kept. It needs nbclient and ipykernel.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from nbclient import NotebookClient
from nbformat import v4

PAGES = Path(__file__).parents[1] / "docs" / "guide" / "notebooks"
QUICK = ("first-answer",)
"""Those that take seconds: every run of the tests includes them."""
LONGEST = 900
"""Seconds that a cell may take on a busy machine."""


class Part(NamedTuple):
    """A part of a page."""

    kind: str
    """``python``, ``text`` or, of everything else, nothing."""
    lines: tuple[str, ...]


def names() -> list[str]:
    """Every notebook."""
    return sorted(page.stem for page in PAGES.glob("*.md") if page.stem != "index")


def parts(text: str) -> list[Part]:
    """The parts of a page, in order."""
    found: list[Part] = []
    kind, lines = "", list[str]()
    for line in text.splitlines():
        opens = re.fullmatch(r"```(python|text)", line) if not kind else None
        if opens or (kind and line == "```"):
            found.append(Part(kind, tuple(lines)))
            kind, lines = (opens[1] if opens else ""), []
        else:
            lines.append(line)
    return [*found, Part(kind, tuple(lines))]


def notebook(page: list[Part]) -> Any:
    """A page as a notebook that has not run."""
    made = v4.new_notebook()
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    for number, part in enumerate(page):
        source = "\n".join(part.lines).strip()
        if part.kind == "text" or not source:
            continue
        new = v4.new_code_cell if part.kind == "python" else v4.new_markdown_cell
        made.cells.append(new(source, id=f"part-{number}"))
    return made


def run(page: list[Part], folder: Path) -> Any:
    """The notebook of a page, with what its cells show."""
    made = notebook(page)
    # Tables are as wide as the page, whatever the terminal.
    os.environ["COLUMNS"] = "80"
    client = NotebookClient(made, timeout=LONGEST, resources={"metadata": {"path": str(folder)}})
    client.execute()
    return made


def printed(cell: Any) -> str:
    """What a cell prints, without what it only draws."""
    texts = []
    for output in cell.outputs:
        if output.output_type == "stream" and output.name == "stdout":
            texts.append(output.text)
        elif output.output_type in ("execute_result", "display_data"):
            texts.append(output.data.get("text/plain", "") + "\n")
    lines = (line.rstrip() for line in "".join(texts).rstrip().splitlines())
    return "\n".join(lines)


def rewritten(page: list[Part], made: Any) -> str:
    """The page with what its cells printed; what is shown and matches stays as it is."""
    outputs = [printed(cell) for cell in made.cells if cell.cell_type == "code"]
    blocks: list[str] = []
    for part in page:
        text = "\n".join(part.lines)
        if part.kind == "python":
            blocks.append(f"```python\n{text}\n```")
            output, told = outputs.pop(0), told_by(page, part)
            if output and told is not None and matches(told, output):
                output = told
            if output:
                blocks.append(f"```text\n{output}\n```")
        elif not part.kind and text.strip():
            blocks.append(text.strip("\n"))
    return "\n\n".join(blocks) + "\n"


def told_by(page: list[Part], cell: Part) -> str | None:
    """What the page shows as the output of a cell; none if it shows nothing."""
    place = next(number for number, part in enumerate(page) if part is cell)
    for part in page[place + 1 :]:
        if part.kind == "text":
            return "\n".join(part.lines)
        if any(line.strip() for line in part.lines):
            break
    return None


def matches(told: str, output: str) -> bool:
    """Whether an output is what a page shows, where three dots stand for any text."""
    pattern = ".*?".join(map(re.escape, told.split("...")))
    return re.fullmatch(pattern, output, re.DOTALL) is not None


def differences(page: list[Part], made: Any) -> list[str]:
    """Cells that print something else than the page shows."""
    cells = [part for part in page if part.kind == "python"]
    codes = [cell for cell in made.cells if cell.cell_type == "code"]
    wrong = []
    for part, cell in zip(cells, codes, strict=True):
        told, output = told_by(page, part) or "", printed(cell)
        if not matches(told, output):
            wrong.append("\n".join([*part.lines, "# prints:", output]))
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"notebooks to run, all by default: {', '.join(names())}")
    parser.add_argument("--out", type=Path, help="where to write them as .ipynb")
    parser.add_argument("--write", action="store_true", help="put what cells print into the pages")
    given = parser.parse_args()
    wrong = 0
    for name in given.names or names():
        path = PAGES / f"{name}.md"
        page = parts(path.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            made = run(page, Path(folder))
        if given.out is not None:
            given.out.mkdir(parents=True, exist_ok=True)
            nbformat.write(made, given.out / f"{name}.ipynb")
        if given.write:
            path.write_text(rewritten(page, made), encoding="utf-8")
        else:
            found = differences(page, made)
            wrong += len(found)
            print("\n\n".join([name, *found]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
