"""Streams of bytes, for asyncio."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Optional

from .._core.incoming import ProvidedCall
from .._core.stream_reading import Reading
from .._core.stream_values import Bytes
from .._core.stream_writing import MessageBytes, Writing
from .._core.streaming import Begin, MadeStream
from .aio_waiting import Started, wait


class ByteReader:
    """The reader's end of a stream: an asynchronous iterator over its chunks. The iteration ends only if every byte has
    arrived; otherwise it raises. Closing the reader earlier ends the stream for its writer. Leaving `async with`, or
    dropping the object, closes it.

    Attributes:
        name: the stream's name.
    """

    __module__ = "trestle_bridge.aio"

    def __init__(
        self, begin: Begin[Started], name: str, call: Optional[ProvidedCall] = None, made: Optional[MadeStream] = None,
    ) -> None:
        self.name = name
        self._reading = Reading(begin, name, call, made)
        self._loop = asyncio.get_running_loop()

    def __aiter__(self) -> ByteReader:
        return self

    async def __anext__(self) -> bytes:
        """Returns the next chunk, of any size above 0.

        Raises:
            BridgeError: for example `stream.closed` if the stream ended before it was complete.
        """
        if (data := await wait(self._reading.next_chunk())) is None:
            raise StopAsyncIteration
        return data

    async def read(self) -> bytes:
        """Reads the rest of the stream."""
        return b"".join([data async for data in self])

    def close(self) -> None:
        """Ends the stream. Does nothing if it has ended. Does not wait."""
        self._reading.leave()

    def __del__(self) -> None:
        reading = getattr(self, "_reading", None)
        if reading is not None and not reading.is_over and not self._loop.is_closed():
            # Scheduled for later, because this may run on any thread at any time.
            self._loop.call_soon_threadsafe(reading.leave)

    async def __aenter__(self) -> ByteReader:
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.close()


class ByteWriter:
    """The writer's end of a stream. Leaving `async with` closes it. If an exception leaves it, the stream ends with an
    error.

    Attributes:
        name: the stream's name, for options or a result.
    """

    __module__ = "trestle_bridge.aio"

    def __init__(
        self, begin: Begin[Started], message_bytes: MessageBytes, name: str, call: Optional[ProvidedCall] = None,
        known_bytes: Optional[int] = None, made: Optional[MadeStream] = None,
    ) -> None:
        self.name = name
        self._writing = Writing(begin, name, call, known_bytes, message_bytes, made)

    async def write(self, data: Bytes) -> None:
        """Writes all data. Waits while the reader is slower. If the waiting task is cancelled, a part of the data may
        have been written; the stream must then be aborted.

        Raises:
            BridgeError: `stream.closed` if the reader has closed the stream or disconnected, or another error of the
                stream.
            ValueError: this process has closed the stream.
        """
        await wait(self._writing.write(data))

    async def close(self) -> None:
        """Completes the stream. Waits until the reader has every byte. Closing again does nothing.

        Raises:
            BridgeError: `stream.closed` if the reader has not received every byte.
        """
        await wait(self._writing.close())

    def abort(self, error: Optional[BaseException] = None) -> None:
        """Ends the stream before it is complete. Does not wait.

        Args:
            error: the reason for the reader.
        """
        self._writing.abort(error)

    async def __aenter__(self) -> ByteWriter:
        return self

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if error is not None:
            self.abort(error)
        else:
            await self.close()
