"""The reader's end of a stream, without the waiting: what is asked for, what an answer means, and when it is over."""

from __future__ import annotations

from typing import Generic, Optional

from .errors import CALL_CANCELLED, BridgeError
from .incoming import ProvidedCall
from .streaming import Begin, End, Pending, Steps, chunk


class Reading(Generic[Pending]):
    """Reads one stream. The next chunk is asked for while the one before is used.

    Attributes:
        is_over: nothing more is asked for.
    """

    def __init__(self, begin: Begin[Pending], name: str, call: Optional[ProvidedCall]) -> None:
        self._end = End(begin, name, call)
        self._pending: Optional[Pending] = None
        self._count = 0
        self.is_over = False
        self._error: Optional[BridgeError] = None
        # The end is taken now: later the call may have ended, which ends a plugin's first read with it.
        self._is_first = call is not None
        if self._is_first:
            self._pending = self._end.read()

    def next_chunk(self) -> Steps[Pending, Optional[bytes]]:
        """The next bytes; None: that was all, or it was left."""
        while not self.is_over:
            if self._pending is None:
                self._pending = self._end.read()
            try:
                # Where the waiting is cancelled, the answer is still to be had.
                answer = yield self._pending
                data = chunk(answer, self._count)
            except BridgeError as error:
                self._failed(error)
                continue
            self._pending, self._is_first = None, False
            if data is None:
                self.is_over = True
                return None
            self._count += len(data)
            self._ask_ahead()
            return data
        if self._error is not None:
            # Each time: a stream that was cut must not look complete to who reads again.
            raise self._error.copy()
        return None

    def _ask_ahead(self) -> None:
        try:
            self._pending = self._end.read()
        except BridgeError:
            pass  # this chunk is there; what comes behind it is asked for again

    def _failed(self, error: BridgeError) -> None:
        was_first, self._is_first = self._is_first, False
        self._pending = None
        if not (was_first and error.code == CALL_CANCELLED):
            self.is_over, self._error = True, error

    def leave(self) -> None:
        """Ends the stream, where it is not over."""
        if not self.is_over:
            self.is_over = True
            self._end.leave()
