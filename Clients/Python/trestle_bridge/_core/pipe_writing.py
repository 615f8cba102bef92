"""The writer's end of a stream over a pipe, without the waiting."""

from __future__ import annotations

from typing import Generic, NoReturn

from .errors import STREAM_CLOSED, STREAM_NOT_FOUND, BridgeError
from .pipes import Pipe
from .streaming import End, Pending, PipeWait, Steps, check_receipt


class PipeWriting(Generic[Pending]):
    """Writes to a pipe, and counts its bytes."""

    def __init__(self, end: End[Pending], pipe: Pipe, leaving: Pending) -> None:
        """
        Args:
            leaving: a call that writes no bytes. It is answered when the reader has closed its end.
        """
        self._end = end
        self._pipe = pipe
        self._leaving = leaving
        self._count = 0

    def write(self, data: memoryview) -> Steps[Pending, None]:
        """Writes all data, as the pipe has room."""
        with self._pipe.used():
            position, has_waited = 0, False
            while position < len(data):
                if not has_waited:
                    yield None
                has_waited = False
                written = None if self._leaving.done else self._pipe.write(data[position:])
                if written is None:
                    yield from self._fail()
                elif written == 0:
                    yield PipeWait(self._pipe, self._leaving, for_bytes=False)
                    has_waited = True
                else:
                    position += written
                    self._count += written

    def _fail(self) -> Steps[Pending, NoReturn]:
        """Raises the reason, from the daemon, why the pipe has no reader."""
        self._pipe.close()
        yield self._leaving
        raise BridgeError(STREAM_CLOSED, "the reader has closed the stream")

    def close(self) -> Steps[Pending, None]:
        """Completes the stream. Ends when the reader has every byte."""
        self._pipe.close()
        try:
            receipt = yield self._end.complete(self._count)
        except BridgeError as error:
            if error.code != STREAM_NOT_FOUND:
                raise
            # The daemon removes the stream once the reader has closed its end.
            yield from self._fail()
        else:
            check_receipt(receipt)

    def leave(self) -> None:
        """Stops writing. Any thread."""
        self._pipe.close()
