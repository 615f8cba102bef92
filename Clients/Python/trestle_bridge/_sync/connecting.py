"""`connect`: the way to a bridge of the synchronous face."""

from __future__ import annotations

import os
from typing import Any, Callable, Optional, Union

from .._core.backoff import Backoff
from .._core.location import default_path
from .._core.settings import Limits, Settings
from .bridge import Bridge


def connect(
    path: Optional[str] = None,
    *,
    client: Optional[str] = None,
    version: Optional[str] = None,
    origin: Optional[str] = None,
    reconnect: Union[bool, Backoff] = True,
    on_reconnect: Optional[Callable[[Bridge], None]] = None,
    parse_float: Callable[[str], Any] = float,
    handler_threads: int = 8,
    limits: Limits = Limits(),
) -> Bridge:
    """Connects to the daemon and introduces this program. Waits for the daemon's answer.

    Args:
        path: the socket; None: the one that `TRESTLE_SOCKET` names, else this user's own, else the system's.
        client: what the daemon shall call this program in its lists; None: the name of its script.
        version: this program's version.
        origin: what the session speaks for, such as `https://example.org`; None: `local`.
        reconnect: whether a connection that is lost is made again, and after which pauses.
        on_reconnect: called, on a thread of its own, when a new session has begun in the place of a lost one.
            Tasks and subscriptions are restored by then; a login, or a watched table, is not.
        parse_float: makes the numbers with a point or an exponent that come from the daemon, of their text.
            `decimal.Decimal` keeps every digit.
        handler_threads: how many calls of provided tasks run at once.
        limits: bounds and patience.

    Raises:
        BridgeError: `daemon.unreachable` where no daemon answers there, `connection.denied` where this user may
            not open the socket, or what the daemon says.
    """
    backoff = reconnect if isinstance(reconnect, Backoff) else (Backoff() if reconnect else None)
    place = default_path() if path is None else os.fspath(path)
    settings = Settings(place, client, version, origin, backoff, parse_float, limits)
    bridge = Bridge(settings, handler_threads, on_reconnect)
    bridge._open()
    return bridge
