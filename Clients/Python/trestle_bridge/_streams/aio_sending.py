"""The streams in options or in a result, for asyncio. They are made, named, and written while the call with the names
runs."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, Optional

from .._core.incoming import ProvidedCall
from .._core.outgoing import Outgoing, result_of
from .._core.stream_values import AnySource, known_bytes
from .aio_ends import ByteWriter
from .aio_making import Streaming
from .aio_sources import start_closing, start_sending


class Sending:
    """The streams of one value. A context manager: if an exception leaves it, the streams end with this error."""

    def __init__(self, streaming: Streaming, outgoing: Outgoing) -> None:
        self._streaming = streaming
        self._outgoing = outgoing
        self._writers: list[ByteWriter] = []
        # The sources that are not being read yet, in the order of their writers.
        self._sources: list[AnySource] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._source_error: Optional[Exception] = None

    async def make(self, call: Optional[ProvidedCall] = None, timeout: Optional[float] = None) -> bytes:
        """Makes the streams, and returns the JSON of the value with their names.

        Args:
            call: the call whose result this is; None for options.
            timeout: the timeout for each stream, in seconds.

        Raises:
            BridgeError: a stream cannot be made, or a source was already used.
        """
        try:
            for stream in self._outgoing.streams:
                source = stream._take()
                self._sources.append(source)
                known = known_bytes(source, stream.total_bytes)
                writer = await self._streaming._make_writer(stream.type, stream.total_bytes, call, timeout, known)
                self._writers.append(writer)
        except BaseException as error:
            self.end(error)
            raise
        return self._outgoing.text([writer.name for writer in self._writers])

    def start(self) -> None:
        """Begins to write the streams. Called after their names were sent."""
        for writer in self._writers:
            self._tasks.append(start_sending(self._sources.pop(0), writer, self._note))

    def _note(self, error: Exception) -> None:
        self._source_error = error

    def end(self, error: Optional[BaseException]) -> None:
        """Ends the streams that are not complete, and closes the sources."""
        for writer in self._writers:
            writer.abort(error)
        for task in self._tasks:
            # Scheduled, so that the task has begun when it is cancelled, and closes its source.
            task.get_loop().call_soon(task.cancel)
        while self._sources:
            start_closing(self._sources.pop())

    def discard(self) -> None:
        """Closes the sources without making the streams."""
        self._sources = [stream._take() for stream in self._outgoing.streams]
        self.end(None)

    async def __aenter__(self) -> Sending:
        return self

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if error is None:
            return
        self.end(error)
        if self._source_error is not None and error.__cause__ is None:
            # Shows the cause in the traceback: the call failed because its stream did.
            error.__cause__ = self._source_error


async def made_result(streaming: Streaming, call: ProvidedCall, value: Any) -> tuple[bytes, Sending]:
    """Makes the streams in a result for its call. Returns the JSON of the result, and the streams, which must be
    started after the result was sent.

    Raises:
        BridgeError: the error that the caller gets instead of the result.
    """
    sending = Sending(streaming, result_of(call.task, value))
    if call.one_way:
        # No caller receives the names.
        sending.discard()
        return b"null", sending
    return await sending.make(call), sending
