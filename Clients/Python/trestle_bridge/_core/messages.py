"""The messages of the native dialect: lines to write, and what a line that was read is."""

from __future__ import annotations

import math
from typing import Any, Optional, Protocol, Union

from . import wire
from .jsontext import encode

MessageID = Union[int, str]

ABSENT: Any = object()
"""Stands for options that are left out; None is JSON's null."""


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
    """A call. `task` and `options` are JSON already; `timeout` is in seconds, `math.inf` for none; `caller` is the id
    of the call on whose behalf a plugin makes it."""
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
    """A timeout in seconds, as the daemon takes it."""
    if timeout == math.inf:
        return wire.NO_TIMEOUT_MS
    # At least 1: the daemon refuses 0, and what is left of a timeout may be less than a millisecond.
    return max(1, math.ceil(timeout * 1000))


def message_bytes(hello: Any) -> Optional[int]:
    """The longest line, without its end, that a daemon takes which says this of itself; None: it does not say."""
    limits = hello.get(wire.LIMITS) if isinstance(hello, dict) else None
    most = limits.get(wire.MESSAGE_BYTES) if isinstance(limits, dict) else None
    return most if type(most) is int and most > 0 else None


def cancel(callback_id: int) -> bytes:
    """The cancel of a call of ours."""
    return b'{"cancel":%d}\n' % callback_id


def result(callback_id: MessageID, value: bytes) -> bytes:
    """The callback of a call that succeeded. `value` is JSON already."""
    return b'{"callbackId":%b,"result":%b}\n' % (encode(callback_id), value)


def error(callback_id: MessageID, value: bytes) -> bytes:
    """The callback of a call that failed. `value` is JSON already."""
    return b'{"callbackId":%b,"error":%b}\n' % (encode(callback_id), value)


def progress(callback_id: MessageID, sequence: int, value: bytes) -> bytes:
    """An intermediate result. `value` is JSON already."""
    return b'{"callbackId":%b,"progress":%b,"sequence":%d}\n' % (encode(callback_id), value, sequence)


def is_id(value: Any) -> bool:
    """Whether it may stand as `callbackId`. In Python True is an int, and 1.0 equals 1; in the protocol
    not."""
    return type(value) in (int, str)


class Receiver(Protocol):
    """Whom messages are handed to, by their kind."""

    def on_call(self, message: dict[str, Any]) -> None:
        """Another client's call of a task that this one provides."""

    def on_cancel(self, callback_id: Any) -> None:
        """The end of such a call."""

    def on_event(self, name: str, data: Any, retained: bool) -> None:
        """An event; `retained`: the daemon keeps it for later subscribers."""

    def on_progress(self, message: dict[str, Any]) -> None:
        """An intermediate result of a call of ours."""

    def on_callback(self, message: dict[str, Any]) -> None:
        """The end of a call of ours."""

    def on_nonsense(self, why: str) -> None:
        """What is no message."""


def dispatch(message: Any, receiver: Receiver) -> None:
    """Hands a parsed line to the receiver. Fields that are not known are ignored."""
    if isinstance(message, list):
        for item in message:
            # A batch holds messages, not batches.
            if isinstance(item, list):
                receiver.on_nonsense("a batch in a batch")
            else:
                dispatch(item, receiver)
    elif not isinstance(message, dict):
        receiver.on_nonsense("a message that is no object")
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
