"""The events of a subscription, as a task reads them."""

from __future__ import annotations

import asyncio
from typing import AsyncIterator, Awaitable, Callable, Generator, Optional, Sequence

from .._core.errors import BridgeError
from .._core.events import Event
from .._core.wire import EVENTS_DROPPED
from ._mailbox import Ended, Mailbox


class EventStream(AsyncIterator[Event]):
    """An asynchronous iterator of `Event`, for one reading task.

    The daemon is asked when the stream is awaited, entered as a context manager, or iterated for the first
    time, whichever comes first; what it refuses is raised there. Leaving the context ends the subscription.

    It goes on when the connection is lost and made again: what was published meanwhile is missed, and the reader gets
    `bridge.events_dropped` with the count None. Iterating ends when the stream or the bridge is closed, and raises
    `BridgeError` when the connection is lost for good.
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

    # What the core calls.

    def received(self, event: Event) -> None:
        """An event."""
        self._mailbox.put(event)

    def finished(self, error: Optional[BridgeError]) -> None:
        """No further events come."""
        self._mailbox.finish(error)

    # What the program calls.

    def close(self) -> None:
        """Ends the subscription. Does not wait; events that have come are still handed out."""
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
