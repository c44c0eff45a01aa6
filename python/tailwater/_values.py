"""Settings as Python has them, written as the command line and scenario files have them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from tailwater._errors import Place, Problem, ScenarioError


def wrong(name: str, value: object, expected: str) -> ScenarioError:
    """The error of an argument that is no value of its kind."""
    text = repr(value)
    message = f"{name} cannot be {text}"
    problem = Problem(message, Place(name, 1, 1, text), "wrong value", expected)
    return ScenarioError(f"{message}\n  help: {expected}", [problem])


def setting(key: str, value: object) -> str:
    """One setting as ``KEY=VALUE``; a list, a range or an array gives several values."""
    if not isinstance(key, str):
        raise wrong("set", key, "keys are texts, as in {'workload.senders': 40}")
    name = f"set[{json.dumps(key, ensure_ascii=False)}]"
    texts = [_text(name, one) for one in values(value)]
    if not texts:
        raise wrong(name, value, "give at least one value")
    return f"{key}={','.join(texts)}"


def values(value: object) -> list[Any]:
    """A value alone, or each of several: arrays give numbers of Python."""
    listed = getattr(value, "tolist", None)
    if callable(listed):
        value = listed()
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)):
        return list(value)
    return [value]


def names(name: str, value: object) -> str | None:
    """Texts in a list, separated by commas as the command line has them."""
    if value is None:
        return None
    found = [value] if isinstance(value, str) else values(value)
    if not found or not all(isinstance(one, str) for one in found):
        raise wrong(name, value, "give a text, or a list of texts")
    return ",".join(found)


def schemes(value: object) -> str | None:
    """Schemes in a list: texts, and classes, which are registered."""
    from tailwater._declared import is_scheme, register

    if value is None:
        return None
    found: list[Any] = [value] if isinstance(value, str) or is_scheme(value) else values(value)
    named = [register(one) if is_scheme(one) else one for one in found]
    if not named or not all(isinstance(one, str) for one in named):
        raise wrong("schemes", value, "give names, classes that derive from tw.Sender, or a list of them")
    return ",".join(named)


def texts(name: str, value: object) -> list[str]:
    """Texts in a list; one alone is a list of one."""
    found = [] if value is None else [value] if isinstance(value, str) else values(value)
    if not all(isinstance(one, str) for one in found):
        raise wrong(name, value, "give a text, or a list of texts")
    return found


def whole(name: str, value: object, least: int, most: int = 2**64 - 1) -> int | None:
    """A whole number within bounds, also of NumPy, or none."""
    if value is None:
        return None
    found = values(value)
    number = found[0] if len(found) == 1 else value
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        bounds = f"of at least {least}" if most >= 2**32 - 1 else f"from {least} to {most}"
        raise wrong(name, value, f"give a whole number {bounds}")
    return number


def size(name: str, value: object) -> int | None:
    """Bytes: a whole number, or a text with a unit."""
    if not isinstance(value, str):
        return whole(name, value, 1)
    units = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
    units |= {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "B": 1}
    text = value.strip()
    for unit, bytes_of in units.items():
        if text.endswith(unit):
            try:
                number = float(text[: -len(unit)])
            except ValueError:
                break
            if number * bytes_of >= 1:
                return int(number * bytes_of)
            break
    raise wrong(name, value, "give a number of bytes, or a text with its unit, as in '8GB'")


def percent(name: str, value: object) -> float | None:
    """A part of the whole: 0.05, or the text 5%."""
    if value is None:
        return None
    expected = "give a part between 0 and 1, as in 0.05, or a text as in '5%'"
    number: object = value
    if isinstance(value, str):
        try:
            number = float(value.strip().removesuffix("%")) / 100
        except ValueError:
            raise wrong(name, value, expected) from None
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not 0 < number < 1:
        raise wrong(name, value, expected)
    return float(number)


def toml(value: Mapping[str, Any]) -> str:
    """A scenario as TOML: keys with dots are written as they are, so that both ways of nesting work."""
    lines: list[str] = []
    _table(value, (), "scenario", lines)
    return "\n".join(lines) + "\n"


def _table(value: Mapping[str, Any], path: tuple[str, ...], name: str, lines: list[str]) -> None:
    for key, one in value.items():
        place = f"{name}[{json.dumps(key, ensure_ascii=False)}]"
        if not isinstance(key, str):
            raise wrong(name, key, "keys are texts")
        parts = (*path, *key.split("."))
        if isinstance(one, Mapping):
            _table(one, parts, place, lines)
        else:
            lines.append(f"{'.'.join(map(_bare, parts))} = {_written(place, one)}")


def _bare(key: str) -> str:
    plain = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
    return key if plain else _quoted(key)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _written(name: str, value: object) -> str:
    several = values(value)
    alone = len(several) == 1 and (several[0] is value or _is_scalar(value))
    if not alone:
        return f"[{', '.join(_written(name, one) for one in several)}]"
    value = several[0]
    if isinstance(value, type):
        from tailwater._declared import register

        value = register(value)
    return _quoted(value) if isinstance(value, str) else _text(name, value)


def _is_scalar(value: object) -> bool:
    """Whether it is a number of NumPy, or an array without dimensions."""
    return getattr(value, "shape", None) == ()


def _text(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    raise wrong(name, value, "give a text, a number, True or False, or a list of them")
