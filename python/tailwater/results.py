"""What a run came to."""

from __future__ import annotations

import html
import json
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tailwater import _tailwater
from tailwater._errors import PointFailure, Problem, ScenarioError
from tailwater._folder import Temporary
from tailwater._text import Text

if TYPE_CHECKING:
    import pandas as _pandas
    import polars as _polars
    import pyarrow as _pyarrow


class Column(NamedTuple):
    """A column of a table."""

    name: str
    type: str
    unit: str
    """Its unit, or what it counts; empty if it has none."""
    description: str


class Table:
    """A table whose columns have units and descriptions.

    Any library that speaks the Arrow PyCapsule interface takes it as it is: ``polars.DataFrame(table)``,
    ``pandas.DataFrame.from_arrow(table)``, ``pyarrow.table(table)``, ``duckdb.sql("from table")``.
    """

    def __init__(self, name: str, table: _tailwater.Table, kept: object = None) -> None:
        self._name = name
        self._table = table
        # A temporary folder stays as long as somebody has a table of it.
        self._kept = kept

    @property
    def path(self) -> Path | None:
        """Its Parquet file; none of a table that is computed from others."""
        return self._table.path

    @cached_property
    def columns(self) -> list[Column]:
        """What each column is."""
        return [Column(*column) for column in self._table.columns]

    def to_polars(self) -> _polars.DataFrame:
        """The table for polars."""
        return _library("polars").DataFrame(self)  # type: ignore[no-any-return]

    def to_pandas(self) -> _pandas.DataFrame:
        """The table for pandas, from version 3 on."""
        return _library("pandas").DataFrame.from_arrow(self)

    def to_arrow(self) -> _pyarrow.Table:
        """The table for pyarrow."""
        return _library("pyarrow").table(self)

    def __arrow_c_schema__(self) -> object:
        return self._table.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        lines = [f"<Table {self._name}: {len(self):,} rows, {len(self.columns)} columns>"]
        width = max(len(column.name) for column in self.columns)
        for column in self.columns:
            unit = f" ({column.unit})" if column.unit else ""
            lines.append(f"  {column.name:{width}}  {column.type}{unit}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><td><code>{html.escape(column.name)}</code></td><td>{column.type}</td>"
            f"<td>{html.escape(column.unit)}</td>"
            f'<td style="text-align:left">{html.escape(column.description)}</td></tr>'
            for column in self.columns
        )
        head = "<tr><th>column</th><th>type</th><th>unit</th><th>description</th></tr>"
        how = "<code>.to_polars()</code>, <code>.to_pandas()</code> or <code>.to_arrow()</code>"
        return (
            f"<details><summary>{html.escape(self._name)}: {len(self):,} rows, "
            f"{len(self.columns)} columns; {how} for the values</summary>"
            f"<table><thead>{head}</thead><tbody>{cells}</tbody></table></details>"
        )


class Report:
    """A page that needs neither network nor other files."""

    def __init__(self, path: Path, kept: object = None) -> None:
        self.path = path
        """The file."""
        self._kept = kept

    def open(self) -> None:
        """Opens it in a browser."""
        import webbrowser

        webbrowser.open(self.path.resolve().as_uri())

    def __repr__(self) -> str:
        return f"<Report {self.path}>"

    def _repr_html_(self) -> str:
        page = html.escape(self.path.read_text(encoding="utf-8"), quote=True)
        look = "width:100%;height:44rem;border:1px solid #8888"
        return f'<iframe srcdoc="{page}" style="{look}" sandbox="allow-scripts allow-downloads"></iframe>'


