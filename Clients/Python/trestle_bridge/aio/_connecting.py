"""`connect`: the way to a bridge of the asyncio face."""

from __future__ import annotations

import os
from typing import Any, Callable, Generator, Optional, Union

from .._core.backoff import Backoff
from .._core.location import default_path
from .._core.settings import Limits, Settings
from ._bridge import Bridge, OnReconnect


def connect(
    path: Optional[str] = None,
    *,
    client: Optional[str] = None,
    version: Optional[str] = None,
    origin: Optional[str] = None,
    reconnect: Union[bool, Backoff] = True,
    on_reconnect: Optional[OnReconnect] = None,
    parse_float: Callable[[str], Any] = float,
    limits: Limits = Limits(),
) -> Connecting:
    """Connects to the daemon and introduces this program, once it is awaited or entered with `async with`.

    Args:
        path: the socket; None: the one that `TRESTLE_SOCKET` names, else this user's own, else the system's.
        client: what the daemon shall call this program in its lists; None: the name of its script.
        version: this program's version.
        origin: what the session speaks for, such as `https://example.org`; None: `local`.
        reconnect: whether a connection that is lost is made again, and after which pauses.
        on_reconnect: called, in an asyncio task of its own, when a new session has begun in the place of a
            lost one. Tasks and subscriptions are restored by then; a login, or a watched table, is not.
        parse_float: makes the numbers with a point or an exponent that come from the daemon, of their text.
            `decimal.Decimal` keeps every digit.
        limits: bounds and patience.

    Raises (when awaited or entered):
        BridgeError: `daemon.unreachable` where no daemon answers there, `connection.denied` where this user may
            not open the socket, or what the daemon says.
    """
    backoff = reconnect if isinstance(reconnect, Backoff) else (Backoff() if reconnect else None)
    place = default_path() if path is None else os.fspath(path)
    return Connecting(Settings(place, client, version, origin, backoff, parse_float, limits), on_reconnect)


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
