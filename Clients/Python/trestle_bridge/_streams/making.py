"""What bridges and plugins have in common for streams."""

from __future__ import annotations

from typing import Any, Optional

from .._core import wire
from .._core.incoming import ProvidedCall
from .._core.stream_values import Source, known_bytes
from .._core.stream_writing import is_worth_pipe
from .._core.streaming import made_stream, making
from .ends import ByteReader, ByteWriter
from .sources import start_sending
from .waiting import Started


class Streaming:
    """Makes, writes and reads streams by calls of the daemon's tasks."""

    def _begin_about_stream(
        self, task: str, options: dict[str, Any], call: Optional[ProvidedCall], timeout: Optional[float] = None
    ) -> Started:
        """Begins a call, for a call that this end works on."""
        raise NotImplementedError

    def _message_bytes(self) -> int:
        """The longest message that the daemon takes."""
        raise NotImplementedError

    def make_stream(
        self, *, type: Optional[str] = None, total_bytes: Optional[int] = None, call: Optional[ProvidedCall] = None
    ) -> ByteWriter:
        """Makes a stream and holds its writer's end. Options or a result carry its name to the reader.

        Args:
            type: a media type, for the reader.
            total_bytes: how many bytes there will be, for the reader.
            call: the call that a handler works on, and whose caller reads the stream.

        Raises:
            BridgeError: `quota.exceeded` or `busy`: there are too many.
        """
        return self._make_writer(type, total_bytes, call, None, total_bytes)

    def _make_writer(
        self, type: Optional[str], total_bytes: Optional[int], call: Optional[ProvidedCall], timeout: Optional[float],
        known_bytes: Optional[int],
    ) -> ByteWriter:
        options = making("write", type, total_bytes, attach=is_worth_pipe(known_bytes))
        made = made_stream(self._begin_about_stream(wire.STREAM_NEW, options, call, timeout).result())
        return ByteWriter(
            self._begin_about_stream, self._message_bytes, made.name, known_bytes=known_bytes, made=made)

    def send_stream(
        self, source: Source, *, type: Optional[str] = None, total_bytes: Optional[int] = None,
        call: Optional[ProvidedCall] = None,
    ) -> str:
        """Makes a stream and writes all of a source to it, on a thread of its own. Where the source raises, the stream
        ends with an error; what goes wrong otherwise is in the log of this package, at the level of debugging.

        Args:
            source: bytes, a binary file, or what yields bytes. It is closed at the end.
            type, total_bytes, call: as with `make_stream`.

        Returns:
            The stream's name.

        Raises:
            BridgeError: as with `make_stream`.
        """
        writer = self._make_writer(type, total_bytes, call, None, known_bytes(source, total_bytes))
        start_sending(source, writer)
        return writer.name

    def make_stream_to_read(self, *, call: Optional[ProvidedCall] = None) -> ByteReader:
        """The same for the reader's end: somebody else writes."""
        options = making("read", attach=True)
        made = made_stream(self._begin_about_stream(wire.STREAM_NEW, options, call).result())
        return ByteReader(self._begin_about_stream, made.name, made=made)

    def read_stream(self, name: str, *, call: Optional[ProvidedCall] = None) -> ByteReader:
        """Reads the stream of a name that came in options or a result.

        Args:
            call: the call that a handler works on, and whose options have the name.
        """
        return ByteReader(self._begin_about_stream, name, call)

    def write_stream(self, name: str, *, call: Optional[ProvidedCall] = None) -> ByteWriter:
        """Writes to a stream that its reader has made."""
        return ByteWriter(self._begin_about_stream, self._message_bytes, name, call=call)
