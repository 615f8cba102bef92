"""What both faces know of streams: the parts of the messages, and the calls about one end."""

from __future__ import annotations

import base64
from collections.abc import Generator
from typing import Any, Callable, Generic, Literal, Optional, Protocol, TypeVar

from . import wire
from .errors import STREAM_CLOSED, STREAM_INVALID, BridgeError
from .incoming import ProvidedCall


class Begun(Protocol):
    """A call that was begun. Its face waits for it."""

    @property
    def done(self) -> bool:
        """Whether it has ended."""


Pending = TypeVar("Pending", bound=Begun)

T = TypeVar("T")

Steps = Generator[Pending, Any, T]
"""What is done with an end, between the waiting: yields a call, and goes on with its result or its error. A face waits
for each."""

Begin = Callable[[str, dict[str, Any], Optional[ProvidedCall]], Pending]
"""Begins a call of a daemon's task: the task, its options, and the call that this end works on and does it for."""


class End(Generic[Pending]):
    """One end of a stream, and the calls of the daemon's tasks about it."""

    def __init__(self, begin: Begin[Pending], name: str, call: Optional[ProvidedCall]) -> None:
        self.name = name
        self._begin = begin
        # The end is taken for this call, with its first use.
        self._call = call

    def _begin_call(self, task: str, **more: Any) -> Pending:
        call, self._call = self._call, None
        return self._begin(task, {wire.STREAM: self.name, **more}, call)

    def read(self) -> Pending:
        """Asks for the next bytes."""
        return self._begin_call(wire.STREAM_READ)

    def write(self, data: memoryview) -> Pending:
        """Sends bytes."""
        return self._begin_call(wire.STREAM_WRITE, **{wire.BASE64: base64.b64encode(data).decode("ascii")})

    def complete(self, count: int) -> Pending:
        """The writer has written so many bytes, and that was all."""
        return self._begin_call(wire.STREAM_CLOSE, **{wire.BYTES: count})

    def leave(self, error: Optional[BaseException] = None) -> Pending:
        """Ends the stream before it is complete; the other side gets the reason, where there is one."""
        return self._begin_call(wire.STREAM_CLOSE, **_reason(error))


def making(side: Literal["write", "read"], type: Optional[str], total_bytes: Optional[int]) -> dict[str, Any]:
    """The options of a call that makes a stream."""
    options: dict[str, Any] = {wire.SIDE: side}
    if type is not None:
        options[wire.TYPE] = type
    if total_bytes is not None:
        options[wire.BYTES] = total_bytes
    return options


def chunk(answer: dict[str, Any], count: int) -> Optional[bytes]:
    """The bytes of an answer to a read; None: the stream is complete.

    Args:
        count: how many bytes have come before.

    Raises:
        BridgeError: `stream.invalid`, where other bytes than the writer's have come.
    """
    if answer.get(wire.END) is not True:
        return base64.b64decode(answer[wire.BASE64])
    if answer[wire.BYTES] != count:
        raise BridgeError(STREAM_INVALID, f"{count} of the {answer[wire.BYTES]} bytes of the stream came")
    return None


def _reason(error: Optional[BaseException]) -> dict[str, Any]:
    if error is None:
        return {}
    if isinstance(error, BridgeError):
        return {wire.ERROR: {"code": error.code, "message": error.message}}
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")[:1024]
    return {wire.ERROR: {"code": "internal", "message": text}}


def check_receipt(receipt: dict[str, Any]) -> None:
    """Raises the error of a stream that its reader does not have whole."""
    if receipt["complete"] is True:
        return
    error = receipt.get(wire.ERROR)
    text = f"the {receipt['by']} ended the stream after {receipt[wire.BYTES]} bytes, before it was complete"
    raise BridgeError(
        STREAM_CLOSED, f"{text}: {error['message']}" if error else text,
        {"by": receipt["by"], "bytes": receipt[wire.BYTES], "error": error},
        transient=bool(error and error.get("transient")))
