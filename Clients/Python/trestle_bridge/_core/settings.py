"""What a client is made with: who it is, where the daemon is, and the bounds of everything."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Optional

from .backoff import Backoff

MAX_NAME_BYTES = 64
"""Of a script's name as this program's."""

MAX_TIMEOUT = 365 * 24 * 3600.0
"""Seconds: a timeout is at most a year, unless there is none."""


@dataclass(frozen=True)
class Limits:
    """Bounds, each with a default that suits most programs. Times are in seconds.

    Attributes:
        connect_timeout: for the daemon to take the connection and to answer `bridge.hello`.
        max_wait: how long a call without a timeout waits for a connection while there is none.
        grace: how long after a call's own timeout, or after its cancel, this end gives up waiting for the
            daemon to report the end of the call.
        close_timeout: how long `close()` waits for the daemon to read what is queued, and for handlers to
            return.
        max_waiting_calls: how many calls may wait for a connection; one more is refused with `busy`.
        max_waiting_bytes: how long the messages of the calls that wait for a connection may be together, about; one
            more call is refused with `busy`.
        max_queued_bytes: of messages that the daemon has not read yet; one more call is refused with `busy`.
        max_line_bytes: the longest line that is taken from the daemon; beyond, the connection is given up.
        max_queued_progress: intermediate results of one call that are not taken; beyond this number, the oldest are
            dropped.
        max_running_calls: calls of provided tasks that run or wait, for each user; one more is answered `busy`. In a
            plugin: calls that run in parallel, and calls of each user that wait.
    """

    connect_timeout: float = 10.0
    max_wait: float = 60.0
    grace: float = 2.0
    close_timeout: float = 1.0
    max_waiting_calls: int = 1024
    max_waiting_bytes: int = 4 << 20
    max_queued_bytes: int = 4 << 20
    max_line_bytes: int = 256 << 20
    max_queued_progress: int = 1024
    max_running_calls: int = 1024


@dataclass(frozen=True)
class Settings:
    """The arguments of `connect`, the same for both faces."""

    socket: str
    client: Optional[str] = None
    version: Optional[str] = None
    origin: Optional[str] = None
    backoff: Optional[Backoff] = None
    """None: a connection that is lost stays lost."""
    parse_float: Callable[[str], Any] = float
    limits: Limits = field(default_factory=Limits)
    wait_for_daemon: float = 0.0
    """Seconds for which the first connection is tried again."""

    @property
    def hello_options(self) -> dict[str, str]:
        """The options of `bridge.hello`."""
        client = script_name() if self.client is None else self.client
        named = {"client": client, "version": self.version, "origin": self.origin}
        return {name: value for name, value in named.items() if value is not None}


def script_name() -> str:
    """What this program is called where it says nothing: its script without `.py`, or the package that `-m` names."""
    script = Path(sys.argv[0] if sys.argv else "")
    name = script.parent.name if script.name == "__main__.py" else script.name.removesuffix(".py")
    # `python -c` and an interactive interpreter have no script.
    if name in ("", "-c", "-m", "-"):
        name = "python"
    # A name of a file is any bytes, and the daemon takes text of a bounded length.
    return name.encode("utf-8", "replace")[:MAX_NAME_BYTES].decode("utf-8", "ignore")


def check_timeout(seconds: Optional[float]) -> None:
    """Refuses a timeout that no call can have.

    Raises:
        ValueError: it is not above 0, or longer than a year and not `math.inf`.
    """
    if seconds is not None and seconds != math.inf and not 0 < seconds <= MAX_TIMEOUT:
        raise ValueError(f"a timeout is a number of seconds above 0, at most a year, or math.inf, not {seconds!r}")
