"""What can go wrong. All of it survives pickling, so that it comes back from other processes as it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tailwater.results import Results


class Place(NamedTuple):
    """Where a problem is."""

    name: str
    """The file, or the argument: ``set["workload.senders"]``."""
    line: int
    """Line in it, from 1."""
    column: int
    """Column in that line, from 1."""
    text: str
    """The line."""


class Problem(NamedTuple):
    """One mistake: its place, its cause, its remedy."""

    message: str
    """What is wrong, in one sentence."""
    place: Place | None
    """Where it is, if it is in a text."""
    cause: str | None
    """What is wrong at that place, in a few words."""
    help: str | None
    """The remedy."""

    @staticmethod
    def _of(parts: Mapping[str, Any]) -> Problem:
        place = parts["place"]
        return Problem(
            message=parts["message"],
            place=None if place is None else Place(*place),
            cause=parts["cause"],
            help=parts["help"],
        )


class _Told(Exception):
    """The text of the command's message, and each problem in its parts."""

    problems: tuple[Problem, ...]
    _text: str

    def __init__(self, text: str, problems: Sequence[Problem | Mapping[str, Any]] = ()) -> None:
        super().__init__(text)
        self._text = text
        self.problems = tuple(
            problem if isinstance(problem, Problem) else Problem._of(problem)
            for problem in problems
        )

    def __str__(self) -> str:
        return self._text

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._text, self.problems))


class ScenarioError(_Told, ValueError):
    """The input is wrong, and nothing has run. ``str()`` gives the message of the command."""


class NoRoomError(_Told, RuntimeError):
    """A disk has no room for a file. Finished simulations are kept."""


class WorkerError(RuntimeError):
    """No worker is left. With ``out`` finished simulations are kept, and ``resume=True`` continues."""


class ScenarioWarning(UserWarning):
    """A scenario has an allowed but probably unintended setting."""


class InternalError(RuntimeError):
    """An invariant of the program does not hold: please report it."""


class PointFailure(NamedTuple):
    """A simulation that failed."""

    scheme: str
    set: Mapping[str, str]
    """The settings that results show."""
    seed: int
    error: str
    """What went wrong."""
    command: str
    """The command that repeats it, to run in the run folder."""

    def __str__(self) -> str:
        settings = "".join(f"{key} = {value}, " for key, value in self.set.items())
        return f"{self.scheme}, {settings}seed {self.seed}: {self.error}"


class PointError(RuntimeError):
    """Some simulations of a sweep failed. ``results`` has the results of the others."""

    failures: tuple[PointFailure, ...]
    results: Results

    def __init__(self, failures: Sequence[PointFailure], results: Results) -> None:
        self.failures = tuple(failures)
        self.results = results
        many = f"{len(failures)} simulations failed" if len(failures) > 1 else "a simulation failed"
        super().__init__("\n  ".join([f"{many}:", *map(str, failures[:_SHOWN])]))

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.failures, self.results))


class SchemeError(PointError):
    """A method of a scheme in Python has raised an exception, which is the ``__cause__``. Other simulations went on:
    what they came to is in ``results``."""

    scheme: str
    """The scheme, with those it is composed with."""
    seed: int
    time: int
    """When it was raised in the simulation, in picoseconds."""

    def __init__(
        self,
        failures: Sequence[PointFailure],
        results: Results,
        scheme: str,
        seed: int,
        time: int,
    ) -> None:
        super().__init__(failures, results)
        self.scheme = scheme
        self.seed = seed
        self.time = time

    @property
    def time_us(self) -> float:
        """The same in microseconds."""
        return self.time / 1e6

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.failures, self.results, self.scheme, self.seed, self.time)
        return (type(self), fields)


_SHOWN = 10
"""Failures that a message names."""

for _class in (
    ScenarioError,
    NoRoomError,
    WorkerError,
    ScenarioWarning,
    InternalError,
    PointError,
    SchemeError,
):
    # Tracebacks name them as users import them.
    _class.__module__ = "tailwater"
