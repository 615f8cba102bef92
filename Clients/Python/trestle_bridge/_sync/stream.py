"""The events of a subscription, as a thread reads them."""

from __future__ import annotations

from typing import Callable, Iterator, Optional, Sequence

from .._core.errors import SESSION_CLOSED, BridgeError
from .._core.events import Event
from .._core.wire import EVENTS_DROPPED
from .mailbox import Ended, Mailbox


class EventStream(Iterator[Event]):
    """An iterator of `Event`, for one reading thread, and a context manager that ends the subscription.

    It goes on when the connection is lost and made again: what was published meanwhile is missed, and the reader gets
    `bridge.events_dropped` with the count None. Iterating ends when the stream or the bridge is closed, and raises
    `BridgeError` when the connection is lost for good.
    """

    def __init__(self, patterns: Sequence[str], max_events: int) -> None:
        self.patterns = tuple(patterns)
        self._mailbox: Mailbox[Event, Optional[BridgeError]] = Mailbox(max_events)
        self._unsubscribe: Callable[[], None] = lambda: None

    # What the core calls, on the I/O thread.

    def received(self, event: Event) -> None:
        """I/O thread: an event."""
        self._mailbox.put(event)

    def finished(self, error: Optional[BridgeError]) -> None:
        """I/O thread: no further events come."""
        self._mailbox.finish(error)

    # What the program calls.

    def get(self, timeout: Optional[float] = None) -> Event:
        """Waits for the next event.

        Args:
            timeout: seconds; None: without end.

        Raises:
            TimeoutError: none came.
            BridgeError: `session.closed`: no further one will come.
        """
        if dropped := self._mailbox.take_dropped():
            return Event(EVENTS_DROPPED, {"count": dropped})
        item = self._mailbox.take(timeout)
        if isinstance(item, Ended):
            raise item.how or BridgeError(SESSION_CLOSED, "the subscription was closed here")
        return item

    def __next__(self) -> Event:
        if dropped := self._mailbox.take_dropped():
            return Event(EVENTS_DROPPED, {"count": dropped})
        item = self._mailbox.take()
        if not isinstance(item, Ended):
            return item
        if item.how is not None:
            raise item.how
        raise StopIteration

    def close(self) -> None:
        """Ends the subscription. Does not wait; events that have come are still handed out."""
        self._unsubscribe()

    def __enter__(self) -> EventStream:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
