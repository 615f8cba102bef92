"""Timers. Their owner runs those that are due."""

from __future__ import annotations

import heapq
from itertools import count
from typing import Callable, Optional

Clock = Callable[[], float]
"""Returns the time of a monotonic clock in seconds, such as `time.monotonic`."""


class Timer:
    """An action that runs once."""

    __slots__ = ("action", "_timers")

    def __init__(self, timers: Timers, action: Callable[[], None]) -> None:
        self._timers = timers
        self.action: Optional[Callable[[], None]] = action

    def cancel(self) -> None:
        """Cancels the timer. Does nothing if it has run or was already cancelled."""
        if self.action is not None:
            self.action = None
            self._timers.note_cancelled()


class Timers:
    """A heap of timers. Cancelled timers stay until their time, or until they are more than half of the heap."""

    _FEW = 64

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._heap: list[tuple[float, int, Timer]] = []
        self._numbers = count()
        self._cancelled = 0

    def after(self, seconds: float, action: Callable[[], None]) -> Timer:
        """Runs `action` after `seconds` seconds."""
        timer = Timer(self, action)
        heapq.heappush(self._heap, (self.clock() + seconds, next(self._numbers), timer))
        return timer

    def note_cancelled(self) -> None:
        """Records that a timer in the heap was cancelled."""
        self._cancelled += 1
        if self._cancelled > self._FEW and self._cancelled * 2 > len(self._heap):
            self._heap = [entry for entry in self._heap if entry[2].action is not None]
            heapq.heapify(self._heap)
            self._cancelled = 0

    @property
    def next_at(self) -> Optional[float]:
        """The time of the next timer, by the clock; None if there is none."""
        while self._heap and self._heap[0][2].action is None:
            heapq.heappop(self._heap)
            self._cancelled = max(0, self._cancelled - 1)
        return self._heap[0][0] if self._heap else None

    def run_due(self) -> None:
        """Runs the actions that are due."""
        now = self.clock()
        while (at := self.next_at) is not None and at <= now:
            timer = heapq.heappop(self._heap)[2]
            action, timer.action = timer.action, None
            if action is not None:
                action()
