"""`connect`: makes a bridge of the synchronous interface."""

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
        socket: the path of the socket; None for the path in `TRESTLE_SOCKET`, else the user's own socket, else the
            system's.
        client: the name of this program in the daemon's lists; None for the name of its script.
        version: this program's version.
        origin: the origin that the session represents, such as `https://example.org`; None for `local`.
        reconnect: whether a lost connection is made again, or the pauses between the attempts.
        on_reconnect: called, on a separate thread, when a new session has replaced a lost one. Tasks and subscriptions
            are restored automatically; logins and watched tables are not.
        wait_for_daemon: whether the first connection is retried until a daemon answers, or the number of seconds in
            which it is retried.
        parse_float: converts the text of a number with a point or an exponent from the daemon. `decimal.Decimal` keeps
            every digit.
        handler_threads: the number of calls of provided tasks that run in parallel.
        limits: the limits and times.

    Raises:
        BridgeError: `daemon.unreachable` if no daemon answers at the socket, `connection.denied` if this user may not
            open it, or another error of the daemon.
    """
    bridge = Bridge(
        settings(socket, client, version, origin, reconnect, wait_for_daemon, parse_float, limits), handler_threads,
        on_reconnect,
    )
    bridge._open()
    return bridge
