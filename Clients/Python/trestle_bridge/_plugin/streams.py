"""Streams of plugins: the daemon's tasks are called in the plugin's own name, but where an end is taken for a call."""

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
    """A call of a plugin, as streams see it."""

    def __init__(self, future: Future[Any]) -> None:
        self._future = future

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self._future.done()

    def when_done(self, then: Callable[[], None]) -> None:
        """Has a function called when it has ended, on any thread."""
        self._future.add_done_callback(lambda future: then())

    def result(self) -> Any:
        """Waits for its result."""
        return self._future.result()


class AsyncFutureCall(FutureCall):
    """The same for asyncio."""

    async def result(self) -> Any:
        """Waits for its result, which can still be had where the waiting is cancelled."""
        return await asyncio.shield(asyncio.wrap_future(self._future))


class PluginStreams(Streaming):
    """Streams of functions that have a thread."""

    def __init__(self, connection: PluginConnection) -> None:
        self._connection = connection

    def _begin_about_stream(
        self, task: str, options: dict[str, Any], call: Optional[ProvidedCall], timeout: Optional[float] = None
    ) -> FutureCall:
        return FutureCall(begun(self._connection, task, options, call, timeout))

    def _message_bytes(self) -> int:
        return self._connection.message_bytes


class AsyncPluginStreams(AsyncStreaming):
    """Streams of functions that are `async`."""

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
    """Begins a call on behalf of another one, or in the plugin's own name."""
    caller = None if call is None else call._id
    return connection.start_call(
        task, options_text(options), timeout=timeout, session=None, caller=caller,
        wants_pipe=wants_pipe(task, options))
