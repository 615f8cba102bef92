"""The conversion of the arguments of `connect`, shared by both interfaces."""

from __future__ import annotations

import math
import os
from typing import Any, Callable, Optional, Union

from .backoff import Backoff
from .location import default_socket
from .settings import Limits, Settings


def settings(
    socket: Union[str, os.PathLike[str], None], client: Optional[str], version: Optional[str], origin: Optional[str],
    reconnect: Union[bool, Backoff], wait_for_daemon: Union[bool, float], parse_float: Callable[[str], Any],
    limits: Limits,
) -> Settings:
    """Returns the settings of a client. The arguments are those of `connect`."""
    backoff = reconnect if isinstance(reconnect, Backoff) else (Backoff() if reconnect else None)
    place = default_socket() if socket is None else os.fspath(socket)
    wait = math.inf if wait_for_daemon is True else float(wait_for_daemon)
    return Settings(place, client, version, origin, backoff, parse_float, limits, wait)
