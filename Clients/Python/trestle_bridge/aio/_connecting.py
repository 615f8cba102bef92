"""`connect`: makes a bridge of the asyncio interface."""

from __future__ import annotations

import os
from typing import Any, Callable, Generator, Optional, Union

from .._core.backoff import Backoff
from .._core.connecting import settings
from .._core.settings import Limits, Settings
from ._bridge import Bridge, OnReconnect


def connect(
    socket: Union[str, os.PathLike[str], None] = None,
    *,
    client: Optional[str] = None,
    version: Optional[str] = None,
    origin: Optional[str] = None,
    reconnect: Union[bool, Backoff] = True,
    on_reconnect: Optional[OnReconnect] = None,
    wait_for_daemon: Union[bool, float] = False,
    parse_float: Callable[[str], Any] = float,
    limits: Limits = Limits(),
) -> Connecting:
    """Connects to the daemon and introduces this program when the result is awaited or entered with `async with`.

    Args:
        socket: the path of the socket; None for the path in `TRESTLE_SOCKET`, else the user's own socket, else the
            system's.
        client: the name of this program in the daemon's lists; None for the name of its script.
        version: this program's version.
        origin: the origin that the session represents, such as `https://example.org`; None for `local`.
        reconnect: whether a lost connection is made again, or the pauses between the attempts.
        on_reconnect: called, in a separate asyncio task, when a new session has replaced a lost one. Tasks and
            subscriptions are restored automatically; logins and watched tables are not.
        wait_for_daemon: whether the first connection is retried until a daemon answers, or the number of seconds in
            which it is retried.
        parse_float: converts the text of a number with a point or an exponent from the daemon. `decimal.Decimal` keeps
            every digit.
        limits: the limits and times.

    Raises (when awaited or entered):
        BridgeError: `daemon.unreachable` if no daemon answers at the socket, `connection.denied` if this user may not
            open it, or another error of the daemon.
    """
    return Connecting(
        settings(socket, client, version, origin, reconnect, wait_for_daemon, parse_float, limits), on_reconnect)


class Connecting:
    """The result of `connect`. `await` it to get a bridge, or enter it with `async with`, which closes the bridge at
    the end. It can be used once."""

    def __init__(self, settings: Settings, on_reconnect: Optional[OnReconnect]) -> None:
        self._settings = settings
        self._on_reconnect = on_reconnect
        self._bridge: Optional[Bridge] = None

    async def _connect(self) -> Bridge:
        bridge = Bridge(self._settings, self._on_reconnect)
        await bridge._open()
        return bridge

    def __await__(self) -> Generator[Any, None, Bridge]:
        return self._connect().__await__()

    async def __aenter__(self) -> Bridge:
        self._bridge = await self._connect()
        return self._bridge

    async def __aexit__(self, *exception: object) -> None:
        if self._bridge is not None:
            await self._bridge.close()
