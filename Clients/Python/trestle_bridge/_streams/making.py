"""The stream functions of bridges and plugins."""

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
    """Makes, writes and reads streams with calls of the daemon's tasks."""

    def _begin_about_stream(
        self, task: str, options: dict[str, Any], call: Optional[ProvidedCall], timeout: Optional[float] = None
    ) -> Started:
        """Begins a call about a stream, for an incoming call or for none."""
        raise NotImplementedError

    def _message_bytes(self) -> int:
        """Returns the maximum length of a message to the daemon."""
        raise NotImplementedError

    def make_stream(
        self, *, type: Optional[str] = None, total_bytes: Optional[int] = None, call: Optional[ProvidedCall] = None
    ) -> ByteWriter:
        """Makes a stream and returns its writer's end. Send its name to the reader in options or in a result.

        Args:
            type: a media type, for the reader.
            total_bytes: the total number of bytes, for the reader.
            call: the call of a handler; its caller reads the stream.

        Raises:
            BridgeError: `quota.exceeded` or `busy` if there are too many streams.
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
        """Makes a stream and writes the whole source to it, on a separate thread. If the source raises, the stream ends
        with an error. Other failures are logged by this package at the debug level.

        Args:
            source: bytes, a binary file, or an iterable of bytes. It is closed at the end.
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
        """Makes a stream and returns its reader's end. Another client or plugin writes it."""
        options = making("read", attach=True)
        made = made_stream(self._begin_about_stream(wire.STREAM_NEW, options, call).result())
        return ByteReader(self._begin_about_stream, made.name, made=made)

    def read_stream(self, name: str, *, call: Optional[ProvidedCall] = None) -> ByteReader:
        """Returns the reader's end of the stream with this name, which options or a result contained.

        Args:
            call: the call of a handler whose options contained the name.
        """
        return ByteReader(self._begin_about_stream, name, call)

    def write_stream(self, name: str, *, call: Optional[ProvidedCall] = None) -> ByteWriter:
        """Returns the writer's end of a stream that its reader made."""
        return ByteWriter(self._begin_about_stream, self._message_bytes, name, call=call)
