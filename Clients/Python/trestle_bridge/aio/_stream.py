"""The events of a subscription, for a reading asyncio task."""

from __future__ import annotations

import asyncio
from typing import AsyncIterator, Awaitable, Callable, Generator, Optional, Sequence

from .._core.errors import BridgeError
from .._core.events import Event
from .._core.wire import EVENTS_DROPPED
from ._mailbox import Ended, Mailbox


class EventStream(AsyncIterator[Event]):
    """An asynchronous iterator of `Event`, for one reading asyncio task.

    The request to the daemon is sent when the stream is first awaited, entered as a context manager, or iterated. An
    error of the daemon is raised there. Leaving the context ends the subscription.

    It continues after a reconnect. Events that were published meanwhile are missed, and the reader gets
    `bridge.events_dropped` with the count None. The iteration ends when the stream or the bridge is closed. It raises
    `BridgeError` when the connection is lost permanently.
    """

    def __init__(
        self,
        patterns: Sequence[str],
        max_events: int,
        subscribe: Callable[[EventStream], Awaitable[None]],
        unsubscribe: Callable[[EventStream], None],
    ) -> None:
        self.patterns = tuple(patterns)
        self._mailbox: Mailbox[Event, Optional[BridgeError]] = Mailbox(max_events)
        self._subscribe = subscribe
        self._unsubscribe = unsubscribe
        self._is_subscribed = False
        self._subscribing = asyncio.Lock()

    # The functions that the core calls.

    def received(self, event: Event) -> None:
        """Receives an event."""
        self._mailbox.put(event)

    def finished(self, error: Optional[BridgeError]) -> None:
        """Receives the end of the events."""
        self._mailbox.finish(error)

    # The functions that the program calls.

    def close(self) -> None:
        """Ends the subscription. Does not wait. The reader still gets the events that have arrived."""
        self._unsubscribe(self)
        self._mailbox.finish(None)

    async def _ensure(self) -> EventStream:
        async with self._subscribing:
            if not self._is_subscribed and not self._mailbox.has_ended:
                await self._subscribe(self)
                self._is_subscribed = True
        return self

    def __await__(self) -> Generator[None, None, EventStream]:
        return self._ensure().__await__()

    async def __aenter__(self) -> EventStream:
        return await self._ensure()

    async def __aexit__(self, *exception: object) -> None:
        self.close()

    async def __anext__(self) -> Event:
        if not self._is_subscribed:
            await self._ensure()
        if dropped := self._mailbox.take_dropped():
            return Event(EVENTS_DROPPED, {"count": dropped})
        item = await self._mailbox.take()
        if not isinstance(item, Ended):
            return item
        if item.how is not None:
            raise item.how
        raise StopAsyncIteration
