"""The reader's end of a stream, without the waiting: what is asked for, what an answer means, and when it is over."""

from __future__ import annotations

from typing import Generic, Optional

from .errors import CALL_CANCELLED, BridgeError
from .incoming import ProvidedCall
from .pipe_reading import PipeReading
from .streaming import Begin, End, MadeStream, Pending, Steps, chunk


class Reading(Generic[Pending]):
    """Reads one stream: from a pipe, where the daemon passes one, else in messages, of which the next one is asked for
    while the chunk before is used.

    Attributes:
        is_over: nothing more is asked for.
    """

    def __init__(
        self, begin: Begin[Pending], name: str, call: Optional[ProvidedCall], made: Optional[MadeStream],
    ) -> None:
        """
        Args:
            made: the stream, where it was made here.
        """
        self._end = End(begin, name, "read", call)
        self._attaching: Optional[Pending] = None
        self._pipe: Optional[PipeReading[Pending]] = None
        self._pending: Optional[Pending] = None
        self._is_taken = False
        self._count = 0
        self.is_over = False
        self._error: Optional[BridgeError] = None
        # The end is taken now: later the call may have ended, which ends a plugin's first read with it.
        self._is_first = call is not None
        if made is not None and made.is_attached:
            self._is_taken = True
            self._pipe = PipeReading(self._end, *self._end.with_pipe(made.pipe, self._end.read), False)
        elif self._is_first:
            self._take()

    def _take(self) -> None:
        """Asks for a pipe, and in the same message for what is needed with it and without: the read ends with the
        stream, or has the first bytes."""
        self._is_taken = True
        self._attaching = self._end.attach()
        try:
            self._pending = self._end.read()
        except BridgeError:
            self.leave()
            raise

    def next_chunk(self) -> Steps[Pending, Optional[bytes]]:
        """The next bytes; None: that was all, or it was left."""
        while not self.is_over:
            try:
                yield from self._attach()
                data = yield from (self._pipe.next_chunk() if self._pipe else self._next_message())
            except BridgeError as error:
                self._failed(error)
                continue
            if data is None:
                self.is_over = True
            return data
        if self._error is not None:
            # Each time: a stream that was cut must not look complete to who reads again.
            raise self._error.copy()
        return None

    def _attach(self) -> Steps[Pending, None]:
        if not self._is_taken:
            self._take()
        if self._attaching is None:
            return
        try:
            # Where the waiting is cancelled, the answer is still to be had.
            pipe = yield from self._end.attached(self._attaching)
        except BridgeError as error:
            self._attaching = None
            if self._is_first and error.code == CALL_CANCELLED:
                return  # the call has ended; what the read ends with counts
            raise
        self._attaching = None
        if pipe is None:
            return
        ending = self._end.read() if self._pending is None else self._pending
        self._pipe = PipeReading(self._end, pipe, ending, self._is_first)
        self._pending, self._is_first = None, False
        if self.is_over:
            pipe.close()

    def _next_message(self) -> Steps[Pending, Optional[bytes]]:
        if self._pending is None:
            self._pending = self._end.read()
        data = chunk((yield self._pending), self._count)
        self._pending, self._is_first = None, False
        if data is not None:
            self._count += len(data)
            self._ask_ahead()
        return data

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
            if self._pipe is not None:
                self._pipe.leave()
            elif self._attaching is not None:
                # It may be a pipe, with the end of the stream already said.
                self._end.complete(self._count)
            else:
                self._end.leave()