class Results:
    """A run folder: what :func:`run` returns, and :func:`open` of a folder that a run has left."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._folder = _tailwater.Folder(Path(path))
        self._temporary: Temporary | None = None
        self.path = Path(path)
        """The run folder."""

    @classmethod
    def _of(cls, path: Path, temporary: Temporary | None) -> Results:
        results = cls(path)
        results._temporary = temporary
        return results

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Every number but those of single flows and ports, as ``--format json`` prints it."""
        return dict(json.loads(self._folder.json()))

    @property
    def scenario(self) -> Text:
        """Every setting of the run, as TOML."""
        return Text(self._folder.scenario)

    @property
    def version(self) -> str:
        """The version that has simulated it."""
        return self._folder.version

    @cached_property
    def failures(self) -> tuple[PointFailure, ...]:
        """Simulations that failed."""
        return tuple(PointFailure(**failure) for failure in self._folder.failures)

    @cached_property
    def rows(self) -> Table:
        """A row for each scheme and combination: means over the seeds, with their confidence intervals."""
        return self._table("rows")

    @cached_property
    def points(self) -> Table:
        """A row for each simulation."""
        return self._table("points")

    @cached_property
    def collectives(self) -> Table:
        """A row for the collectives of each group of each simulation, with the message that held the slowest one up."""
        return self._table("collectives")

    @cached_property
    def flows(self) -> Table:
        """A row for each flow of each simulation."""
        return self._table("flows")

    @cached_property
    def ports(self) -> Table:
        """A row for each port of each simulation."""
        return self._table("ports")

    @cached_property
    def series(self) -> Table:
        """What was recorded over time, as ``trace`` asked for."""
        return self._table("series")

    def report(self, path: str | os.PathLike[str] | None = None, *, explore: bool = False) -> Report:
        """The whole report, which a notebook shows below the cell; ``.open()`` shows it in a browser.

        Args:
            path: Where to write it; by default into the run folder, where a run with ``out`` has left it.
            explore: Whether it has a button that opens the page of :func:`explore` with the scenario of the run.
        """
        page = self.path / "report.html" if path is None else Path(path)
        if path is not None or explore or not page.exists():
            self._folder.report(page, explore)
        return Report(page, self._temporary)

    def save(self, path: str | os.PathLike[str]) -> Results:
        """Copies the run folder to a place that is free, as ``out`` would have put it there."""
        import shutil

        self.report()
        shutil.copytree(self.path, path, ignore=shutil.ignore_patterns(".lock"))
        return Results(path)

    def __repr__(self) -> str:
        try:
            width = int(os.environ.get("COLUMNS", 0)) or os.get_terminal_size().columns
        except (OSError, ValueError):
            width = 80
        return self._folder.text(max(width, 80)).rstrip("\n")

    def _repr_html_(self) -> str:
        return self._folder.html()

    def __reduce__(self) -> tuple[Any, ...]:
        if self._temporary is not None:
            raise TypeError("a result in a temporary folder does not travel: run it with out='...'")
        return (Results, (self.path,))

    def _table(self, name: str) -> Table:
        table = self._folder.table(name)
        if table is None:
            message = f"this run has no table of {name}"
            remedy = "record it, as in tw.run(..., trace=['queue', 'cwnd'])"
            text = f"{message}\n  help: {remedy}"
            raise ScenarioError(text, [Problem(message, None, None, remedy)])
        return Table(name, table, self._temporary)


class Shift(NamedTuple):
    """What a cause makes of the numbers of a figure."""

    set: str
    """What is different, as ``KEY = VALUE`` or in words."""
    difference: float
    """The mean difference of all numbers of the figure with it."""


class Ratios(NamedTuple):
    """How far the numbers of a figure are off as a whole: ours over the paper's."""

    median: float
    least: float
    greatest: float
    difference: float | None
    """The mean of the absolute natural logarithms; none if a number is 0 here."""
    numbers: int
    """How many there are. Ranges, numbers of 0 and our own checks do not enter."""
    causes: list[Shift]
    """The causes that were tried and move the difference."""


class Reproduction:
    """Figures of papers that were run, with their claims."""

    def __init__(
        self,
        path: Path,
        table: str,
        json_text: str,
        pages: list[Path],
        temporary: Temporary | None,
    ) -> None:
        self._text = table
        self._pages = pages
        self._temporary = temporary
        self.path = path
        """The folder of all results."""
        self.claims: list[dict[str, Any]] = json.loads(json_text)["claims"]
        """Every claim with the paper's number, ours and the verdict, as ``--format json`` prints it."""

    @cached_property
    def ratios(self) -> dict[str, Ratios]:
        """How far each figure is off as a whole, by its name; figures that claim no numbers are not there."""
        ratios = {}
        for claim in self.claims:
            if found := claim["figure_ratios"]:
                causes = [Shift(**shift) for shift in found["causes"]]
                name = f"{claim['paper_name']}/{claim['figure']}"
                ratios[name] = Ratios(**{**found, "causes": causes})
        return ratios

    @cached_property
    def runs(self) -> dict[str, Results]:
        """The runs by the names of their figures."""
        folders = sorted(path.parent for path in self.path.glob("*/*/summary.json"))
        runs = {f"{path.parent.name}/{path.name}": Results(path) for path in folders}
        for run in runs.values():
            run._temporary = self._temporary
        return runs

    @property
    def reports(self) -> list[Report]:
        """The page of each paper, with its figures drawn."""
        return [Report(page, self._temporary) for page in self._pages]

    def __repr__(self) -> str:
        return self._text.rstrip("\n")

    def _repr_html_(self) -> str:
        return Text(self._text)._repr_html_()


def open(path: str | os.PathLike[str]) -> Results:
    """The results of a run that has ended.

    >>> open("results/incast").rows.to_pandas()
    """
    return Results(path)


def _library(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        message = f"{name} is not installed; install it with: python -m pip install {name}"
        raise ImportError(message, name=name) from None
