"""Calls that wait to begin."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from typing import Any, Optional

from .incoming import ProvidedCall

MAX_STARTING = 32
"""The number of coroutines that may wait for their first step on an event loop. Further calls wait in the backlog,
where users take turns."""


class CallBacklog:
    """Calls that have arrived and not begun, with their handlers, in one queue per user. Users take turns: a user who
    sends thousands of calls delays a call of another user only by a few calls. Any thread."""

    def __init__(self, max_of_user: int = sys.maxsize) -> None:
        """
        Args:
            max_of_user: the maximum number of waiting calls of one user.
        """
        self._max_of_user = max_of_user
        self._lock = threading.Lock()
        # By uid, in the order of their turns. No queue is empty.
        self._lines: OrderedDict[Optional[int], OrderedDict[ProvidedCall, Any]] = OrderedDict()

    def append(self, call: ProvidedCall, handler: Any) -> bool:
        """Adds a call to its user's queue. Returns False if that queue is full."""
        with self._lock:
            line = self._lines.get(call.caller.uid, OrderedDict())
            if len(line) >= self._max_of_user:
                return False
            line[call] = handler
            self._lines[call.caller.uid] = line
            return True

    def pop(self) -> Optional[tuple[Any, Any]]:
        """Removes and returns the next call of the user whose turn it is, and its handler; None if no call waits."""
        with self._lock:
            if not self._lines:
                return None
            uid, line = self._lines.popitem(last=False)
            call, handler = line.popitem(last=False)
            if line:
                self._lines[uid] = line
            return call, handler

    def remove(self, call: ProvidedCall) -> bool:
        """Removes a call. Returns whether it was waiting."""
        with self._lock:
            line = self._lines.get(call.caller.uid)
            if line is None or call not in line:
                return False
            del line[call]
            if not line:
                del self._lines[call.caller.uid]
            return True
