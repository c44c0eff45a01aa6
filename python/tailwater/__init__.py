"""Tailwater simulates, explains and compares the cures for TCP incast.

>>> import tailwater as tw
>>> run = tw.run("incast", schemes=["newreno", "rcc"], set={"workload.senders": [10, 40]})
>>> run                       # a notebook shows a table and charts, a prompt the command's table
>>> run.rows.to_polars()      # rows, points, flows, ports, series: each a table
"""

from tailwater._errors import (
    InternalError,
    NoRoomError,
    Place,
    PointError,
    PointFailure,
    Problem,
    ScenarioError,
    ScenarioWarning,
)
from tailwater._run import Point, Scenario, explain, reproduce, run, show
from tailwater._tailwater import __version__
from tailwater._text import Text
from tailwater.results import Column, Reproduction, Results, Table, open

__all__ = [
    "Column",
    "InternalError",
    "NoRoomError",
    "Place",
    "Point",
    "PointError",
    "PointFailure",
    "Problem",
    "Reproduction",
    "Results",
    "Scenario",
    "ScenarioError",
    "ScenarioWarning",
    "Table",
    "Text",
    "__version__",
    "explain",
    "open",
    "reproduce",
    "run",
    "show",
]
