"""The attempts to connect: when the next one is made, and how long one may take."""

from __future__ import annotations

from typing import Callable, Optional

from .backoff import Backoff
from .settings import Settings
from .timers import Timer, Timers

_FULL_PAUSE = 0.02
"""Seconds until a daemon whose queue of new connections is full is tried again."""


class Attempts:
    """Counts attempts, and sets their timers.

    `connect` is called when one is due, `late` when one has taken `connect_timeout` without an answer of the daemon.
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
        self._first_ends_at = 0.0
        self._watch: Optional[Timer] = None

    def begin(self) -> None:
        """The first attempt is made now."""
        self._first_ends_at = self._timers.clock() + self._settings.wait_for_daemon
        self.watch()

    def watch(self) -> None:
        """An attempt is under way."""
        if self._watch is None:
            self._watch = self._timers.after(self._settings.limits.connect_timeout, self._time_is_over)

    def stop_watching(self) -> None:
        """It has ended."""
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    def forget(self) -> None:
        """A connection has worked: the back-off begins again."""
        self._count = 0

    def repeat_first(self) -> bool:
        """The first connection failed. Returns whether it is tried again: for as long as the settings allow."""
        left = self._first_ends_at - self._timers.clock()
        if left <= 0:
            return False
        self._later(min(left, self._first_pauses.pause(self._count)))
        return True

    def repeat(self) -> None:
        """A later connection failed, or was lost: it is made again after a pause, unless that is not wanted."""
        if self._settings.backoff is not None:
            self._later(self._settings.backoff.pause(self._count))

    def repeat_soon(self) -> None:
        """The daemon is there, and has no room at the moment."""
        self.watch()
        self._timers.after(_FULL_PAUSE, self._connect)

    def _later(self, pause: float) -> None:
        self.stop_watching()
        self._timers.after(pause, self._connect)
        self._count += 1

    def _time_is_over(self) -> None:
        self._watch = None
        self._late()
