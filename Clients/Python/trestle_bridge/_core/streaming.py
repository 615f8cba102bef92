"""What both faces know of streams: the messages' parts, and how much a writer may send."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, Callable, Generic, Literal, Optional, TypeVar, Union, cast

from . import wire
from .errors import STREAM_CLOSED, STREAM_INVALID, BridgeError
from .incoming import ProvidedCall

Pending = TypeVar("Pending")

Begin = Callable[[str, dict[str, Any], Optional[ProvidedCall]], Pending]
"""Begins a call of a daemon's task: the task, its options, and the call that this end works on and does it for."""

Bytes = Union[bytes, bytearray, memoryview]
"""What is written to a stream."""

Source = Union[Bytes, BinaryIO, Iterable[Bytes]]
"""What is written to a stream in one go: bytes, a binary file, or what yields bytes."""

PIECE_BYTES = 24_000
"""What goes into one message: its line stays below 32 KiB, which the daemon handles in one piece."""

MAX_UNANSWERED = 32
"""How many writes may be unanswered: half of what the daemon allows."""


class Room:
    """How much a writer may send, in the order of its writes and of their answers."""

    def __init__(self, room_bytes: int) -> None:
        """
        Args:
            room_bytes: what the stream's maker got; 0: not known, the first answer says it.
        """
        self.room_bytes = room_bytes
        self.unanswered = 0
        self._unanswered_bytes = 0

    def size(self, wanted: int) -> int:
        """How many of so many bytes may be sent now; 0: an answer has to come first."""
        wanted = min(wanted, PIECE_BYTES)
        room = self.room_bytes - self._unanswered_bytes
        if self.unanswered < MAX_UNANSWERED and room >= wanted:
            return wanted
        return room if self.unanswered == 0 else 0

    def sent(self, count: int) -> None:
        """So many bytes were sent in a write."""
        self.unanswered += 1
        self._unanswered_bytes += count

    def answered(self, count: int, answer: dict[str, Any]) -> None:
        """The oldest write, of so many bytes, was answered."""
        self.unanswered -= 1
        self._unanswered_bytes -= count
        self.room_bytes = answer[wire.ROOM]


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


def making(side: Literal["write", "read"], type: Optional[str], size: Optional[int]) -> dict[str, Any]:
    """The options of a call that makes a stream."""
    options: dict[str, Any] = {wire.SIDE: side}
    if type is not None:
        options[wire.TYPE] = type
    if size is not None:
        options[wire.BYTES] = size
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


_FILE_CHUNK_BYTES = 256 << 10


def chunks(source: Source) -> Iterator[Bytes]:
    """The bytes of a source, part by part."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        yield source
    elif hasattr(source, "read"):
        while data := cast(BinaryIO, source).read(_FILE_CHUNK_BYTES):
            yield data
    else:
        yield from source
