"""Passes values from the core to a waiting asyncio task, both on the event loop's thread."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Generic, Optional, TypeVar, Union

T = TypeVar("T")
E = TypeVar("E")


class Ended(Generic[E]):
    """The end of a mailbox, and the way in which it ended."""

    def __init__(self, how: E) -> None:
        self.how = how


class Mailbox(Generic[T, E]):
    """A bounded queue with an end. Beyond its capacity, the oldest values are dropped and counted."""

    def __init__(self, capacity: int) -> None:
        self._items: deque[T] = deque()
        self._capacity = capacity
        self._end: Optional[Ended[E]] = None
        self._news = asyncio.Event()
        self._dropped = 0

    def put(self, value: T) -> None:
        """Adds a value."""
        if len(self._items) >= self._capacity:
            self._items.popleft()
            self._dropped += 1
        self._items.append(value)
        self._news.set()

    def finish(self, how: E) -> None:
        """Ends the mailbox. The reader still gets the values in it."""
        if self._end is None:
            self._end = Ended(how)
            self._news.set()

    def take_dropped(self) -> int:
        """Returns the number of values dropped since the last call."""
        dropped, self._dropped = self._dropped, 0
        return dropped

    @property
    def has_ended(self) -> bool:
        """Whether the mailbox has ended. It may still contain values."""
        return self._end is not None

    async def take(self) -> Union[T, Ended[E]]:
        """Waits for the next value. After the last value, returns the end, also repeatedly. A task that is cancelled
        while it waits loses no value."""
        while True:
            if self._items:
                return self._items.popleft()
            if self._end is not None:
                return self._end
            self._news.clear()
            await self._news.wait()
