"""What a class says of the scheme that it is, and its way into the registry."""

from __future__ import annotations

import difflib
import inspect
import os
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar, overload

from tailwater import _tailwater, _values

class _Param(NamedTuple):
    default: Any
    kind: str | None
    help: str


class _Gauge(NamedTuple):
    default: Any
    unit: str
    help: str


@overload
def param(default: bool, *, kind: None = None, help: str = "") -> bool: ...
@overload
def param(default: int, *, kind: None = None, help: str = "") -> int: ...
@overload
def param(default: float, *, kind: None = None, help: str = "") -> float: ...
@overload
def param(default: str, *, kind: None = None, help: str = "") -> str: ...
@overload
def param(default: str, *, kind: Literal["time", "bytes", "rate"], help: str = "") -> int: ...
def param(
    default: bool | int | float | str, *, kind: str | None = None, help: str = ""
) -> Any:
    """A parameter of a scheme: a setting like any other, swept with ``set`` and told by ``explain``.

    >>> class Mine(Sender):
    ...     gain: float = param(0.5, help="Segments per round trip.")  # the setting mine.gain

    Args:
        default: Its default. Its type is that of the setting: a whole number, a real one (also a whole number of an
            attribute that is annotated as ``float``), ``True`` or ``False``, or a word.
        kind: For a text with a unit: ``"time"`` (objects have picoseconds), ``"bytes"``, or ``"rate"`` (bits per
            second), as in ``param("100us", kind="time")``.
        help: What it means, as sentences.
    """
    return _Param(default, kind, help)


_Number = TypeVar("_Number", int, float)


def gauge(default: _Number, *, unit: str = "", help: str = "") -> _Number:
    """An attribute that traces show, by its name: ``trace=["mine_alpha"]``.

    >>> class Mine(Sender):
    ...     mine_alpha: float = gauge(1.0, unit="share", help="Share of marked bytes.")

    Args:
        default: Its value at the beginning. ``None`` later on leaves a sample out.
        unit: Its unit, or what it counts.
        help: What it means, as sentences.
    """
    # Type checkers see the attribute and not its declaration.
    return _Gauge(default, unit, help)  # type: ignore[return-value]


ROLES: dict[str, type[Any]] = {}
"""The base class of each role."""


_MARKS = ("off", "classic", "accurate", "everywhere", "unechoed")


