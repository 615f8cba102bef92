"""The writer's end of a stream, without the waiting: how much may be sent, what an answer means, when it is over."""

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
"""What goes into one message at most: its line stays below 32 KiB, which the daemon handles in one piece."""

_ENVELOPE_BYTES = 256
"""More than what stands around a piece in its message."""

MAX_UNANSWERED = 32
"""How many writes may be unanswered: half of what the daemon allows."""

SHORT_BYTES = 64 << 10
"""A stream that is known to be shorter goes in messages: a pipe would cost more than it saves."""


def is_worth_pipe(known_bytes: Optional[int]) -> bool:
    """Whether a pipe can be written here, and is worth it for so many bytes; None: their number is not known."""
    return may_write_pipes() and (known_bytes is None or known_bytes >= SHORT_BYTES)


MessageBytes = Callable[[], int]
"""Returns the longest message that the daemon takes."""


def piece_bytes(message_bytes: int) -> int:
    """How many bytes one message carries at most, where a message may have so many.

    Args:
        message_bytes: 1 KiB or more.
    """
    return max(1, min(PIECE_BYTES, (message_bytes - _ENVELOPE_BYTES) // 4 * 3))


class Room:
    """How much a writer may send, in the order of its writes and of their answers."""

    def __init__(self, room_bytes: int, message_bytes: MessageBytes) -> None:
        """
        Args:
            room_bytes: what the stream's maker got; 0: not known, the first answer says it.
        """
        self.room_bytes = room_bytes
        self._message_bytes = message_bytes
        self.unanswered = 0
        self._unanswered_bytes = 0

    def size(self, wanted: int) -> int:
        """How many of so many bytes may be sent now; 0: an answer has to come first."""
        wanted = min(wanted, piece_bytes(self._message_bytes()))
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


class Writing(Generic[Pending]):
    """Writes one stream: to a pipe, where the daemon passes one, else in messages."""

    def __init__(
        self, begin: Begin[Pending], name: str, call: Optional[ProvidedCall], known_bytes: Optional[int],
        message_bytes: MessageBytes, made: Optional[MadeStream],
    ) -> None:
        """
        Args:
            known_bytes: how many bytes there will be; None: that is not known.
            made: the stream, where it was made here.
        """
        self._end = End(begin, name, "write", call)
        self._attaching: Optional[Pending] = None
        self._pipe: Optional[PipeWriting[Pending]] = None
        self._uses_messages = not is_worth_pipe(known_bytes)
        # 0: how much may be sent is not known.
        self._room = Room(made.room if made else 0, message_bytes)
        self._unanswered: deque[tuple[Pending, int]] = deque()
        self._count = 0
        self._is_over = False
        if made is not None and made.is_attached:
            pipe, leaving = self._end.with_pipe(made.pipe, lambda: self._end.write(memoryview(b"")))
            self._pipe = PipeWriting(self._end, pipe, leaving)

    def write(self, data: Bytes) -> Steps[Pending, int]:
        """Sends all of it, as the answers leave room. Ends with the number of bytes."""
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
        """The daemon ends a stream where it refuses a call. A call that was not sent to it ends the stream here."""
        if error.started is not False:
            return
        try:
            self._end.leave(error)
        except BridgeError:
            pass  # it cannot be sent either; the stream ends with the session

    def _attach(self) -> Steps[Pending, None]:
        if self._uses_messages or self._pipe is not None:
            return
        if self._attaching is None:
            self._attaching = self._end.attach()
            # At once what is needed with a pipe and without: its answer says that the reader has left, or has the room.
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
        """The stream is complete. Ends when the reader has every byte; again, it does nothing."""
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
        """Ends the stream before it is complete; the reader gets the error. Where it is over, it does nothing."""
        if self._is_over:
            return
        self._is_over = True
        if self._pipe is not None:
            self._pipe.leave()
        self._end.leave(error or BridgeError(CALL_CANCELLED, "the writer ended the stream"))
