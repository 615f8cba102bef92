"""Passes values from the I/O thread to a waiting thread."""

from __future__ import annotations

import queue
import time
from typing import Any, Generic, Optional, TypeVar, Union

T = TypeVar("T")
E = TypeVar("E")


class Ended(Generic[E]):
    """The end of a mailbox, and the way in which it ended."""

    def __init__(self, how: E) -> None:
        self.how = how


class Mailbox(Generic[T, E]):
    """A bounded queue with an end. Beyond its capacity, the oldest values are dropped and counted.

    The I/O thread puts values; any thread may take them. It uses a SimpleQueue, whose operations are atomic with
    respect to signals.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._items: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._end: Optional[Ended[E]] = None
        # Only one thread writes each count: the I/O thread the first, the reader the second.
        self._dropped = 0
        self._dropped_told = 0

    def put(self, value: T) -> None:
        """I/O thread: adds a value."""
        if self._items.qsize() >= self._capacity:
            try:
                self._items.get_nowait()
                self._dropped += 1
            except queue.Empty:
                pass  # a reader was faster
        self._items.put(value)

    def finish(self, how: E) -> None:
        """I/O thread: ends the mailbox. The reader still gets the values in it."""
        if self._end is None:
            self._end = Ended(how)
            self._items.put(self._end)

    def take_dropped(self) -> int:
        """Returns the number of values dropped since the last call."""
        dropped = self._dropped - self._dropped_told
        self._dropped_told += dropped
        return dropped

    @property
    def has_ended(self) -> bool:
        """Whether the mailbox has ended. It may still contain values."""
        return self._end is not None

    def take(self, timeout: Optional[float] = None) -> Union[T, Ended[E]]:
        """Waits for the next value. After the last value, returns the end, also repeatedly.

        Raises:
            TimeoutError: neither arrived within `timeout` seconds.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            if self._end is not None and self._items.empty():
                return self._end
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            try:
                item = self._items.get(timeout=left)
            except queue.Empty:
                raise TimeoutError(f"nothing came within {timeout:g} s") from None
            end = self._end
            if end is not None and item is end:
                # For other readers and later calls.
                self._items.put(end)
                return end
            value: T = item
            return value
