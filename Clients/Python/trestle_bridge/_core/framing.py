"""Splits bytes into lines. A message ends with LF and may arrive in several chunks."""

from __future__ import annotations

from typing import Iterator


class LineTooLong(Exception):
    """The peer sent a line that is too long. No further bytes are read from it."""


class LineSplitter:
    """Splits a stream of bytes into lines.

    Chunks are joined once, when their line is complete, so that the cost is linear in the length of the line. In UTF-8,
    LF is never a part of a multi-byte character.
    """

    def __init__(self, longest_bytes: int) -> None:
        self._longest_bytes = longest_bytes
        self._pieces: list[bytes] = []
        self._pending_bytes = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yields the lines that this chunk completes, without their line ends. Omits empty lines.

        Raises:
            LineTooLong: a line has more bytes than permitted.
        """
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            line = data[start:end]
            self._check(len(line))
            if self._pieces:
                self._pieces.append(line)
                line = b"".join(self._pieces)
                self._pieces.clear()
                self._pending_bytes = 0
            start = end + 1
            if line.strip():
                yield line
        if start < len(data):
            self._check(len(data) - start)
            self._pieces.append(data[start:])
            self._pending_bytes += len(data) - start

    def _check(self, more_bytes: int) -> None:
        if self._pending_bytes + more_bytes > self._longest_bytes:
            raise LineTooLong(f"a line of more than {self._longest_bytes} bytes")
