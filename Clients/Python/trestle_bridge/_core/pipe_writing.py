"""The writer's end of a stream that is a pipe, without the waiting."""

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
            leaving: a write of no bytes, which is answered when the reader has left.
        """
        self._end = end
        self._pipe = pipe
        self._leaving = leaving
        self._count = 0

    def write(self, data: memoryview) -> Steps[Pending, None]:
        """Writes all of it, as there is room."""
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
        """Nobody reads: the daemon says why."""
        self._pipe.close()
        yield self._leaving
        raise BridgeError(STREAM_CLOSED, "the reader has closed the stream")

    def close(self) -> Steps[Pending, None]:
        """That was all. Ends when the reader has every byte."""
        self._pipe.close()
        try:
            receipt = yield self._end.complete(self._count)
        except BridgeError as error:
            if error.code != STREAM_NOT_FOUND:
                raise
            # The daemon forgets the stream once the reader has left.
            yield from self._fail()
        else:
            check_receipt(receipt)

    def leave(self) -> None:
        """It is written no further. Any thread."""
        self._pipe.close()
