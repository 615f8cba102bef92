"""The calls of a plugin's tasks, for `async` functions."""

from __future__ import annotations

import asyncio
from typing import Any, Optional

from .._core.description import Schema
from .._core.messages import ABSENT
from .._core.stream_places import with_result_readers
from .._core.stream_values import AnySource
from .._streams.aio_ends import ByteReader, ByteWriter
from .calls import CallOfPlugin
from .own_streams import begin_async
from .streams import AsyncPluginStreams


class PluginCall(CallOfPlugin):
    """A call of a plugin's task whose function is `async`. If the call is cancelled, the function's asyncio task is
    cancelled."""

    # The module from which programs import it.
    __module__ = "trestle_bridge.aio"

    @property
    def _streams(self) -> AsyncPluginStreams:
        return AsyncPluginStreams(self._connection)

    async def call(
        self, task: str, options: Any = ABSENT, *, timeout: Optional[float] = None, session: Optional[int] = None,
        result_schema: Optional[Schema] = None,
    ) -> Any:
        """Calls a task on behalf of this call, and waits for its result. The task gets this call's caller. When this
        call ends, the new call is cancelled. If the waiting asyncio task is cancelled, the new call is cancelled.

        Args:
            options: any JSON, with a `Stream` where the task expects one. If omitted, the task gets `{}`.
            timeout: seconds, or `math.inf` for no timeout; None for the default of the task or of the daemon.
            session: the session that must execute the call: only a task that it registered is called.
            result_schema: where it has the format `trestle-stream`, the result contains an `aio.ByteReader`.

        Raises:
            BridgeError: the error of the call.
            ValueError: the timeout is not valid.
        """
        future, streams = await begin_async(
            self._streams, self, options, timeout, lambda text, left: self._start(task, text, left, session))
        async with streams:
            return with_result_readers(await asyncio.wrap_future(future), result_schema, self.read_stream)

    async def make_stream(self, *, type: Optional[str] = None, total_bytes: Optional[int] = None) -> ByteWriter:
        """Makes a stream for this call, which the caller of this call reads. Return the stream's name in the result.
        The caller can read the stream also after the result was sent. If the call fails, the stream ends.

        Args:
            type: a media type, for the reader.
            total_bytes: the total number of bytes, for the reader.

        Raises:
            BridgeError: `quota.exceeded` or `busy` if the caller has too many streams.
        """
        return await self._streams.make_stream(type=type, total_bytes=total_bytes, call=self)

    async def send_stream(
        self, source: AnySource, *, type: Optional[str] = None, total_bytes: Optional[int] = None,
    ) -> str:
        """Makes a stream for this call and writes the whole source to it: bytes, a binary file, or an iterable of
        bytes, asynchronous or not. Continues after the function has returned.

        Returns:
            The stream's name.
        """
        return await self._streams.send_stream(source, type=type, total_bytes=total_bytes, call=self)

    def read_stream(self, name: str) -> ByteReader:
        """Returns the reader's end of a stream in this call's options."""
        return self._streams.read_stream(name, call=self)

    def write_stream(self, name: str) -> ByteWriter:
        """Returns the writer's end of a stream in this call's options, which its reader made."""
        return self._streams.write_stream(name, call=self)
