"""The queue of messages to write. It records for each message whether the daemon may have read a part of it."""

from __future__ import annotations

from collections import deque
from itertools import islice


class Chunk:
    """One outgoing line."""

    __slots__ = ("data", "sent_bytes")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.sent_bytes = 0

    @property
    def has_begun(self) -> bool:
        """Whether a part of the line was written."""
        return self.sent_bytes > 0


class OutputQueue:
    """The lines to write, in order.

    Invariant: `queued_bytes` is the number of unsent bytes of all chunks in the queue. Only the first chunk may be
    partly sent.
    """

    # The maximum number of buffers for one system call.
    _MAX_BUFFERS = 64

    def __init__(self) -> None:
        self._chunks: deque[Chunk] = deque()
        self.queued_bytes = 0

    def append(self, data: bytes) -> Chunk:
        """Queues a line, including its line end."""
        chunk = Chunk(data)
        self._chunks.append(chunk)
        self.queued_bytes += len(data)
        return chunk

    def take_back(self, chunk: Chunk) -> bool:
        """Removes an unwritten line from the queue. Returns False if a part was written, or if it is not in the
        queue."""
        if chunk.sent_bytes or not chunk.data:
            return False
        self.queued_bytes -= len(chunk.data)
        chunk.data = b""
        return True

    def buffers(self) -> list[memoryview]:
        """Returns the buffers to write next."""
        while self._chunks and not self._chunks[0].data:
            self._chunks.popleft()
        first = islice(self._chunks, self._MAX_BUFFERS)
        return [memoryview(chunk.data)[chunk.sent_bytes:] for chunk in first]

    def advance(self, written_bytes: int) -> None:
        """Records that `written_bytes` bytes have been written."""
        self.queued_bytes -= written_bytes
        while written_bytes:
            chunk = self._chunks[0]
            step = min(written_bytes, len(chunk.data) - chunk.sent_bytes)
            chunk.sent_bytes += step
            written_bytes -= step
            if chunk.sent_bytes == len(chunk.data):
                self._chunks.popleft()

    def clear(self) -> None:
        """Removes all lines, because the connection has ended."""
        for chunk in self._chunks:
            if not chunk.sent_bytes:
                # Prevents that take_back subtracts it from the queue of the next connection.
                chunk.data = b""
        self._chunks.clear()
        self.queued_bytes = 0
