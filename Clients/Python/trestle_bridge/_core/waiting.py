"""Calls that wait for a connection, or while a daemon stops, with bounds on their number and on their total size."""

from __future__ import annotations

from typing import Callable, Optional, Protocol, TypeVar

from .errors import BUSY, BridgeError, started_data
from .settings import Limits
from .timers import Timer, Timers

_FULL_PAUSE = 1.0
"""The `retry_after` in seconds if too many calls wait: about the time of the first attempts to connect."""

_HOLDING = 1.0
"""The number of seconds before calls that a stopping daemon refused are sent again over the same connection. A daemon
that passes its sessions to the next one keeps the connection and does not report when calls resume."""


class Sized(Protocol):
    """A waiting call."""

    @property
    def size_bytes(self) -> int:
        """The approximate length of the message."""


S = TypeVar("S", bound=Sized)


class WaitingCalls(dict[S, None]):
    """The waiting calls, in order. A dict keeps the order and removes any call in constant time."""

    def __init__(self, limits: Limits) -> None:
        super().__init__()
        self._limits = limits
        self._bytes = 0

    def has_room(self, call: S) -> bool:
        """Whether one more may wait."""
        limits = self._limits
        return len(self) < limits.max_waiting_calls and self._bytes + call.size_bytes <= limits.max_waiting_bytes

    def busy(self) -> BridgeError:
        """Returns the error of a call for which there is no room."""
        text = f"{len(self)} calls with {self._bytes} bytes wait for a connection to the daemon, the maximum"
        return BridgeError(BUSY, text, started_data(False), transient=True, retry_after=_FULL_PAUSE)

    def append(self, call: S) -> None:
        """Adds a call."""
        self[call] = None
        self._bytes += call.size_bytes

    def remove(self, call: S) -> None:
        """Removes a call if it waits."""
        if call in self:
            del self[call]
            self._bytes -= call.size_bytes

    def take_all(self) -> list[S]:
        """Removes and returns all calls. Called when there is a connection."""
        calls = list(self)
        self.clear()
        self._bytes = 0
        return calls


class Holding:
    """The hold on calls while the daemon begins none. `resume` is called when they must be sent again."""

    def __init__(self, timers: Timers, resume: Callable[[], None]) -> None:
        self._timers = timers
        self._resume = resume
        self._timer: Optional[Timer] = None

    @property
    def is_on(self) -> bool:
        """Whether calls wait."""
        return self._timer is not None

    def start(self) -> None:
        """Begins to hold calls."""
        if self._timer is None:
            self._timer = self._timers.after(_HOLDING, self._end)

    def stop(self) -> None:
        """Ends the hold without `resume`, because the connection has ended."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self) -> None:
        self._timer = None
        self._resume()