def _declare(cls: type[Any]) -> None:
    """Takes declarations out of a class, leaves their defaults in their places, and refuses what cannot work."""
    base = next((base for base in ROLES.values() if issubclass(cls, base)), None)
    params = {**getattr(cls, "_tailwater_params", {})}
    gauges = {**getattr(cls, "_tailwater_gauges", {})}
    try:
        annotations = inspect.get_annotations(cls)
    except NameError:
        # They name what is not there yet, as newer versions of Python allow.
        annotations = {}
    for attribute, value in list(cls.__dict__.items()):
        if isinstance(value, _Param):
            kind, text = _kind(f"{cls.__name__}.{attribute}", value, annotations.get(attribute))
            params[attribute] = (kind, text, value.help)
            setattr(cls, attribute, _tailwater.value(kind, text))
        elif isinstance(value, _Gauge):
            gauges[attribute] = (value.unit, value.help)
            setattr(cls, attribute, value.default)
    cls._tailwater_params = params
    cls._tailwater_gauges = gauges
    if base is None:
        return
    fields = {name for name in dir(base.__mro__[1]) if not name.startswith("_")}
    methods = set(_methods(base))
    for attribute, value in cls.__dict__.items():
        if attribute in fields - methods:
            raise TypeError(
                f"{cls.__name__} cannot define {attribute}: it is a field of tw.{base.__name__}"
            )
        if attribute.startswith("on_") and callable(value) and attribute not in methods:
            near = difflib.get_close_matches(attribute, methods, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise TypeError(
                f"{cls.__name__} has a method {attribute}, which is never called, because it is not a method of "
                f"tw.{base.__name__}{hint}"
            )


def _kind(name: str, param: _Param, annotation: object) -> tuple[str, str]:
    """The kind of a parameter and the text of its default."""
    default = param.default
    if param.kind is not None:
        if param.kind not in ("time", "bytes", "rate") or not isinstance(default, str):
            expected = "a text with its unit and kind='time', 'bytes' or 'rate'"
            raise _values.wrong(name, default, expected)
        return param.kind, default
    if isinstance(default, bool):
        return "flag", "true" if default else "false"
    if isinstance(default, float) or isinstance(default, int) and annotation in (float, "float"):
        return "real", repr(float(default))
    if isinstance(default, int):
        return "whole", repr(default)
    if isinstance(default, str):
        return "word", default
    raise _values.wrong(name, default, "give a number, True or False, or a text")


class Declared:
    """What every scheme may say of itself."""

    name: ClassVar[str]
    """Its name in scenarios and results; by default that of the class in lowercase letters."""
    summary: ClassVar[str]
    """One sentence for lists; by default the first line of the class's documentation."""
    reference: ClassVar[str] = ""
    """Where it was published; without: the name of the class."""
    marks: ClassVar[Literal["off", "classic", "accurate", "everywhere", "unechoed"] | None] = None
    """How endpoints use congestion marks: ``"classic"`` (RFC 3168), ``"accurate"`` (RFC 8257), ``"everywhere"``
    (as accurate, all segments can be marked), ``"unechoed"`` or ``"off"``; by default the scenario decides."""
    needs_marking: ClassVar[bool] = False
    """Whether it needs switches that mark packets."""
    first_window: ClassVar[int | None] = None
    """Segments of the first window; without: as the scenario says."""
    tcp: ClassVar[Mapping[str, str]] = {}
    """Settings that it rests on, as in ``{"tcp.min_rto": "1ms"}``; a scenario may give others."""
    random: ClassVar[bool] = False
    """Whether it draws random numbers, which it does with ``random.Random(self.seed)`` alone."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        _declare(cls)


def is_scheme(value: object) -> bool:
    """Whether it is a class that plays a role."""
    return isinstance(value, type) and issubclass(value, tuple(ROLES.values()))


def register(scheme: type[Any]) -> str:
    """Makes a class the scheme of its name, in this process and for scenarios that are read from now on: its name.

    ``run`` and ``Scenario`` do so for the classes that they are given. It remains for scenarios in files, for
    ``explain`` and for ``list``. A class replaces an earlier one of the same name.

    Raises:
        ScenarioError: Its name belongs to another scheme, or what it says of itself is wrong.
    """
    if not is_scheme(scheme) or scheme in ROLES.values():
        expected = "give a class of your own that derives from tw.Sender, tw.Receiver, tw.Queue or tw.Hook"
        raise _values.wrong("scheme", scheme, expected)
    name = str(_told(scheme, "name", scheme.__name__.lower()))
    documentation = inspect.cleandoc(scheme.__dict__.get("__doc__") or "")
    summary, _, how = documentation.partition("\n")
    marks = scheme.marks
    if marks is not None and marks not in _MARKS:
        choose = ", ".join(f'"{word}"' for word in _MARKS)
        raise _values.wrong(f"{scheme.__name__}.marks", marks, f"choose among {choose}, or None")
    role, base = next((role, base) for role, base in ROLES.items() if issubclass(scheme, base))
    given = {
        "name": name,
        "summary": str(_told(scheme, "summary", summary.rstrip(".") or scheme.__name__)),
        "how": " ".join(how.split()),
        "reference": scheme.reference or f"class {scheme.__qualname__} of {scheme.__module__}",
        "role": role,
        "params": [
            (attribute, kind, text, help)
            for attribute, (kind, text, help) in _params(scheme).items()
        ],
        "gauges": [(attribute, *rest) for attribute, rest in _gauges(scheme).items()],
        "methods": {
            method
            for method in (*_methods(base), "__init__")
            if getattr(scheme, method) is not getattr(base, method)
        },
        "marks": marks,
        "needs_marking": bool(scheme.needs_marking),
        "initial_window": _values.whole(
            f"{scheme.__name__}.first_window", scheme.first_window, 1, 2**32 - 1
        ),
        "random": bool(scheme.random),
        "tcp": [(str(key), str(text)) for key, text in scheme.tcp.items()],
        "class": scheme.__name__,
        "hash": _source(scheme)[0],
    }
    _tailwater.register(scheme, given)
    return name


def has_source(scheme: type[Any]) -> bool:
    """Whether the source of a class is known, so that results of different sources are told apart."""
    return _source(scheme)[1]


def _params(scheme: type[Any]) -> dict[str, tuple[str, str, str]]:
    return dict(scheme._tailwater_params)


def _gauges(scheme: type[Any]) -> dict[str, tuple[str, str]]:
    return dict(scheme._tailwater_gauges)


def _methods(base: type[Any]) -> list[str]:
    """The methods of a role."""
    functions = {name for name, value in base.__dict__.items() if inspect.isfunction(value)}
    return sorted(name for name in functions if not name.startswith("_"))


def _told(scheme: type[Any], word: str, otherwise: str) -> Any:
    """What a class says of itself, not what it inherits: two classes have two names."""
    return scheme.__dict__.get(word, otherwise)


def _source(scheme: type[Any]) -> tuple[int, bool]:
    """A hash of the source of a class and of those it derives from, and whether it is known at all."""
    known: tuple[int, bool] | None = scheme.__dict__.get("_tailwater_source")
    if known is None:
        import hashlib

        texts = []
        for part in scheme.__mro__:
            if part.__module__.split(".")[0] in ("tailwater", "builtins"):
                continue
            try:
                texts.append(inspect.getsource(part))
            except (OSError, TypeError):
                # Never the same as anything else.
                texts.append(os.urandom(16).hex())
                known = (0, False)
        digest = hashlib.blake2b("\0".join(texts).encode(), digest_size=8).digest()
        known = (int.from_bytes(digest, "big"), known is None)
        # It goes where the class goes, to processes that do not have its source.
        scheme._tailwater_source = known
    return known
