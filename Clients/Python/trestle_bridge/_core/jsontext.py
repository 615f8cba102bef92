"""JSON for the protocol: strict, compact UTF-8, with integers of any length.

Encoding first tries the fast encoder of the standard library. If that fails, a slower encoder in Python either succeeds
(very long integers, `Decimal`) or finds the invalid place, so that the error can name it.
"""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any, Callable, Iterator, Mapping, Sequence, Union

from .errors import OPTIONS_INVALID, BridgeError

JSONValue = Union[None, bool, int, float, str, Sequence["JSONValue"], Mapping[str, "JSONValue"]]
"""Any JSON value, for annotations in programs. In this library, arguments with any JSON have the type `Any`: for a type
checker, a `TypedDict`, such as `trestle generate` writes, is not a `Mapping` of JSON values. Results have the type
`Any`, like those of `json.loads`."""

# The daemon refuses more than 128 levels. A value beyond this limit probably contains itself.
_DEEPEST = 500

_FEW_DIGITS = 4000
"""A number of digits below the default limit of int(), which is 4,300."""

_fast = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def encode(value: Any) -> bytes:
    """Returns the JSON of a value, without a raw line break.

    Accepts the values that `json.dumps` accepts, and `decimal.Decimal`. As with `json.dumps`, tuples become arrays, and
    keys that are numbers, booleans or None become strings.

    Raises:
        BridgeError: `options.invalid` if the value has no JSON: NaN, an infinity, an unpaired surrogate, an object of
            another class, or a value that contains itself. `data.path` is its place.
    """
    try:
        return _fast.encode(value).encode("utf-8")
    except (ValueError, TypeError, RecursionError):
        # An unpaired surrogate raises UnicodeEncodeError, which is a ValueError.
        return "".join(_walk(value, "$", 0)).encode("utf-8")


def decoder(parse_float: Callable[[str], Any] = float) -> Callable[[bytes], Any]:
    """Returns a function that parses one line. The function raises ValueError if the line is not JSON.

    Args:
        parse_float: converts the text of a number with a point or an exponent; `decimal.Decimal` keeps every digit. If
            it raises, the number is a float. Integers are always ints.
    """

    def number(text: str) -> Any:
        try:
            return parse_float(text)
        except Exception:
            # A number that it refuses, such as one with too large an exponent for Decimal, must not lose a callback.
            return float(text)

    # float accepts every JSON number, and the decoder has a fast path for it.
    real = float if parse_float is float else number
    fast = json.JSONDecoder(parse_float=real, parse_constant=_refuse_constant)
    # Python's int() refuses texts with thousands of digits. The protocol permits them.
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
    """Parses digits by divide and conquer. Any client may send a megabyte of digits; this takes a second, not a
    minute."""
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
        # str() refuses long integers, as int() does; Decimal converts exactly.
        yield str(Decimal(int(value)))
    elif isinstance(value, (float, Decimal)):
        # math.isfinite treats a Decimal that is too large for a float as infinite.
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
    # The path itself may contain unpaired surrogates, but it must be possible to send the error.
    path = path.encode("utf-8", "replace").decode("utf-8")
    return BridgeError(
        OPTIONS_INVALID,
        f"the value cannot be encoded as JSON: {path}: expected {expected}; got {got}",
        {"path": path, "expected": expected, "got": got, "started": False},
    )
