"""The reader's end of a stream over a pipe, without the waiting."""

from __future__ import annotations

from typing import Generic, Optional

from . import wire
from .errors import CALL_CANCELLED, STREAM_INVALID, BridgeError
from .pipes import Pipe
from .streaming import End, Pending, PipeWait, Steps, check_receipt


class PipeReading(Generic[Pending]):
    """Reads a pipe, and compares the number of received bytes with the writer's number."""

    def __init__(self, end: End[Pending], pipe: Pipe, ending: Pending, is_for_call: bool) -> None:
        """
        Args:
            ending: a read call about the stream. Its answer is the end or the error of the stream.
            is_for_call: whether `ending` was begun for an incoming call, with which it may be cancelled.
        """
        self._end = end
        self._pipe = pipe
        self._ending = ending
        self._is_for_call = is_for_call
        self._count = 0
        self._has_waited = False
        # From the daemon: the total number of bytes, or the reason why the stream is not complete.
        self._total: Optional[int] = None
        self._error: Optional[BridgeError] = None
        self._closing: Optional[Pending] = None

    def next_chunk(self) -> Steps[Pending, Optional[bytes]]:
        """Returns the next bytes; None at the end of a complete stream.

        Raises:
            BridgeError: the stream ended before it was complete.
        """
        try:
            with self._pipe.used():
                return (yield from self._next())
        except BridgeError:
            self._pipe.close()
            raise

    def _next(self) -> Steps[Pending, Optional[bytes]]:
        if not self._has_waited:
            yield None
        self._has_waited = False
        while True:
            if self._ending.done:
                yield from self._learn()
            if self._total == self._count:
                yield from self._finish()
                return None
            if data := self._pipe.read():
                self._count += len(data)
                return data
            if self._error is not None:
                raise self._error
            if data is None:
                yield PipeWait(self._pipe, self._ending, for_bytes=True)
                self._has_waited = True
            elif self._total is None:
                # The end of the pipe is not the end of the stream.
                yield from self._learn()
            else:
                text = f"{self._count} of the {self._total} bytes of the stream were received"
                error = BridgeError(STREAM_INVALID, text)
                self._end.leave(error)
                raise error

    def _learn(self) -> Steps[Pending, None]:
        """Waits for the daemon's answer about the end of the stream."""
        if self._total is not None or self._error is not None:
            return
        try:
            answer = yield self._ending
        except BridgeError as error:
            was_for_call, self._is_for_call = self._is_for_call, False
            if was_for_call and error.code == CALL_CANCELLED:
                self._ending = self._end.read()
                if self._pipe.alarm is not None:
                    self._ending.when_done(self._pipe.alarm.ring)
            else:
                self._error = error
        else:
            self._total = answer[wire.BYTES]

    def _finish(self) -> Steps[Pending, None]:
        """Reports to the daemon that every byte has arrived, which completes the stream."""
        self._pipe.close()
        if self._closing is None:
            self._closing = self._end.complete(self._count)
        check_receipt((yield self._closing))

    def leave(self) -> None:
        """Stops reading. Any thread. The daemon compares the number of bytes with the total."""
        self._pipe.close()
        self._end.complete(self._count)
