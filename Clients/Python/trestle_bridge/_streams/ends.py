"""Streams of bytes, for threads: a reader that is a file, and a writer."""

from __future__ import annotations

import io
from collections import deque
from types import TracebackType
from typing import Any, Optional, Protocol

from .._core.errors import CALL_CANCELLED, BridgeError
from .._core.incoming import ProvidedCall
from .._core.streaming import Begin, Bytes, End, Room, check_receipt, chunk


class Started(Protocol):
    """A call that was begun."""

    @property
    def done(self) -> bool:
        """Whether it has ended."""

    def result(self) -> Any:
        """Waits for its result."""


class ByteReader(io.RawIOBase):
    """The reader's end of a stream: a binary file that is read once, and an iterator over its chunks. For one thread.

    It ends only where every byte has come; otherwise reading raises. Closing it before that ends the stream for its
    writer.

    Attributes:
        name: the stream's name.
    """

    __module__ = "trestle_bridge"

    def __init__(self, begin: Begin[Started], name: str, call: Optional[ProvidedCall] = None) -> None:
        super().__init__()
        self.name = name
        self._end = End(begin, name, call)
        # The next chunk is asked for while this one is used.
        self._pending: Optional[Started] = None
        self._rest = memoryview(b"")
        self._count = 0
        self._is_over = False
        # The end is taken now: later the call may have ended, which ends a plugin's first read with it.
        self._is_first = call is not None
        if self._is_first:
            self._pending = self._end.read()

    def readable(self) -> bool:
        """It is."""
        return True

    def _next_chunk(self) -> Optional[bytes]:
        """Waits for the next bytes; None: that was all."""
        if self._is_over:
            return None
        pending = self._pending or self._end.read()
        self._pending = None
        is_first, self._is_first = self._is_first, False
        try:
            data = chunk(pending.result(), self._count)
        except BridgeError as error:
            if is_first and error.code == CALL_CANCELLED:
                return self._next_chunk()
            self._is_over = True
            raise
        if data is None:
            self._is_over = True
            return None
        self._count += len(data)
        self._pending = self._end.read()
        return data

    def readinto(self, buffer: Any) -> int:
        """Waits for bytes, and puts as many into the buffer as there are and fit. 0: that was all.

        Raises:
            BridgeError: `stream.closed`: the stream ended before it was complete.
        """
        self._check_open()
        if not self._rest:
            self._rest = memoryview(self._next_chunk() or b"")
        target = memoryview(buffer).cast("B")
        count = min(len(target), len(self._rest))
        target[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count

    def __next__(self) -> bytes:
        """The next chunk, of any size above 0."""
        self._check_open()
        if self._rest:
            rest, self._rest = bytes(self._rest), memoryview(b"")
            return rest
        data = self._next_chunk()
        if data is None:
            raise StopIteration
        return data

    def _check_open(self) -> None:
        if self.closed:
            raise ValueError("the stream is closed here")

    def close(self) -> None:
        """Ends the stream, where it is not over. Does not wait."""
        if self.closed:
            return
        super().close()
        if not self._is_over:
            self._is_over = True
            self._end.leave()


class ByteWriter:
    """The writer's end of a stream. For one thread. Leaving it as a context manager closes it; an exception ends the
    stream with an error.

    Attributes:
        name: the stream's name, for options or a result.
    """

    __module__ = "trestle_bridge"

    def __init__(self, begin: Begin[Started], name: str, room: int = 0, call: Optional[ProvidedCall] = None) -> None:
        self.name = name
        self._end = End(begin, name, call)
        self._room = Room(room)
        self._unanswered: deque[tuple[Started, int]] = deque()
        self._count = 0
        self._is_over = False

    def write(self, data: Bytes) -> int:
        """Writes all of it. Waits while the reader is behind.

        Returns:
            How many bytes that were.

        Raises:
            BridgeError: `stream.closed`: the reader is gone, or wants no more; or another end of the stream.
            ValueError: the stream was closed here.
        """
        if self._is_over:
            raise ValueError("the stream is closed here")
        view = memoryview(data).cast("B")
        try:
            if self._room.room_bytes == 0:
                self._send(view[:0])
                self._take_answer()
            position = 0
            while position < len(view):
                size = self._room.size(len(view) - position)
                if size == 0:
                    self._take_answer()
                    continue
                self._send(view[position:position + size])
                position += size
            while self._unanswered and self._unanswered[0][0].done:
                self._take_answer()
        except BridgeError:
            self._is_over = True
            raise
        return len(view)

    def _send(self, data: memoryview) -> None:
        self._unanswered.append((self._end.write(data), len(data)))
        self._room.sent(len(data))
        self._count += len(data)

    def _take_answer(self) -> None:
        pending, size = self._unanswered.popleft()
        self._room.answered(size, pending.result())

    def close(self) -> None:
        """The stream is complete. Waits until the reader has every byte. Closing again does nothing.

        Raises:
            BridgeError: `stream.closed`: the reader does not have every byte.
        """
        if self._is_over:
            return
        self._is_over = True
        receipt = self._end.complete(self._count).result()
        check_receipt(receipt)

    def abort(self, error: Optional[BaseException] = None) -> None:
        """Ends the stream before it is complete. Does not wait.

        Args:
            error: what the reader gets as the reason.
        """
        if self._is_over:
            return
        self._is_over = True
        reason = error or BridgeError("call.cancelled", "the writer ended the stream")
        self._end.leave(reason)

    def __enter__(self) -> ByteWriter:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if error is not None:
            self.abort(error)
        else:
            self.close()
