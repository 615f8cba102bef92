"""Points in time at which something is to be done, by the caller that asks for those that are due."""

from __future__ import annotations

import heapq
from itertools import count
from typing import Callable, Optional

Clock = Callable[[], float]
"""Seconds that only grow, from anywhere; `time.monotonic`."""


class Timer:
    """Something that is to be done once."""

    __slots__ = ("action", "_timers")

    def __init__(self, timers: Timers, action: Callable[[], None]) -> None:
        self._timers = timers
        self.action: Optional[Callable[[], None]] = action

    def cancel(self) -> None:
        """Does nothing where it was done, or cancelled, already."""
        if self.action is not None:
            self.action = None
            self._timers.note_cancelled()


class Timers:
    """A heap of timers. Cancelled ones stay until their time, or until they are the greater part."""

    _FEW = 64

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._heap: list[tuple[float, int, Timer]] = []
        self._numbers = count()
        self._cancelled = 0

    def after(self, seconds: float, action: Callable[[], None]) -> Timer:
        """Has `action` done so many seconds from now."""
        timer = Timer(self, action)
        heapq.heappush(self._heap, (self.clock() + seconds, next(self._numbers), timer))
        return timer

    def note_cancelled(self) -> None:
        """A timer in the heap is no longer of use."""
        self._cancelled += 1
        if self._cancelled > self._FEW and self._cancelled * 2 > len(self._heap):
            self._heap = [entry for entry in self._heap if entry[2].action is not None]
            heapq.heapify(self._heap)
            self._cancelled = 0

    @property
    def next_at(self) -> Optional[float]:
        """When the next one is due, by the clock."""
        while self._heap and self._heap[0][2].action is None:
            heapq.heappop(self._heap)
            self._cancelled = max(0, self._cancelled - 1)
        return self._heap[0][0] if self._heap else None

    def run_due(self) -> None:
        """Does what is due."""
        now = self.clock()
        while (at := self.next_at) is not None and at <= now:
            timer = heapq.heappop(self._heap)[2]
            action, timer.action = timer.action, None
            if action is not None:
                action()
