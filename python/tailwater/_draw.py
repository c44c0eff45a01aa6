"""Settings that every episode of an environment draws anew."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from tailwater import _values


class Draw(NamedTuple):
    """What a setting is drawn from."""

    low: str = ""
    """The lower end, which may be drawn."""
    high: str = ""
    """The upper end, which may be drawn, too."""
    log: bool = False
    """Whether the logarithms of values are even, and not the values themselves."""
    options: tuple[str, ...] = ()
    """Texts to choose from, instead of the ends."""

    def _given(self, key: str) -> dict[str, Any]:
        """The same for the extension."""
        name = f'set["{key}"]'
        if self.options:
            return {
                "key": key,
                "choice": list(self.options),
                "bounds": (0.0, 0.0),
                "unit": "",
                "whole": False,
                "log": False,
            }
        (low, unit, whole), (high, other, whole_too) = (_number(name, one) for one in self[:2])
        if unit != other:
            raise _values.wrong(name, self, "give both ends in the same unit")
        if low > high:
            raise _values.wrong(name, self, "give the lower end first")
        if self.log and low <= 0:
            raise _values.wrong(name, self, "logarithms need a lower end above 0")
        # What has a size or is counted is whole; times, rates and shares are not.
        counted = whole and whole_too and unit in ("", *_SIZES)
        if counted and self.log:
            raise _values.wrong(name, self, "draw whole numbers with tw.uniform or tw.choice")
        return {
            "key": key,
            "choice": [],
            "bounds": (low, high),
            "unit": unit,
            "whole": counted,
            "log": self.log,
        }


def uniform(low: str | float, high: str | float) -> Draw:
    """A setting that every episode draws between two ends, each value as likely as each other.

    Whole numbers, also of bytes or packets, give whole numbers; both ends have the same unit.

    >>> uniform("1Gbps", "10Gbps")
    Draw(low='1Gbps', high='10Gbps', log=False, options=())
    """
    return Draw(str(low), str(high))


def log_uniform(low: str | float, high: str | float) -> Draw:
    """The same with even logarithms: from 1 to 10 is as likely as from 10 to 100."""
    return Draw(str(low), str(high), log=True)


def choice(*options: str | float) -> Draw:
    """A setting that every episode chooses among values.

    >>> choice(8, 16, 32).options
    ('8', '16', '32')
    """
    if not options:
        raise _values.wrong("choice", options, "give at least one value")
    return Draw(options=tuple(_values._text("choice", option) for option in options))


def split(set: Mapping[str, Any] | None) -> tuple[list[str], list[dict[str, Any]]]:
    """Settings that stay, as on the command line, and settings that are drawn."""
    if set is not None and not isinstance(set, Mapping):
        raise _values.wrong("set", set, "give settings by key, as in {'workload.senders': 8}")
    items = (set or {}).items()
    fixed = [_values.setting(key, value) for key, value in items if not isinstance(value, Draw)]
    return fixed, [value._given(key) for key, value in items if isinstance(value, Draw)]


def _number(name: str, text: str) -> tuple[float, str, bool]:
    """A number, its unit, and whether it is written as a whole one."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?(?:e-?\d+)?)\s*([A-Za-z]*)\s*", text)
    if found is None:
        raise _values.wrong(name, text, "give a number, or a text with its unit, as in '10Gbps'")
    return float(found[1]), found[2], found[1].isdigit()


_SIZES = ("B", "KB", "MB", "GB", "KiB", "MiB", "GiB", "pkt")
"""Units of what is whole."""
