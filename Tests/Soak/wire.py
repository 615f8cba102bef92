"""The bytes of a connection, as lines."""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import Callable, Optional

from promises import LIMIT_SECONDS

RECEIVE_BYTES = 256 * 1024


class Wire:
    """A connection, non-blocking in both directions.

    It continues to read if it cannot write any more: the bytes that the daemon wrote before it closed still count, and
    the transports of asyncio discard them.
    """

    def __init__(self, path: str, on_line: Callable[[bytes], None], on_end: Callable[[bytes], None]) -> None:
        self._path = path
        self._on_line = on_line
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._socket: Optional[socket.socket] = None
        self._unsent = bytearray()
        self._unfinished = bytearray()
        self._reads = False
        self._half_closes = False
        self.can_write = False

    async def connect(self) -> None:
        """Connects; raises OSError if no daemon listens."""
        connection = socket.socket(socket.AF_UNIX)
        connection.setblocking(False)
        try:
            try:
                connection.connect(self._path)
            except BlockingIOError:
                await asyncio.to_thread(self._wait_for_room, connection)
        except OSError:
            connection.close()
            raise
        self._socket = connection
        self.can_write = True
        self.resume()

    def _wait_for_room(self, connection: socket.socket) -> None:
        """Connects to a socket whose queue is full. Only the kernel can wait for room there, so this runs on a
        thread."""
        connection.setblocking(True)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(LIMIT_SECONDS), 0))
        connection.connect(self._path)
        connection.setblocking(False)

    def pause(self) -> None:
        """Stops reading."""
        if self._reads and self._socket is not None:
            self._loop.remove_reader(self._socket)
            self._reads = False

    def resume(self) -> None:
        if not self._reads and self._socket is not None:
            self._loop.add_reader(self._socket, self._read)
            self._reads = True

    def send(self, data: bytes) -> None:
        if not self.can_write or self._socket is None:
            return
        if self._unsent:
            self._unsent += data
            return
        try:
            sent = self._socket.send(data)
        except BlockingIOError:
            sent = 0
        except OSError:
            return self._stop_writing()
        if sent < len(data):
            self._unsent += data[sent:]
            self._loop.add_writer(self._socket, self._write)

    def half_close(self) -> None:
        """Shuts down the writing side once everything is written."""
        if self._unsent:
            self._half_closes = True
        elif self.can_write and self._socket is not None:
            self.can_write = False
            try:
                self._socket.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # The daemon was faster.

    def close(self) -> None:
        """Closes the connection with calls in flight, without a message."""
        if self._socket is None:
            return
        self.pause()
        self._stop_writing()
        self._socket.close()
        self._socket = None

    def _stop_writing(self) -> None:
        self.can_write = False
        if self._unsent and self._socket is not None:
            self._loop.remove_writer(self._socket)
            self._unsent.clear()

    def _write(self) -> None:
        assert self._socket is not None
        try:
            sent = self._socket.send(memoryview(self._unsent)[:RECEIVE_BYTES].tobytes())
        except BlockingIOError:
            return
        except OSError:
            return self._stop_writing()
        del self._unsent[:sent]
        if not self._unsent:
            self._loop.remove_writer(self._socket)
            if self._half_closes:
                self.half_close()

    def _read(self) -> None:
        assert self._socket is not None
        try:
            data = self._socket.recv(RECEIVE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.close()
            return self._on_end(bytes(self._unfinished))
        *lines, rest = data.split(b"\n")
        for line in lines:
            if self._unfinished:
                line = bytes(self._unfinished) + line
                self._unfinished.clear()
            self._on_line(line)
        self._unfinished += rest
