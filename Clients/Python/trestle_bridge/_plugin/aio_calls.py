"""The calls of a plugin's tasks, for functions that are `async`."""

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
    """A call of a plugin's task whose function is `async`. The function is cancelled as its asyncio task."""

    # What programs import it from.
    __module__ = "trestle_bridge.aio"

    @property
    def _streams(self) -> AsyncPluginStreams:
        return AsyncPluginStreams(self._connection)

    async def call(
        self, task: str, options: Any = ABSENT, *, timeout: Optional[float] = None, session: Optional[int] = None,
        result_schema: Optional[Schema] = None,
    ) -> Any:
        """Calls a task on behalf of this call, and waits for its result: the task gets this call's caller, and when
        this call ends, that one is cancelled. Cancelled itself, it cancels the call.

        Args:
            options: any JSON, with a `Stream` in the places where the task takes one; left out, the task gets `{}`.
            timeout: seconds, or `math.inf`: no timeout; None: the task's own or the daemon's.
            session: only a task that this session registered.
            result_schema: where it has the format `trestle-stream`, an `aio.ByteReader` stands in the result.

        Raises:
            BridgeError: how the call ended.
            ValueError: the timeout is not valid.
        """
        future, streams = await begin_async(
            self._streams, self, options, timeout, lambda text, left: self._start(task, text, left, session))
        async with streams:
            return with_result_readers(await asyncio.wrap_future(future), result_schema, self.read_stream)

    async def make_stream(self, *, type: Optional[str] = None, total_bytes: Optional[int] = None) -> ByteWriter:
        """Makes a stream for this call: its caller reads it, also after the result was sent, which carries the
        stream's name. It ends where the call fails.

        Args:
            type: a media type, for the reader.
            total_bytes: how many bytes there will be, for the reader.

        Raises:
            BridgeError: `quota.exceeded` or `busy`: the caller has too many.
        """
        return await self._streams.make_stream(type=type, total_bytes=total_bytes, call=self)

    async def send_stream(
        self, source: AnySource, *, type: Optional[str] = None, total_bytes: Optional[int] = None,
    ) -> str:
        """The same, and writes all of a source to it: bytes, a binary file, or what yields bytes, asynchronously or
        not. Goes on when the function has returned.

        Returns:
            The stream's name.
        """
        return await self._streams.send_stream(source, type=type, total_bytes=total_bytes, call=self)

    def read_stream(self, name: str) -> ByteReader:
        """Reads a stream of this call's options."""
        return self._streams.read_stream(name, call=self)

    def write_stream(self, name: str) -> ByteWriter:
        """Writes to a stream of this call's options, which its reader has made."""
        return self._streams.write_stream(name, call=self)
