"""The reader's end of a stream, without the waiting: its requests, their answers, and its end."""

from __future__ import annotations

from typing import Generic, Optional

from .errors import CALL_CANCELLED, BridgeError
from .incoming import ProvidedCall
from .pipe_reading import PipeReading
from .streaming import Begin, End, MadeStream, Pending, Steps, chunk


class Reading(Generic[Pending]):
    """Reads one stream: from a pipe if the daemon passes one, else in messages. The next message is requested while the
    previous chunk is processed.

    Attributes:
        is_over: whether the stream has ended; nothing more is requested.
    """

    def __init__(
        self, begin: Begin[Pending], name: str, call: Optional[ProvidedCall], made: Optional[MadeStream],
    ) -> None:
        """
        Args:
            made: the stream, if this process made it.
        """
        self._end = End(begin, name, "read", call)
        self._attaching: Optional[Pending] = None
        self._pipe: Optional[PipeReading[Pending]] = None
        self._pending: Optional[Pending] = None
        self._is_taken = False
        self._count = 0
        self.is_over = False
        self._error: Optional[BridgeError] = None
        # Takes the end now: if the call ended before, a plugin's first read would be cancelled with it.
        self._is_first = call is not None
        if made is not None and made.is_attached:
            self._is_taken = True
            self._pipe = PipeReading(self._end, *self._end.with_pipe(made.pipe, self._end.read), False)
        elif self._is_first:
            self._take()

    def _take(self) -> None:
        """Requests a pipe, and immediately sends a read, which is needed in both cases: with a pipe its answer is the
        end of the stream, without a pipe the first bytes."""
        self._is_taken = True
        self._attaching = self._end.attach()
        try:
            self._pending = self._end.read()
        except BridgeError:
            self.leave()
            raise

    def next_chunk(self) -> Steps[Pending, Optional[bytes]]:
        """Returns the next bytes; None at the end of a complete stream, or after `leave`."""
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
            # Raised each time: an incomplete stream must not look complete if it is read again.
            raise self._error.copy()
        return None

    def _attach(self) -> Steps[Pending, None]:
        if not self._is_taken:
            self._take()
        if self._attaching is None:
            return
        try:
            # If the waiting is cancelled, the answer can still be received later.
            pipe = yield from self._end.attached(self._attaching)
        except BridgeError as error:
            self._attaching = None
            if self._is_first and error.code == CALL_CANCELLED:
                return  # the call has ended; the answer to the read decides
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
            pass  # this chunk has arrived; the next one is requested again

    def _failed(self, error: BridgeError) -> None:
        was_first, self._is_first = self._is_first, False
        self._pending = None
        if not (was_first and error.code == CALL_CANCELLED):
            self.is_over, self._error = True, error

    def leave(self) -> None:
        """Ends the stream. Does nothing if it has ended."""
        if not self.is_over:
            self.is_over = True
            if self._pipe is not None:
                self._pipe.leave()
            elif self._attaching is not None:
                # It may be a pipe, with the end of the stream already reported.
                self._end.complete(self._count)
            else:
                self._end.leave()
