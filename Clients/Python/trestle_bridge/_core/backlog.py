"""Calls that wait to begin."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from typing import Any, Optional

from .incoming import ProvidedCall

MAX_STARTING = 32
"""Coroutines that an event loop has to begin with; further calls wait in the backlog, where users take turns."""


class CallBacklog:
    """Calls that have come and not begun, in a line for each user, with what begins them. Users take turns, so that one
    who sends thousands of calls delays a call of another by the work of a few. Any thread."""

    def __init__(self, max_of_user: int = sys.maxsize) -> None:
        """
        Args:
            max_of_user: calls of one user that wait.
        """
        self._max_of_user = max_of_user
        self._lock = threading.Lock()
        # By uid, in the order of their turns. No line is empty.
        self._lines: OrderedDict[Optional[int], OrderedDict[ProvidedCall, Any]] = OrderedDict()

    def append(self, call: ProvidedCall, handler: Any) -> bool:
        """Takes in the last call of a user; False: as many as may wait do."""
        with self._lock:
            line = self._lines.get(call.caller.uid, OrderedDict())
            if len(line) >= self._max_of_user:
                return False
            line[call] = handler
            self._lines[call.caller.uid] = line
            return True

    def pop(self) -> Optional[tuple[Any, Any]]:
        """Takes the next call of the user whose turn it is, and its handler."""
        with self._lock:
            if not self._lines:
                return None
            uid, line = self._lines.popitem(last=False)
            call, handler = line.popitem(last=False)
            if line:
                self._lines[uid] = line
            return call, handler

    def remove(self, call: ProvidedCall) -> bool:
        """Takes a call out; whether it waited."""
        with self._lock:
            line = self._lines.get(call.caller.uid)
            if line is None or call not in line:
                return False
            del line[call]
            if not line:
                del self._lines[call.caller.uid]
            return True
