"""The settings of a client: its identity, the daemon's socket, and all limits."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Optional

from .backoff import Backoff

MAX_NAME_BYTES = 64
"""The maximum length of a script's name that is used as the name of this program."""

MAX_TIMEOUT = 365 * 24 * 3600.0
"""The maximum of a finite timeout, in seconds: one year."""


@dataclass(frozen=True)
class Limits:
    """Limits, with defaults that suit most programs. Times are in seconds.

    Attributes:
        connect_timeout: the time for the daemon to accept the connection and to answer `bridge.hello`.
        max_wait: the time that a call without a timeout waits for a connection.
        grace: the time after a call's timeout, or after its cancel, in which the daemon may still report the end of the
            call.
        close_timeout: the time that `close()` waits for the daemon to read queued messages, and for handlers to return.
        max_waiting_calls: the number of calls that may wait for a connection. Further calls fail with `busy`.
        max_waiting_bytes: the approximate total length of the messages that may wait for a connection. Calls beyond it
            fail with `busy`.
        max_queued_bytes: the number of bytes that the daemon has not read yet. Calls beyond it fail with `busy`.
        max_line_bytes: the maximum length of a line from the daemon. A longer line ends the connection.
        max_queued_progress: the number of unread intermediate results of one call. Beyond it, the oldest are dropped.
        max_running_calls: the number of calls of provided tasks that run or wait, for each user. Further calls are
            answered with `busy`. In a plugin: the number of calls that run in parallel, and the number of calls of each
            user that wait.
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
    """The arguments of `connect`, the same for both interfaces."""

    socket: str
    client: Optional[str] = None
    version: Optional[str] = None
    origin: Optional[str] = None
    backoff: Optional[Backoff] = None
    """The pauses before reconnects; None if a lost connection is not made again."""
    parse_float: Callable[[str], Any] = float
    limits: Limits = field(default_factory=Limits)
    wait_for_daemon: float = 0.0
    """The number of seconds in which the first connection is retried."""

    @property
    def hello_options(self) -> dict[str, str]:
        """The options of `bridge.hello`."""
        client = script_name() if self.client is None else self.client
        named = {"client": client, "version": self.version, "origin": self.origin}
        return {name: value for name, value in named.items() if value is not None}


def script_name() -> str:
    """Returns the default name of this program: its script without `.py`, or the package that `-m` names."""
    script = Path(sys.argv[0] if sys.argv else "")
    name = script.parent.name if script.name == "__main__.py" else script.name.removesuffix(".py")
    # `python -c` and an interactive interpreter have no script.
    if name in ("", "-c", "-m", "-"):
        name = "python"
    # A file name can be any bytes, but the daemon accepts only text of a limited length.
    return name.encode("utf-8", "replace")[:MAX_NAME_BYTES].decode("utf-8", "ignore")


def check_timeout(seconds: Optional[float]) -> None:
    """Checks a timeout.

    Raises:
        ValueError: it is not above 0, or it is longer than a year and not `math.inf`.
    """
    if seconds is not None and seconds != math.inf and not 0 < seconds <= MAX_TIMEOUT:
        raise ValueError(f"a timeout is a number of seconds above 0, at most a year, or math.inf, not {seconds!r}")
