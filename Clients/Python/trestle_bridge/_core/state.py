"""The states of a core, and the listener that is notified of them."""

from __future__ import annotations

import enum
from typing import Any, Optional, Protocol

from .errors import SESSION_CLOSED, BridgeError

_CLOSED_WEB = 5.0
"""The maximum number of seconds between `web.close` and the end of the connection that it announces."""


class State(enum.Enum):
    """The state of a core."""

    APART = "apart"  # no connection; a timer or the driver starts the next one
    GREETING = "greeting"  # connected; the daemon has not answered `bridge.hello`
    OPEN = "open"
    CLOSING = "closing"  # only queued messages are still sent
    CLOSED = "closed"


class CoreListener(Protocol):
    """The listener to the state of a core. Called on the thread that owns the core; must not block."""

    def opened(self, first: bool) -> None:
        """Receives the beginning of a session. `first`: whether it is the client's first."""

    def closed(self, error: BridgeError) -> None:
        """Receives the final end of the client: no session follows. This is the last notification."""


class WebClose:
    """The event `web.close`, which announces that the daemon ends this session on purpose."""

    def __init__(self, data: Any, now: float) -> None:
        self._info = data.get("info") if isinstance(data, dict) else None
        self._came_at = now

    def error(self, now: float) -> Optional[BridgeError]:
        """Returns the error for a connection that ends now; None if the event did not announce this end. Any client may
        publish an event of this name, so only one shortly before the end counts."""
        if now - self._came_at > _CLOSED_WEB:
            return None
        text = "the daemon closed this session on purpose (closeWeb)"
        return BridgeError(SESSION_CLOSED, text, {"info": self._info})
