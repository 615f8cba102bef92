"""Bytes to lines: a message ends with LF, whatever the size of the pieces in which it comes."""

from __future__ import annotations

from typing import Iterator


class LineTooLong(Exception):
    """The peer sent a line beyond the bound: it is no daemon, and its bytes are no longer read."""


class LineSplitter:
    """Cuts a stream of bytes into lines.

    Pieces are joined once, when their line is complete, so that a long line costs no more than its length.
    Characters of several bytes are not looked into: LF never is a part of one in UTF-8.
    """

    def __init__(self, longest_bytes: int) -> None:
        self._longest_bytes = longest_bytes
        self._pieces: list[bytes] = []
        self._pending_bytes = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The lines that are complete with this piece, without their line ends, but for empty ones.

        Raises:
            LineTooLong: the line at the end has more bytes than allowed.
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
