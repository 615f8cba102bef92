"""The listener of a bridge to the state of its core."""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Callable, Optional

from .._core.call import Success
from .._core.errors import BridgeError
from .pending import Waiter

if TYPE_CHECKING:
    from .bridge import Bridge


class Listener:
    """Receives the state of the core, on the I/O thread. It is a separate object, so that it does not keep the bridge
    alive."""

    def __init__(self) -> None:
        self.first = Waiter()
        self.on_reconnect: Optional[Callable[[], None]] = None

    def opened(self, first: bool) -> None:
        """Handles the beginning of a session."""
        if first:
            self.first.ended(Success(None))
        elif self.on_reconnect is not None:
            self.on_reconnect()

    def closed(self, error: BridgeError) -> None:
        """Handles the final end: no further session follows."""
        # Does nothing if a session has begun before.
        self.first.ended(error)


def weak_caller(bridge: Bridge, on_reconnect: Callable[[Bridge], None]) -> Callable[[], None]:
    """Returns a function that calls `on_reconnect` on a separate thread."""
    # A weak reference: the I/O thread must not keep a dropped bridge alive.
    reference = weakref.ref(bridge)

    def call() -> None:
        if (alive := reference()) is not None:
            thread = threading.Thread(target=on_reconnect, args=(alive,), name="trestle-reconnect")
            thread.daemon = True
            alive._reconnecting = thread
            thread.start()

    return call
