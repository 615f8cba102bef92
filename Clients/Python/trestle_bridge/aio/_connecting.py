"""`connect`: the way to a bridge of the asyncio face."""

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
    """Connects to the daemon and introduces this program, once it is awaited or entered with `async with`.

    Args:
        socket: the path of the socket; None: the one that `TRESTLE_SOCKET` names, else this user's own, else the
            system's.
        client: the name of this program in the daemon's lists; None: the name of its script.
        version: this program's version.
        origin: what the session speaks for, such as `https://example.org`; None: `local`.
        reconnect: whether a connection that is lost is made again, and after which pauses.
        on_reconnect: called, in an asyncio task of its own, when a new session has begun in the place of a
            lost one. Tasks and subscriptions are restored by then; a login, or a watched table, is not.
        wait_for_daemon: whether the first connection is tried again where no daemon answers: until one does, or for so
            many seconds.
        parse_float: makes the numbers with a point or an exponent that come from the daemon, of their text.
            `decimal.Decimal` keeps every digit.
        limits: bounds and times.

    Raises (when awaited or entered):
        BridgeError: `daemon.unreachable` where no daemon answers there, `connection.denied` where this user may
            not open the socket, or another error of the daemon.
    """
    return Connecting(
        settings(socket, client, version, origin, reconnect, wait_for_daemon, parse_float, limits), on_reconnect)


class Connecting:
    """A bridge to be: `await` it, or enter it with `async with`, which closes the bridge at its end. Once."""

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
