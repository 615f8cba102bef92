"""What has yet to be written, message by message, so that it is known which ones the daemon may have read."""

from __future__ import annotations

from collections import deque
from itertools import islice


class Chunk:
    """One line on its way out."""

    __slots__ = ("data", "sent_bytes")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.sent_bytes = 0

    @property
    def has_begun(self) -> bool:
        """Whether the daemon may have some of the message, and so may get all of it."""
        return self.sent_bytes > 0


class OutputQueue:
    """Lines in the order in which they leave.

    Invariant: `queued_bytes` is the sum of what has not been sent of all chunks in the queue. Only the first chunk
    may be partly sent.
    """

    # As many buffers as one system call takes at most.
    _MAX_BUFFERS = 64

    def __init__(self) -> None:
        self._chunks: deque[Chunk] = deque()
        self.queued_bytes = 0

    def append(self, data: bytes) -> Chunk:
        """Queues a line, which includes its line end."""
        chunk = Chunk(data)
        self._chunks.append(chunk)
        self.queued_bytes += len(data)
        return chunk

    def take_back(self, chunk: Chunk) -> bool:
        """Takes a line out again of which nothing has been written; False: too late, or it is in no queue
        now."""
        if chunk.sent_bytes or not chunk.data:
            return False
        self.queued_bytes -= len(chunk.data)
        chunk.data = b""
        return True

    def buffers(self) -> list[memoryview]:
        """What to write next."""
        while self._chunks and not self._chunks[0].data:
            self._chunks.popleft()
        first = islice(self._chunks, self._MAX_BUFFERS)
        return [memoryview(chunk.data)[chunk.sent_bytes:] for chunk in first]

    def advance(self, written_bytes: int) -> None:
        """So many bytes have been written."""
        self.queued_bytes -= written_bytes
        while written_bytes:
            chunk = self._chunks[0]
            step = min(written_bytes, len(chunk.data) - chunk.sent_bytes)
            chunk.sent_bytes += step
            written_bytes -= step
            if chunk.sent_bytes == len(chunk.data):
                self._chunks.popleft()

    def clear(self) -> None:
        """Forgets everything: the connection is gone."""
        for chunk in self._chunks:
            if not chunk.sent_bytes:
                # So that it cannot be taken back from the next connection's queue.
                chunk.data = b""
        self._chunks.clear()
        self.queued_bytes = 0
