"""The attempts to connect: the time of the next one, and the time limit of each."""

from __future__ import annotations

from typing import Callable, Optional

from .backoff import Backoff
from .settings import Settings
from .timers import Timer, Timers

_FULL_PAUSE = 0.02
"""Seconds before the next attempt if the daemon's queue of new connections is full."""


class Attempts:
    """Counts attempts, and sets their timers.

    `connect` is called when an attempt is due. `late` is called when the daemon has not answered an attempt within
    `connect_timeout`.
    """

    def __init__(
        self, settings: Settings, timers: Timers, connect: Callable[[], None], late: Callable[[], None]
    ) -> None:
        self._settings = settings
        self._timers = timers
        self._connect = connect
        self._late = late
        self._first_pauses = settings.backoff or Backoff()
        self._count = 0
        self._last_pause = 0.0
        self._first_ends_at = 0.0
        self._watch: Optional[Timer] = None

    def begin(self) -> None:
        """Records the start of the first attempt."""
        self._first_ends_at = self._timers.clock() + self._settings.wait_for_daemon
        self.watch()

    def watch(self) -> None:
        """Starts the time limit of an attempt, unless it is already running."""
        if self._watch is None:
            self._watch = self._timers.after(self._settings.limits.connect_timeout, self._time_is_over)

    def stop_watching(self) -> None:
        """Stops the time limit: the attempt has ended."""
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    def forget(self) -> None:
        """Resets the back-off after the first connection."""
        self._count = 0

    def connected_for(self, seconds: float) -> None:
        """Resets the back-off if the lost connection lasted at least as long as the last pause.

        Otherwise a daemon that drops each connection would be called at full speed.
        """
        if seconds >= self._last_pause:
            self._count = 0

    def repeat_first(self) -> bool:
        """Schedules another attempt after the first connection failed. Returns False if the settings permit no more."""
        left = self._first_ends_at - self._timers.clock()
        if left <= 0:
            return False
        self._later(min(left, self._first_pauses.pause(self._count)))
        return True

    def repeat(self) -> None:
        """Schedules an attempt after a later connection failed or was lost, unless the settings forbid it."""
        if self._settings.backoff is not None:
            self._later(self._settings.backoff.pause(self._count))

    def repeat_soon(self) -> None:
        """Schedules an attempt soon, because the daemon is running but its queue of new connections is full."""
        self.watch()
        self._timers.after(_FULL_PAUSE, self._connect)

    def _later(self, pause: float) -> None:
        self.stop_watching()
        self._timers.after(pause, self._connect)
        self._last_pause = pause
        self._count += 1

    def _time_is_over(self) -> None:
        self._watch = None
        self._late()
