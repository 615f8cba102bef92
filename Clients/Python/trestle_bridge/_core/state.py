"""Where a core is between its making and its end, and who is notified."""

from __future__ import annotations

import enum
from typing import Any, Optional, Protocol

from .errors import SESSION_CLOSED, BridgeError

_CLOSED_WEB = 5.0
"""Seconds within which the end of the connection is taken for what `web.close` announced."""


class State(enum.Enum):
    """Where a core is between its making and its end."""

    APART = "apart"  # no connection; a timer, or the driver, makes the next one
    GREETING = "greeting"  # connected; the daemon has not answered `bridge.hello`
    OPEN = "open"
    CLOSING = "closing"  # nothing more is sent but what is queued
    CLOSED = "closed"


class CoreListener(Protocol):
    """Who is notified of the state of a core. Called on the thread that owns it; must not block."""

    def opened(self, first: bool) -> None:
        """A session has begun; `first`: the client's first."""

    def closed(self, error: BridgeError) -> None:
        """No session will ever begin again. The last thing that happens."""


class WebClose:
    """The event `web.close`, which announces that the daemon ends this session on purpose."""

    def __init__(self, data: Any, now: float) -> None:
        self._info = data.get("info") if isinstance(data, dict) else None
        self._came_at = now

    def error(self, now: float) -> Optional[BridgeError]:
        """What ends with a connection that is lost now; None: the event did not announce that. Any client may publish
        an event of this name: only one right before the end counts."""
        if now - self._came_at > _CLOSED_WEB:
            return None
        text = "the daemon closed this session on purpose (closeWeb)"
        return BridgeError(SESSION_CLOSED, text, {"info": self._info})
