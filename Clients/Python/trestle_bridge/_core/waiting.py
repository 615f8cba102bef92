"""Calls that wait for a connection, or for a daemon that stops: only so many, and only so long together."""

from __future__ import annotations

from typing import Callable, Optional, Protocol, TypeVar

from .errors import BUSY, BridgeError, started_data
from .settings import Limits
from .timers import Timer, Timers

_FULL_PAUSE = 1.0
"""`retryAfter`, in seconds, when too many wait: about as long as the first attempts to connect take."""

_HOLDING = 1.0
"""Seconds after which calls that a stopping daemon has refused are tried again over a connection that is still
there: a daemon that hands its sessions on to the next one keeps them, and says nothing when it goes on."""


class Sized(Protocol):
    """What waits."""

    @property
    def size_bytes(self) -> int:
        """About how long its message is."""


S = TypeVar("S", bound=Sized)


class WaitingCalls(dict[S, None]):
    """Those that wait, in their order. A dict for that, and for taking out of the middle."""

    def __init__(self, limits: Limits) -> None:
        super().__init__()
        self._limits = limits
        self._bytes = 0

    def has_room(self, call: S) -> bool:
        """Whether one more may wait."""
        limits = self._limits
        return len(self) < limits.max_waiting_calls and self._bytes + call.size_bytes <= limits.max_waiting_bytes

    def busy(self) -> BridgeError:
        """What a call ends with for which there is no room."""
        text = f"{len(self)} calls with {self._bytes} bytes wait for a connection to the daemon, as many as may"
        return BridgeError(BUSY, text, started_data(False), transient=True, retry_after=_FULL_PAUSE)

    def append(self, call: S) -> None:
        """One more waits."""
        self[call] = None
        self._bytes += call.size_bytes

    def remove(self, call: S) -> None:
        """It no longer waits, if it did."""
        if call in self:
            del self[call]
            self._bytes -= call.size_bytes

    def take_all(self) -> list[S]:
        """There is a connection."""
        calls = list(self)
        self.clear()
        self._bytes = 0
        return calls


class Holding:
    """Whether the daemon begins no calls at the moment. `resume` is called when they are to be tried again."""

    def __init__(self, timers: Timers, resume: Callable[[], None]) -> None:
        self._timers = timers
        self._resume = resume
        self._timer: Optional[Timer] = None

    @property
    def is_on(self) -> bool:
        """Whether calls wait."""
        return self._timer is not None

    def start(self) -> None:
        """The daemon no longer begins calls."""
        if self._timer is None:
            self._timer = self._timers.after(_HOLDING, self._end)

    def stop(self) -> None:
        """Its connection is gone."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self) -> None:
        self._timer = None
        self._resume()
