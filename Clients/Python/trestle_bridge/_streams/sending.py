"""The streams that stand in options or in a result: made, named, and written beside the call that has the names."""

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
    """The streams of one value. Left as a context manager with an exception, it ends them with this error."""

    def __init__(self, streaming: Streaming, outgoing: Outgoing) -> None:
        self._streaming = streaming
        self._outgoing = outgoing
        self._writers: list[ByteWriter] = []
        # Those that nobody reads yet, in the order of their writers.
        self._sources: list[AnySource] = []
        self._source_error: Optional[Exception] = None

    def make(self, call: Optional[ProvidedCall] = None, timeout: Optional[float] = None) -> bytes:
        """Makes the streams, and returns the JSON of the value with their names.

        Args:
            call: the call whose result this is.
            timeout: seconds, for each stream.

        Raises:
            BridgeError: a stream cannot be made, or a source was sent before.
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
        """Begins to write them: their names are on their way."""
        try:
            for writer in self._writers:
                start_sending(self._sources[0], writer, self._note)
                self._sources.pop(0)
        except RuntimeError as error:
            # The limits of the process forbid one more thread. The readers learn of it.
            self.end(error)

    def _note(self, error: Exception) -> None:
        self._source_error = error

    def end(self, error: Optional[BaseException]) -> None:
        """Ends what is not written yet. A source that is being read is closed once it has yielded."""
        for writer in self._writers:
            writer.abort(error)
        while self._sources:
            close_source(self._sources.pop())

    def discard(self) -> None:
        """Closes the sources of streams that are not made."""
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
            # What a person looks for: the call failed as its stream did.
            error.__cause__ = self._source_error


def made_result(streaming: Streaming, call: ProvidedCall, value: Any) -> tuple[bytes, Sending]:
    """A result's JSON, whose streams are made for the call, and what starts them once the result was sent.

    Raises:
        BridgeError: what the caller gets instead.
    """
    sending = Sending(streaming, result_of(call.task, value))
    if call.one_way:
        # Nobody gets the names.
        sending.discard()
        return b"null", sending
    return sending.make(call), sending
