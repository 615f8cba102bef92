"""Options or a result on their way out, with the streams that stand in them."""

from __future__ import annotations

from typing import Any, Callable, Sequence

from .errors import INTERNAL, BridgeError
from .jsontext import encode
from .stream_values import Stream


class Outgoing:
    """A value, and the streams in it, which have names only when they were made.

    Attributes:
        streams: those in it, in their order.
    """

    def __init__(self, value: Any) -> None:
        """
        Raises:
            BridgeError: `options.invalid` where it has no JSON, its streams left aside.
        """
        self.streams: list[Stream] = []
        self._value = value
        try:
            self._text = encode(value)
        except BridgeError:
            # Only a value that has no JSON has a stream in it: no other is searched.
            self.streams = _streams_in(value)
            if not self.streams:
                raise
            self._text = self.text([""] * len(self.streams))

    @property
    def may_repeat(self) -> bool:
        """Whether it can be sent more than once."""
        return not any(stream._is_one_pass for stream in self.streams)

    def text(self, names: Sequence[str]) -> bytes:
        """Its JSON, with these names in the places of the streams."""
        if not self.streams:
            return self._text
        left = iter(names)
        return encode(_replaced(self._value, lambda stream: next(left)))


def result_of(task: str, value: Any) -> Outgoing:
    """A result of a handler.

    Raises:
        BridgeError: `internal`, which its caller gets, where the result has no JSON.
    """
    try:
        return Outgoing(value)
    except BridgeError as fault:
        raise BridgeError(INTERNAL, f"the result of {task} has no JSON: {fault.message}") from None


def _streams_in(value: Any) -> list[Stream]:
    found: list[Stream] = []
    try:
        _replaced(value, found.append)
    except RecursionError:
        # It contains itself, and so can never be sent.
        return []
    return found


def _replaced(value: Any, replace: Callable[[Stream], Any]) -> Any:
    """A copy of the value, with what stands in the places of the streams."""
    if isinstance(value, Stream):
        return replace(value)
    if isinstance(value, dict):
        return {key: _replaced(member, replace) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_replaced(item, replace) for item in value]
    return value
