"""JSON as the bridge wants it: compact UTF-8 on the way out, strict, with every int whole.

Encoding tries the fast encoder of the standard library first. Where that fails, a careful walk in Python
either succeeds (integers too long for it, `Decimal`) or finds the place that is at fault, so that the error
can name it.
"""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any, Callable, Iterator, Mapping, Sequence, Union

from .errors import OPTIONS_INVALID, BridgeError

JSONValue = Union[None, bool, int, float, str, Sequence["JSONValue"], Mapping[str, "JSONValue"]]
"""Any JSON, for annotations of programs. Arguments of this library that take any JSON are `Any`, since a `TypedDict`,
as `trestle generate` writes them, is no `Mapping` of JSON values to a type checker; results are `Any` as those of
`json.loads` are."""

# The daemon refuses more than 128 levels; what lies far beyond is a structure that contains itself.
_DEEPEST = 500

_FEW_DIGITS = 4000
"""Digits of an integer that int() takes in any case."""

_fast = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def encode(value: Any) -> bytes:
    """The JSON of a value, without a raw line break.

    Takes what `json.dumps` takes, and `decimal.Decimal`. Tuples become arrays; keys that are numbers,
    booleans or None become strings, as `json.dumps` has it.

    Raises:
        BridgeError: `options.invalid` where the value has no JSON: NaN, an infinity, half a surrogate pair,
            an object of another class, a value that contains itself. `data.path` says where.
    """
    try:
        return _fast.encode(value).encode("utf-8")
    except (ValueError, TypeError, RecursionError):
        # UnicodeEncodeError, which half a surrogate pair brings, is a ValueError.
        return "".join(_walk(value, "$", 0)).encode("utf-8")


def decoder(parse_float: Callable[[str], Any] = float) -> Callable[[bytes], Any]:
    """A function that parses one line.

    Args:
        parse_float: makes a number of the text of one with a point or an exponent; `decimal.Decimal` keeps
            all of it. What it does not take comes as a float. Integers are always ints.

    The function raises ValueError for whatever is no JSON.
    """

    def number(text: str) -> Any:
        try:
            return parse_float(text)
        except Exception:
            # A number that it does not take, such as an exponent beyond Decimal's, must not cost a callback.
            return float(text)

    # float takes whatever the grammar does, and the decoder knows it.
    real = float if parse_float is float else number
    fast = json.JSONDecoder(parse_float=real, parse_constant=_refuse_constant)
    # Python's int() refuses texts of thousands of digits; the protocol does not.
    long = json.JSONDecoder(parse_float=real, parse_int=_parse_int, parse_constant=_refuse_constant)

    def decode(line: bytes) -> Any:
        text = line.decode("utf-8")
        try:
            return fast.decode(text)
        except json.JSONDecodeError:
            raise
        except ValueError:
            return long.decode(text)
        except RecursionError:
            raise ValueError("the line is nested too deep") from None

    return decode


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _parse_int(text: str) -> int:
    return -_parse_digits(text[1:], {}) if text.startswith("-") else _parse_digits(text, {})


def _parse_digits(text: str, powers: dict[int, int]) -> int:
    """By halves, so that a megabyte of digits, which any client may send, takes a second and not a minute."""
    if len(text) <= _FEW_DIGITS:
        return int(text)
    low = _FEW_DIGITS
    while low * 2 < len(text):
        low *= 2
    if low not in powers:
        powers[low] = 10**low
    return _parse_digits(text[:-low], powers) * powers[low] + _parse_digits(text[-low:], powers)


def _walk(value: Any, path: str, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        got = f"a value nested more than {_DEEPEST} levels deep, or one that contains itself"
        raise _fault(path, "JSON", got)
    if value is None or value is True or value is False:
        yield _fast.encode(value)
    elif isinstance(value, str):
        yield _string(value, path)
    elif isinstance(value, int):
        # str() refuses long ones, as int() does; Decimal converts exactly.
        yield str(Decimal(int(value)))
    elif isinstance(value, (float, Decimal)):
        # math.isfinite takes a Decimal for infinite that is only too large for a float.
        if not (value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)):
            raise _fault(path, "a finite number", str(value))
        yield str(value) if isinstance(value, Decimal) else float.__repr__(value)
    elif isinstance(value, (list, tuple)):
        separator = "["
        for index, item in enumerate(value):
            yield separator
            yield from _walk(item, f"{path}[{index}]", depth + 1)
            separator = ","
        yield "]" if value else "[]"
    elif isinstance(value, dict):
        separator = "{"
        for key, item in value.items():
            yield separator
            yield _key(key, path)
            yield ":"
            yield from _walk(item, f"{path}.{key}", depth + 1)
            separator = ","
        yield "}" if value else "{}"
    else:
        raise _fault(path, "JSON", f"an object of the class {type(value).__name__}")


def _key(key: Any, path: str) -> str:
    if isinstance(key, str):
        return _string(key, path)
    if key is None or isinstance(key, (bool, int, float)):
        return '"' + "".join(_walk(key, path, 0)) + '"'
    raise _fault(path, "a string as key", f"an object of the class {type(key).__name__}")


def _string(value: str, path: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        got = f"half a surrogate pair at character {error.start}"
        raise _fault(path, "a string of Unicode characters", got) from None
    return _fast.encode(value)


def _fault(path: str, expected: str, got: str) -> BridgeError:
    # The path may itself hold what cannot be encoded; an error must be fit to be sent.
    path = path.encode("utf-8", "replace").decode("utf-8")
    return BridgeError(
        OPTIONS_INVALID,
        f"the value has no JSON: at {path} {expected} was expected, not {got}",
        {"path": path, "expected": expected, "got": got, "started": False},
    )
