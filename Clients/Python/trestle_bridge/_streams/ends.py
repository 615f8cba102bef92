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
    """The reader's end of a stream: a binary file that can be read once, and an iterator over its chunks. For one
    thread.

    The file ends only if every byte has arrived; otherwise reading raises. Closing the reader earlier ends the stream
    for its writer.

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
        """Returns True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Waits for bytes, and copies as many into the buffer as are available and fit. Returns their number; 0 at the
        end.

        Raises:
            BridgeError: for example `stream.closed` if the stream ended before it was complete.
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
        """Returns the next chunk, of any size above 0."""
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
        """Ends the stream. Does nothing if it has ended. Does not wait."""
        if self.closed:
            return
        super().close()
        self._reading.leave()


class ByteWriter:
    """The writer's end of a stream. For one thread. A context manager: leaving it closes it. If an exception leaves it,
    the stream ends with an error.

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
        """Writes all data. Waits while the reader is slower.

        Returns:
            The number of bytes.

        Raises:
            BridgeError: `stream.closed` if the reader has closed the stream or disconnected, or another error of the
                stream.
            ValueError: this process has closed the stream.
        """
        return wait(self._writing.write(data))

    def close(self) -> None:
        """Completes the stream. Waits until the reader has every byte. Closing again does nothing.

        Raises:
            BridgeError: `stream.closed` if the reader has not received every byte.
        """
        wait(self._writing.close())

    def abort(self, error: Optional[BaseException] = None) -> None:
        """Ends the stream before it is complete. Does not wait. Any thread.

        Args:
            error: the reason for the reader.
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
