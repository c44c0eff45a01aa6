"""Tailwater simulates, explains and compares the cures for TCP incast.

>>> import tailwater as tw
>>> run = tw.run("incast", schemes=["newreno", "rcc"], set={"workload.senders": [10, 40]})
>>> run                       # a notebook shows a table and charts, a prompt the command's table
>>> run.rows.to_polars()      # rows, points, collectives, flows, ports, series: each a table
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tailwater._draw import Draw, choice, log_uniform, uniform
from tailwater._errors import (
    InternalError,
    NoRoomError,
    Place,
    PointError,
    PointFailure,
    Problem,
    ScenarioError,
    ScenarioWarning,
    SchemeError,
    WorkerError,
)
from tailwater._lists import list
from tailwater._page import Page
from tailwater._run import Point, Scenario, Shard, explain, explore, import_flows, merge, reproduce, run, show
from tailwater._tailwater import (
    Ack,
    AckSent,
    Arrival,
    Backlog,
    Config,
    Loss,
    Packet,
    __version__,
)
from tailwater._text import Text
from tailwater.results import Column, Ratios, Reproduction, Results, Shift, Table, open
from tailwater._declared import gauge, param, register
from tailwater.scheme import Hook, Queue, Receiver, Sender

if TYPE_CHECKING:
    from tailwater import gym as gym

__all__ = [
    "Ack",
    "AckSent",
    "Arrival",
    "Backlog",
    "Column",
    "Config",
    "Draw",
    "Hook",
    "InternalError",
    "Loss",
    "NoRoomError",
    "Packet",
    "Page",
    "Place",
    "Point",
    "PointError",
    "PointFailure",
    "Problem",
    "Queue",
    "Ratios",
    "Receiver",
    "Reproduction",
    "Results",
    "Scenario",
    "ScenarioError",
    "ScenarioWarning",
    "SchemeError",
    "Sender",
    "Shard",
    "Shift",
    "Table",
    "Text",
    "WorkerError",
    "__version__",
    "choice",
    "explain",
    "explore",
    "gauge",
    "gym",
    "import_flows",
    "list",
    "log_uniform",
    "merge",
    "open",
    "param",
    "register",
    "reproduce",
    "run",
    "show",
    "uniform",
]


def __getattr__(name: str) -> Any:
    # Environments need packages that nothing else needs.
    if name == "gym":
        return importlib.import_module("tailwater.gym")
    raise AttributeError(f"module 'tailwater' has no attribute {name!r}")
