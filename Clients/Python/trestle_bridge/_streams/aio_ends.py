"""Streams of bytes, for asyncio."""

from __future__ import annotations

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

    async def result(self) -> Any:
        """Waits for its result."""


class ByteReader:
    """The reader's end of a stream: an asynchronous iterator over its chunks. It ends only where every byte has come;
    otherwise it raises. Closing it before that ends the stream for its writer: `async with` does.

    Attributes:
        name: the stream's name.
    """

    __module__ = "trestle_bridge.aio"

    def __init__(self, begin: Begin[Started], name: str, call: Optional[ProvidedCall] = None) -> None:
        self.name = name
        self._end = End(begin, name, call)
        # The next chunk is asked for while this one is used.
        self._pending: Optional[Started] = None
        self._count = 0
        self._is_over = False
        # The end is taken now: later the call may have ended, which ends a plugin's first read with it.
        self._is_first = call is not None
        if self._is_first:
            self._pending = self._end.read()

    def __aiter__(self) -> ByteReader:
        return self

    async def __anext__(self) -> bytes:
        """The next chunk, of any size above 0.

        Raises:
            BridgeError: `stream.closed`: the stream ended before it was complete.
        """
        if self._is_over:
            raise StopAsyncIteration
        if self._pending is None:
            self._pending = self._end.read()
        pending, self._pending = self._pending, None
        is_first, self._is_first = self._is_first, False
        try:
            data = chunk(await pending.result(), self._count)
        except BridgeError as error:
            if is_first and error.code == CALL_CANCELLED:
                return await self.__anext__()
            self._is_over = True
            raise
        if data is None:
            self._is_over = True
            raise StopAsyncIteration
        self._count += len(data)
        self._pending = self._end.read()
        return data

    async def read(self) -> bytes:
        """All that has not been read."""
        return b"".join([data async for data in self])

    def close(self) -> None:
        """Ends the stream, where it is not over. Does not wait."""
        if not self._is_over:
            self._is_over = True
            self._end.leave()

    async def __aenter__(self) -> ByteReader:
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.close()


class ByteWriter:
    """The writer's end of a stream. Leaving `async with` closes it; an exception ends the stream with an error.

    Attributes:
        name: the stream's name, for options or a result.
    """

    __module__ = "trestle_bridge.aio"

    def __init__(self, begin: Begin[Started], name: str, room: int = 0, call: Optional[ProvidedCall] = None) -> None:
        self.name = name
        self._end = End(begin, name, call)
        self._room = Room(room)
        self._unanswered: deque[tuple[Started, int]] = deque()
        self._count = 0
        self._is_over = False

    async def write(self, data: Bytes) -> None:
        """Writes all of it. Waits while the reader is behind. Where the waiting task is cancelled, a part of it may
        have been written: the stream then has to be aborted.

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
                await self._take_answer()
            position = 0
            while position < len(view):
                size = self._room.size(len(view) - position)
                if size == 0:
                    await self._take_answer()
                    continue
                self._send(view[position:position + size])
                position += size
            while self._unanswered and self._unanswered[0][0].done:
                await self._take_answer()
        except BridgeError:
            self._is_over = True
            raise

    def _send(self, data: memoryview) -> None:
        self._unanswered.append((self._end.write(data), len(data)))
        self._room.sent(len(data))
        self._count += len(data)

    async def _take_answer(self) -> None:
        pending, size = self._unanswered[0]
        answer = await pending.result()
        self._unanswered.popleft()
        self._room.answered(size, answer)

    async def close(self) -> None:
        """The stream is complete. Waits until the reader has every byte. Closing again does nothing.

        Raises:
            BridgeError: `stream.closed`: the reader does not have every byte.
        """
        if self._is_over:
            return
        self._is_over = True
        receipt = await self._end.complete(self._count).result()
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

    async def __aenter__(self) -> ByteWriter:
        return self

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if error is not None:
            self.abort(error)
        else:
            await self.close()
