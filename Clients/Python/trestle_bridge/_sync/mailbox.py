"""Values on their way from the I/O thread to a thread that waits for them."""

from __future__ import annotations

import queue
import time
from typing import Any, Generic, Optional, TypeVar, Union

T = TypeVar("T")
E = TypeVar("E")


class Ended(Generic[E]):
    """Nothing more comes; how it ended."""

    def __init__(self, how: E) -> None:
        self.how = how


class Mailbox(Generic[T, E]):
    """A bounded queue with an end. Beyond its capacity the oldest values are dropped, and counted.

    The I/O thread puts; any thread may take. Made of a SimpleQueue, whose operations a signal cannot
    interrupt half way.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._items: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._end: Optional[Ended[E]] = None
        # Each of the two counts is written by one thread alone: the first by the I/O thread, the other by the
        # reader.
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
        """I/O thread: nothing more comes. What is in it is still handed out."""
        if self._end is None:
            self._end = Ended(how)
            self._items.put(self._end)

    def take_dropped(self) -> int:
        """How many were dropped since this was asked last."""
        dropped = self._dropped - self._dropped_told
        self._dropped_told += dropped
        return dropped

    @property
    def has_ended(self) -> bool:
        """Whether the end has come, though there may be values before it."""
        return self._end is not None

    def take(self, timeout: Optional[float] = None) -> Union[T, Ended[E]]:
        """The next value, or the end, again and again.

        Raises:
            TimeoutError: neither came within so many seconds.
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
                # For the other readers, and for the next time.
                self._items.put(end)
                return end
            value: T = item
            return value
