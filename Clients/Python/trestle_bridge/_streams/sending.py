"""The streams in options or in a result. They are made, named, and written while the call with the names runs."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Optional

from .._core.incoming import ProvidedCall
from .._core.outgoing import Outgoing, result_of
from .._core.stream_values import AnySource, check_waits_not, known_bytes
from .ends import ByteWriter
from .making import Streaming
from .sources import close_source, start_sending


class Sending:
    """The streams of one value. A context manager: if an exception leaves it, the streams end with this error."""

    def __init__(self, streaming: Streaming, outgoing: Outgoing) -> None:
        self._streaming = streaming
        self._outgoing = outgoing
        self._writers: list[ByteWriter] = []
        # The sources that are not being read yet, in the order of their writers.
        self._sources: list[AnySource] = []
        self._source_error: Optional[Exception] = None

    def make(self, call: Optional[ProvidedCall] = None, timeout: Optional[float] = None) -> bytes:
        """Makes the streams, and returns the JSON of the value with their names.

        Args:
            call: the call whose result this is; None for options.
            timeout: the timeout for each stream, in seconds.

        Raises:
            BridgeError: a stream cannot be made, or a source was already used.
        """
        try:
            for stream in self._outgoing.streams:
                source = stream._take()
                self._sources.append(source)
                check_waits_not(source)
                known = known_bytes(source, stream.total_bytes)
                self._writers.append(
                    self._streaming._make_writer(stream.type, stream.total_bytes, call, timeout, known))
        except BaseException as error:
            self.end(error)
            raise
        return self._outgoing.text([writer.name for writer in self._writers])

    def start(self) -> None:
        """Begins to write the streams. Called after their names were sent."""
        try:
            for writer in self._writers:
                start_sending(self._sources[0], writer, self._note)
                self._sources.pop(0)
        except RuntimeError as error:
            # The limits of the process forbid one more thread. The readers get this error.
            self.end(error)

    def _note(self, error: Exception) -> None:
        self._source_error = error

    def end(self, error: Optional[BaseException]) -> None:
        """Ends the streams that are not complete. A source that is being read is closed after its next chunk."""
        for writer in self._writers:
            writer.abort(error)
        while self._sources:
            close_source(self._sources.pop())

    def discard(self) -> None:
        """Closes the sources without making the streams."""
        self._sources = [stream._take() for stream in self._outgoing.streams]
        self.end(None)

    def __enter__(self) -> Sending:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if error is None:
            return
        self.end(error)
        if self._source_error is not None and error.__cause__ is None:
            # Shows the cause in the traceback: the call failed because its stream did.
            error.__cause__ = self._source_error


def made_result(streaming: Streaming, call: ProvidedCall, value: Any) -> tuple[bytes, Sending]:
    """Makes the streams in a result for its call. Returns the JSON of the result, and the streams, which must be
    started after the result was sent.

    Raises:
        BridgeError: the error that the caller gets instead of the result.
    """
    sending = Sending(streaming, result_of(call.task, value))
    if call.one_way:
        # No caller receives the names.
        sending.discard()
        return b"null", sending
    return sending.make(call), sending
