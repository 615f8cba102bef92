"""Values on their way from the core to a task that waits for them, both on the event loop's thread."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Generic, Optional, TypeVar, Union

T = TypeVar("T")
E = TypeVar("E")


class Ended(Generic[E]):
    """Nothing more comes; how it ended."""

    def __init__(self, how: E) -> None:
        self.how = how


class Mailbox(Generic[T, E]):
    """A bounded queue with an end. Beyond its capacity the oldest values are dropped, and counted."""

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
        """Nothing more comes. What is in it is still handed out."""
        if self._end is None:
            self._end = Ended(how)
            self._news.set()

    def take_dropped(self) -> int:
        """How many were dropped since this was asked last."""
        dropped, self._dropped = self._dropped, 0
        return dropped

    @property
    def has_ended(self) -> bool:
        """Whether the end has come, though there may be values before it."""
        return self._end is not None

    async def take(self) -> Union[T, Ended[E]]:
        """The next value, or the end, again and again. A task that is cancelled while it waits loses
        nothing."""
        while True:
            if self._items:
                return self._items.popleft()
            if self._end is not None:
                return self._end
            self._news.clear()
            await self._news.wait()
