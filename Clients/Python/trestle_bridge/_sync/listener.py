"""What a bridge learns of its core's state."""

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
    """Learns of the core's state, on the I/O thread. Apart from the bridge, which nothing here keeps alive."""

    def __init__(self) -> None:
        self.first = Waiter()
        self.on_reconnect: Optional[Callable[[], None]] = None

    def opened(self, first: bool) -> None:
        """A session has begun."""
        if first:
            self.first.ended(Success(None))
        elif self.on_reconnect is not None:
            self.on_reconnect()

    def closed(self, error: BridgeError) -> None:
        """No further session will begin."""
        # Does nothing where it has opened.
        self.first.ended(error)


def weak_caller(bridge: Bridge, on_reconnect: Callable[[Bridge], None]) -> Callable[[], None]:
    """A function that calls `on_reconnect` on a thread of its own."""
    # The I/O thread must not keep a bridge alive that its program has forgotten.
    reference = weakref.ref(bridge)

    def call() -> None:
        if (alive := reference()) is not None:
            thread = threading.Thread(target=on_reconnect, args=(alive,), name="trestle-reconnect")
            thread.daemon = True
            alive._reconnecting = thread
            thread.start()

    return call
