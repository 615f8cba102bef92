"""Outgoing options or results, and the streams in them."""

from __future__ import annotations

from typing import Any, Callable, Sequence

from .errors import INTERNAL, BridgeError
from .jsontext import encode
from .stream_values import Stream


class Outgoing:
    """A value and the streams in it. A stream gets its name when it is made.

    Attributes:
        streams: the streams in the value, in order.
    """

    def __init__(self, value: Any) -> None:
        """
        Raises:
            BridgeError: `options.invalid` if the value without its streams has no JSON.
        """
        self.streams: list[Stream] = []
        self._value = value
        try:
            self._text = encode(value)
        except BridgeError:
            # A value with a stream has no JSON, so only such values are searched.
            self.streams = _streams_in(value)
            if not self.streams:
                raise
            self._text = self.text([""] * len(self.streams))

    @property
    def may_repeat(self) -> bool:
        """Whether the value can be sent more than once."""
        return not any(stream._is_one_pass for stream in self.streams)

    def text(self, names: Sequence[str]) -> bytes:
        """Returns the JSON of the value, with these names in place of the streams."""
        if not self.streams:
            return self._text
        left = iter(names)
        return encode(_replaced(self._value, lambda stream: next(left)))


def result_of(task: str, value: Any) -> Outgoing:
    """Returns the result of a handler as an outgoing value.

    Raises:
        BridgeError: `internal` if the result has no JSON. The caller of the task gets this error.
    """
    try:
        return Outgoing(value)
    except BridgeError as fault:
        raise BridgeError(INTERNAL, f"the result of {task} cannot be encoded as JSON: {fault.message}") from None


def _streams_in(value: Any) -> list[Stream]:
    found: list[Stream] = []
    try:
        _replaced(value, found.append)
    except RecursionError:
        # The value contains itself, so it can never be sent.
        return []
    return found


def _replaced(value: Any, replace: Callable[[Stream], Any]) -> Any:
    """Returns a copy of the value in which `replace` has replaced the streams."""
    if isinstance(value, Stream):
        return replace(value)
    if isinstance(value, dict):
        return {key: _replaced(member, replace) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_replaced(item, replace) for item in value]
    return value
