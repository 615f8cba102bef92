"""Streams of bytes, for threads: a reader that is a file, and a writer."""

from __future__ import annotations

import io
from types import TracebackType
from typing import Any, Optional

from .._core.incoming import ProvidedCall
from .._core.stream_reading import Reading
from .._core.stream_values import Bytes
from .._core.stream_writing import MessageBytes, Writing
from .._core.streaming import Begin, MadeStream
from .waiting import Started, wait


class ByteReader(io.RawIOBase):
    """The reader's end of a stream: a binary file that is read once, and an iterator over its chunks. For one thread.

    It ends only where every byte has come; otherwise reading raises. Closing it before that ends the stream for its
    writer.

    Attributes:
        name: the stream's name.
    """

    __module__ = "trestle_bridge"

    def __init__(
        self, begin: Begin[Started], name: str, call: Optional[ProvidedCall] = None, made: Optional[MadeStream] = None,
    ) -> None:
        super().__init__()
        self.name = name
        self._reading = Reading(begin, name, call, made)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Waits for bytes, and puts as many into the buffer as there are and fit. 0: that was all.

        Raises:
            BridgeError: `stream.closed`: the stream ended before it was complete.
        """
        self._check_open()
        if not self._rest:
            self._rest = memoryview(wait(self._reading.next_chunk()) or b"")
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
        data = wait(self._reading.next_chunk())
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
        self._reading.leave()


class ByteWriter:
    """The writer's end of a stream. For one thread. Leaving it as a context manager closes it; an exception ends the
    stream with an error.

    Attributes:
        name: the stream's name, for options or a result.
    """

    __module__ = "trestle_bridge"

    def __init__(
        self, begin: Begin[Started], message_bytes: MessageBytes, name: str, call: Optional[ProvidedCall] = None,
        known_bytes: Optional[int] = None, made: Optional[MadeStream] = None,
    ) -> None:
        self.name = name
        self._writing = Writing(begin, name, call, known_bytes, message_bytes, made)

    def write(self, data: Bytes) -> int:
        """Writes all of it. Waits while the reader is behind.

        Returns:
            How many bytes that were.

        Raises:
            BridgeError: `stream.closed`: the reader is gone, or wants no more; or another end of the stream.
            ValueError: the stream was closed here.
        """
        return wait(self._writing.write(data))

    def close(self) -> None:
        """The stream is complete. Waits until the reader has every byte. Closing again does nothing.

        Raises:
            BridgeError: `stream.closed`: the reader does not have every byte.
        """
        wait(self._writing.close())

    def abort(self, error: Optional[BaseException] = None) -> None:
        """Ends the stream before it is complete. Does not wait. Any thread.

        Args:
            error: what the reader gets as the reason.
        """
        self._writing.abort(error)

    def __enter__(self) -> ByteWriter:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if error is not None:
            self.abort(error)
        else:
            self.close()
