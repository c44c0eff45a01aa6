"""The notebooks of the guide run, and print what their pages show.

``cargo xtask trust python`` runs all of them, which takes minutes.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

# Behind the package that is tested, whose sources lie there too.
sys.path.append(str(Path(__file__).parents[1]))

import notebooks

ALL = os.environ.get("TAILWATER_TRUST") == "1"
NEEDS = {"sweep-on-ray": ("ray",), "learning": ("gymnasium",)}
"""Packages of single notebooks."""


@pytest.mark.trust
@pytest.mark.parametrize("name", notebooks.names())
@pytest.mark.filterwarnings("ignore")
def test_a_notebook_prints_what_its_page_shows(name: str, tmp_path: Path) -> None:
    if not ALL and name not in notebooks.QUICK:
        pytest.skip("`cargo xtask trust python` runs it")
    for module in ("polars", *NEEDS.get(name, ())):
        pytest.importorskip(module)
    page = notebooks.parts((notebooks.PAGES / f"{name}.md").read_text(encoding="utf-8"))
    made = notebooks.run(page, tmp_path)
    assert len([cell for cell in made.cells if cell.cell_type == "code"]) > 3
    wrong = notebooks.differences(page, made)
    assert not wrong, "\n\n".join(wrong)


def test_a_page_and_its_notebook_are_the_same_thing() -> None:
    text = "# Title\n\n```python\n1 + 1\n```\n\n```text\n2\n```\n\nWords.\n\n```python\nprint(3)\n```\n"
    page = notebooks.parts(text)
    made = notebooks.notebook(page)
    kinds = [(cell.cell_type, cell.source) for cell in made.cells]
    words = [("markdown", "# Title"), ("code", "1 + 1"), ("markdown", "Words."), ("code", "print(3)")]
    assert kinds == words
    for cell, output in zip(made.cells[1::2], ("2\n", "3\n"), strict=True):
        cell.outputs = [notebooks.v4.new_output("stream", name="stdout", text=output)]
    assert notebooks.differences(page, made) == ["print(3)\n# prints:\n3"]
    assert notebooks.rewritten(page, made) == text + "\n```text\n3\n```\n"
    assert notebooks.matches("a ... c", "a b c") and not notebooks.matches("a ... c", "a b d")
