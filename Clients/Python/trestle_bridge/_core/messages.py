"""The messages of the native dialect: encodes lines, and dispatches parsed lines by their kind."""

from __future__ import annotations

import math
from typing import Any, Optional, Protocol, Union

from . import wire
from .jsontext import encode

MessageID = Union[int, str]

ABSENT: Any = object()
"""The value for omitted options. None is JSON's null."""


def call(
    task: bytes,
    options: Optional[bytes],
    *,
    callback_id: Optional[int] = None,
    timeout: Optional[float] = None,
    progress: bool = False,
    session: Optional[int] = None,
    caller: Optional[MessageID] = None,
) -> bytes:
    """Returns the line of a call. `task` and `options` are already JSON. `timeout` is in seconds; `math.inf` means no
    timeout. `caller` is the id of the call on whose behalf a plugin makes this call."""
    parts = [b'{"task":', task]
    if callback_id is not None:
        parts.append(b',"callbackId":%d' % callback_id)
    if timeout is not None:
        parts.append(b',"%b":%d' % (wire.TIMEOUT.encode(), milliseconds(timeout)))
    if progress:
        parts.append(b',"progress":true')
    if session is not None:
        parts.append(b',"session":%d' % session)
    if caller is not None:
        parts.append(b',"caller":%b' % encode(caller))
    if options is not None:
        parts += [b',"options":', options]
    parts.append(b"}\n")
    return b"".join(parts)


def milliseconds(timeout: float) -> int:
    """Converts a timeout in seconds to the protocol's milliseconds."""
    if timeout == math.inf:
        return wire.NO_TIMEOUT_MS
    # At least 1: the daemon refuses 0, and the rest of a timeout may be less than a millisecond.
    return max(1, math.ceil(timeout * 1000))


def message_bytes(hello: Any) -> Optional[int]:
    """Returns the maximum length of a line, without its end, from a daemon's hello; None if it is not in there."""
    limits = hello.get(wire.LIMITS) if isinstance(hello, dict) else None
    most = limits.get(wire.MESSAGE_BYTES) if isinstance(limits, dict) else None
    return most if type(most) is int and most > 0 else None


def cancel(callback_id: int) -> bytes:
    """Returns the cancel of a call of this process."""
    return b'{"cancel":%d}\n' % callback_id


def result(callback_id: MessageID, value: bytes) -> bytes:
    """Returns the callback of a call that succeeded. `value` is already JSON."""
    return b'{"callbackId":%b,"result":%b}\n' % (encode(callback_id), value)


def error(callback_id: MessageID, value: bytes) -> bytes:
    """Returns the callback of a call that failed. `value` is already JSON."""
    return b'{"callbackId":%b,"error":%b}\n' % (encode(callback_id), value)


def progress(callback_id: MessageID, sequence: int, value: bytes) -> bytes:
    """Returns an intermediate result. `value` is already JSON."""
    return b'{"callbackId":%b,"progress":%b,"sequence":%d}\n' % (encode(callback_id), value, sequence)


def is_id(value: Any) -> bool:
    """Whether the value is a valid `callbackId`. In Python True is an int and 1.0 equals 1, but not in the protocol."""
    return type(value) in (int, str)


class Receiver(Protocol):
    """The receiver of messages, with one function for each kind."""

    def on_call(self, message: dict[str, Any]) -> None:
        """Receives a call of a task that this process provides."""

    def on_cancel(self, callback_id: Any) -> None:
        """Receives the cancel of such a call."""

    def on_event(self, name: str, data: Any, retained: bool) -> None:
        """Receives an event. `retained`: whether the daemon stores it for later subscribers."""

    def on_progress(self, message: dict[str, Any]) -> None:
        """Receives an intermediate result of a call that this process made."""

    def on_callback(self, message: dict[str, Any]) -> None:
        """Receives the end of a call that this process made."""

    def on_nonsense(self, why: str) -> None:
        """Receives the description of an invalid message."""


def dispatch(message: Any, receiver: Receiver) -> None:
    """Passes a parsed line to the receiver. Unknown members are ignored."""
    if isinstance(message, list):
        for item in message:
            # A batch contains messages, not batches.
            if isinstance(item, list):
                receiver.on_nonsense("a batch in a batch")
            else:
                dispatch(item, receiver)
    elif not isinstance(message, dict):
        receiver.on_nonsense("a message that is not an object")
    elif isinstance(message.get("event"), str):
        receiver.on_event(message["event"], message.get("data"), message.get(wire.RETAINED) is True)
    elif isinstance(message.get("task"), str):
        receiver.on_call(message)
    elif "cancel" in message:
        receiver.on_cancel(message["cancel"])
    elif "callbackId" not in message:
        receiver.on_nonsense("a message of no known kind")
    elif "progress" in message:
        receiver.on_progress(message)
    else:
        receiver.on_callback(message)
