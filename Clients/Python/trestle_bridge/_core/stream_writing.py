"""The writer's end of a stream, without the waiting: its flow control, the answers to its writes, and its end."""

from __future__ import annotations

from collections import deque
from typing import Any, Callable, Generic, Optional

from . import wire
from .errors import CALL_CANCELLED, BridgeError
from .incoming import ProvidedCall
from .pipe_writing import PipeWriting
from .pipes import may_write_pipes
from .stream_values import Bytes
from .streaming import Begin, End, MadeStream, Pending, Steps, check_receipt

PIECE_BYTES = 24_000
"""The maximum number of bytes in one message. Its line stays below 32 KiB, which the daemon handles as a unit."""

_ENVELOPE_BYTES = 256
"""An upper bound for the rest of the message around the bytes."""

MAX_UNANSWERED = 32
"""The maximum number of unanswered writes: half of the daemon's limit."""

SHORT_BYTES = 64 << 10
"""The number of bytes below which a stream uses messages: a pipe would cost more than it saves."""


def is_worth_pipe(known_bytes: Optional[int]) -> bool:
    """Whether this process can write pipes, and a pipe is useful for `known_bytes` bytes; None if unknown."""
    return may_write_pipes() and (known_bytes is None or known_bytes >= SHORT_BYTES)


MessageBytes = Callable[[], int]
"""Returns the maximum length of a message to the daemon."""


def piece_bytes(message_bytes: int) -> int:
    """Returns the maximum number of stream bytes in one message.

    Args:
        message_bytes: the maximum length of a message, at least 1 KiB.
    """
    return max(1, min(PIECE_BYTES, (message_bytes - _ENVELOPE_BYTES) // 4 * 3))


class Room:
    """The number of bytes that a writer may send. Answers arrive in the order of the writes."""

    def __init__(self, room_bytes: int, message_bytes: MessageBytes) -> None:
        """
        Args:
            room_bytes: the room that the maker of the stream got; 0 if unknown: the first answer contains it.
        """
        self.room_bytes = room_bytes
        self._message_bytes = message_bytes
        self.unanswered = 0
        self._unanswered_bytes = 0

    def size(self, wanted: int) -> int:
        """Returns how many of `wanted` bytes may be sent now; 0 if an answer must arrive first."""
        wanted = min(wanted, piece_bytes(self._message_bytes()))
        room = self.room_bytes - self._unanswered_bytes
        if self.unanswered < MAX_UNANSWERED and room >= wanted:
            return wanted
        return room if self.unanswered == 0 else 0

    def sent(self, count: int) -> None:
        """Records that a write of `count` bytes was sent."""
        self.unanswered += 1
        self._unanswered_bytes += count

    def answered(self, count: int, answer: dict[str, Any]) -> None:
        """Records that the oldest write, of `count` bytes, was answered."""
        self.unanswered -= 1
        self._unanswered_bytes -= count
        self.room_bytes = answer[wire.ROOM]


class Writing(Generic[Pending]):
    """Writes one stream: to a pipe if the daemon passes one, else in messages."""

    def __init__(
        self, begin: Begin[Pending], name: str, call: Optional[ProvidedCall], known_bytes: Optional[int],
        message_bytes: MessageBytes, made: Optional[MadeStream],
    ) -> None:
        """
        Args:
            known_bytes: the total number of bytes; None if it is unknown.
            made: the stream, if this process made it.
        """
        self._end = End(begin, name, "write", call)
        self._attaching: Optional[Pending] = None
        self._pipe: Optional[PipeWriting[Pending]] = None
        self._uses_messages = not is_worth_pipe(known_bytes)
        # 0: the room is unknown.
        self._room = Room(made.room if made else 0, message_bytes)
        self._unanswered: deque[tuple[Pending, int]] = deque()
        self._count = 0
        self._is_over = False
        if made is not None and made.is_attached:
            pipe, leaving = self._end.with_pipe(made.pipe, lambda: self._end.write(memoryview(b"")))
            self._pipe = PipeWriting(self._end, pipe, leaving)

    def write(self, data: Bytes) -> Steps[Pending, int]:
        """Sends all data, as the answers grant room. Returns the number of bytes."""
        if self._is_over:
            raise ValueError("the stream is closed here")
        view = memoryview(data).cast("B")
        try:
            yield from self._attach()
            yield from (self._pipe.write(view) if self._pipe else self._send_all(view))
        except BridgeError as error:
            self._is_over = True
            self._fail(error)
            raise
        return len(view)

    def _fail(self, error: BridgeError) -> None:
        """Ends the stream after a call that was not sent to the daemon. If the daemon refuses a call, it ends the
        stream itself."""
        if error.started is not False:
            return
        try:
            self._end.leave(error)
        except BridgeError:
            pass  # this cannot be sent either; the stream ends with the session

    def _attach(self) -> Steps[Pending, None]:
        if self._uses_messages or self._pipe is not None:
            return
        if self._attaching is None:
            self._attaching = self._end.attach()
            # Sends an empty write now, which is needed in both cases: with a pipe it is answered when the reader has
            # closed its end, without a pipe its answer contains the room.
            self._send(memoryview(b""))
        pipe = yield from self._end.attached(self._attaching)
        if pipe is None:
            self._uses_messages = True
            return
        self._pipe = PipeWriting(self._end, pipe, self._unanswered.popleft()[0])
        if self._is_over:
            self._pipe.leave()

    def _send_all(self, view: memoryview) -> Steps[Pending, None]:
        if self._room.room_bytes == 0:
            if not self._unanswered:
                self._send(view[:0])
            yield from self._take_answer()
        position = 0
        while position < len(view):
            if (size := self._room.size(len(view) - position)) == 0:
                yield from self._take_answer()
                continue
            self._send(view[position:position + size])
            position += size
        while self._unanswered and self._unanswered[0][0].done:
            yield from self._take_answer()

    def _send(self, data: memoryview) -> None:
        self._unanswered.append((self._end.write(data), len(data)))
        self._room.sent(len(data))
        self._count += len(data)

    def _take_answer(self) -> Steps[Pending, None]:
        pending, size = self._unanswered[0]
        answer = yield pending
        self._unanswered.popleft()
        self._room.answered(size, answer)

    def close(self) -> Steps[Pending, None]:
        """Completes the stream. Ends when the reader has every byte. A repeated call does nothing."""
        if self._is_over:
            return
        self._is_over = True
        try:
            if self._pipe is not None:
                return (yield from self._pipe.close())
            receipt = yield self._end.complete(self._count)
        except BridgeError as error:
            self._fail(error)
            raise
        check_receipt(receipt)

    def abort(self, error: Optional[BaseException]) -> None:
        """Ends the stream before it is complete. The reader gets the error. Does nothing if the stream has ended."""
        if self._is_over:
            return
        self._is_over = True
        if self._pipe is not None:
            self._pipe.leave()
        self._end.leave(error or BridgeError(CALL_CANCELLED, "the writer ended the stream"))
