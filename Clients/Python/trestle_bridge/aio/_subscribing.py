"""Makes event streams and their subscriptions."""

from __future__ import annotations

import asyncio
from typing import Sequence

from .._core.events import Subscription
from .._core.requests import Requests
from ._pending import Waiter
from ._pump import Pump
from ._stream import EventStream


def subscribed_stream(patterns: Sequence[str], max_events: int, requests: Requests, pump: Pump) -> EventStream:
    """Returns a stream whose request to the daemon is sent when it is awaited, entered or read."""
    subscriptions: dict[EventStream, Subscription] = {}

    async def ask(stream: EventStream) -> None:
        subscription = subscriptions[stream] = Subscription(patterns, stream)
        waiter = Waiter()
        requests.subscribe(subscription, waiter)
        pump.kick()
        try:
            await waiter.wait()
        except asyncio.CancelledError:
            forget(stream)
            raise

    def forget(stream: EventStream) -> None:
        if (subscription := subscriptions.pop(stream, None)) is not None:
            requests.unsubscribe(subscription)
            pump.kick()

    return EventStream(patterns, max_events, ask, forget)


def local_stream(patterns: Sequence[str], max_events: int, requests: Requests, pump: Pump) -> EventStream:
    """Returns a stream without a request to the daemon. It gets events immediately."""

    async def ask(stream: EventStream) -> None:
        pass

    def forget(stream: EventStream) -> None:
        requests.unsubscribe(subscription)

    stream = EventStream(patterns, max_events, ask, forget)
    subscription = Subscription(patterns, stream, local=True)
    requests.listen(subscription)
    return stream
