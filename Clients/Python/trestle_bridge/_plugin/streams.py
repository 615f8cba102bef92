"""Streams of plugins. The daemon's tasks are called in the plugin's own name, except to take an end for a call."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import Any, Callable, Optional

from .._core.incoming import ProvidedCall
from .._core.streaming import options_text, wants_pipe
from .._streams.making import Streaming
from .._streams.aio_making import Streaming as AsyncStreaming
from .sending import PluginConnection


class FutureCall:
    """A call of a plugin, as streams use it."""

    def __init__(self, future: Future[Any]) -> None:
        self._future = future

    @property
    def done(self) -> bool:
        """Whether the call has ended."""
        return self._future.done()

    def when_done(self, then: Callable[[], None]) -> None:
        """Calls a function when the call ends, on any thread; immediately if it has ended."""
        self._future.add_done_callback(lambda future: then())

    def result(self) -> Any:
        """Waits for the result."""
        return self._future.result()


class AsyncFutureCall(FutureCall):
    """A call of a plugin, as streams use it with asyncio."""

    async def result(self) -> Any:
        """Waits for the result. If the waiting is cancelled, the result can still be received later."""
        return await asyncio.shield(asyncio.wrap_future(self._future))


class PluginStreams(Streaming):
    """The streams of functions with their own thread."""

    def __init__(self, connection: PluginConnection) -> None:
        self._connection = connection

    def _begin_about_stream(
        self, task: str, options: dict[str, Any], call: Optional[ProvidedCall], timeout: Optional[float] = None
    ) -> FutureCall:
        return FutureCall(begun(self._connection, task, options, call, timeout))

    def _message_bytes(self) -> int:
        return self._connection.message_bytes


class AsyncPluginStreams(AsyncStreaming):
    """The streams of `async` functions."""

    def __init__(self, connection: PluginConnection) -> None:
        self._connection = connection

    def _begin_about_stream(
        self, task: str, options: dict[str, Any], call: Optional[ProvidedCall], timeout: Optional[float] = None
    ) -> AsyncFutureCall:
        return AsyncFutureCall(begun(self._connection, task, options, call, timeout))

    def _message_bytes(self) -> int:
        return self._connection.message_bytes


def begun(
    connection: PluginConnection, task: str, options: dict[str, Any], call: Optional[ProvidedCall],
    timeout: Optional[float],
) -> Future[Any]:
    """Begins a call on behalf of an incoming call, or in the plugin's own name."""
    caller = None if call is None else call._id
    return connection.start_call(
        task, options_text(options), timeout=timeout, session=None, caller=caller,
        wants_pipe=wants_pipe(task, options))
