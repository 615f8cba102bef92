"""The events of a subscription, for a reading thread."""

from __future__ import annotations

from typing import Callable, Iterator, Optional, Sequence

from .._core.errors import SESSION_CLOSED, BridgeError
from .._core.events import Event
from .._core.wire import EVENTS_DROPPED
from .mailbox import Ended, Mailbox


class EventStream(Iterator[Event]):
    """An iterator of `Event`, for one reading thread, and a context manager that ends the subscription.

    It continues after a reconnect. Events that were published meanwhile are missed, and the reader gets
    `bridge.events_dropped` with the count None. The iteration ends when the stream or the bridge is closed. It raises
    `BridgeError` when the connection is lost permanently.
    """

    def __init__(self, patterns: Sequence[str], max_events: int) -> None:
        self.patterns = tuple(patterns)
        self._mailbox: Mailbox[Event, Optional[BridgeError]] = Mailbox(max_events)
        self._unsubscribe: Callable[[], None] = lambda: None

    # The functions that the core calls, on the I/O thread.

    def received(self, event: Event) -> None:
        """I/O thread: receives an event."""
        self._mailbox.put(event)

    def finished(self, error: Optional[BridgeError]) -> None:
        """I/O thread: receives the end of the events."""
        self._mailbox.finish(error)

    # The functions that the program calls.

    def get(self, timeout: Optional[float] = None) -> Event:
        """Waits for the next event.

        Args:
            timeout: the number of seconds to wait; None for no limit.

        Raises:
            TimeoutError: no event arrived in time.
            BridgeError: the subscription has ended; `session.closed` after `close`.
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
        """Ends the subscription. Does not wait. The reader still gets the events that have arrived."""
        self._unsubscribe()

    def __enter__(self) -> EventStream:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
