"""`connect`: the way to a bridge of the synchronous face."""

from __future__ import annotations

import os
from typing import Any, Callable, Optional, Union

from .._core.backoff import Backoff
from .._core.connecting import settings
from .._core.settings import Limits
from .bridge import Bridge


def connect(
    socket: Union[str, os.PathLike[str], None] = None,
    *,
    client: Optional[str] = None,
    version: Optional[str] = None,
    origin: Optional[str] = None,
    reconnect: Union[bool, Backoff] = True,
    on_reconnect: Optional[Callable[[Bridge], None]] = None,
    wait_for_daemon: Union[bool, float] = False,
    parse_float: Callable[[str], Any] = float,
    handler_threads: int = 8,
    limits: Limits = Limits(),
) -> Bridge:
    """Connects to the daemon and introduces this program. Waits for the daemon's answer.

    Args:
        socket: the path of the socket; None: the one that `TRESTLE_SOCKET` names, else this user's own, else the
            system's.
        client: the name of this program in the daemon's lists; None: the name of its script.
        version: this program's version.
        origin: what the session speaks for, such as `https://example.org`; None: `local`.
        reconnect: whether a connection that is lost is made again, and after which pauses.
        on_reconnect: called, on a thread of its own, when a new session has begun in the place of a lost one.
            Tasks and subscriptions are restored by then; a login, or a watched table, is not.
        wait_for_daemon: whether the first connection is tried again where no daemon answers: until one does, or for so
            many seconds.
        parse_float: makes the numbers with a point or an exponent that come from the daemon, of their text.
            `decimal.Decimal` keeps every digit.
        handler_threads: how many calls of provided tasks run in parallel.
        limits: bounds and times.

    Raises:
        BridgeError: `daemon.unreachable` where no daemon answers there, `connection.denied` where this user may
            not open the socket, or another error of the daemon.
    """
    bridge = Bridge(
        settings(socket, client, version, origin, reconnect, wait_for_daemon, parse_float, limits), handler_threads,
        on_reconnect,
    )
    bridge._open()
    return bridge
