"""What bridges and plugins have in common for streams, for asyncio."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Optional

from .._core import wire
from .._core.incoming import ProvidedCall
from .._core.streaming import Source, chunks, making
from .aio_ends import ByteReader, ByteWriter, Started


log = logging.getLogger("trestle_bridge")

# The event loop itself holds its tasks weakly.
_sending: set[asyncio.Task[None]] = set()


class Streaming:
    """Makes, writes and reads streams by calls of the daemon's tasks."""

    def _begin_about_stream(self, task: str, options: dict[str, Any], call: Optional[ProvidedCall]) -> Started:
        """Begins a call, for a call that this end works on."""
        raise NotImplementedError

    async def make_stream(
        self, *, type: Optional[str] = None, size: Optional[int] = None, call: Optional[ProvidedCall] = None
    ) -> ByteWriter:
        """Makes a stream and holds its writer's end. Options or a result carry its name to the reader.

        Args:
            type: a media type, for the reader.
            size: how many bytes there will be, for the reader.
            call: the call that a handler works on, and whose caller reads the stream.

        Raises:
            BridgeError: `quota.exceeded` or `busy`: there are too many.
        """
        made = await self._begin_about_stream(wire.STREAM_NEW, making("write", type, size), call).result()
        return ByteWriter(self._begin_about_stream, made[wire.STREAM], made[wire.ROOM])

    async def send_stream(
        self, source: Source, *, type: Optional[str] = None, size: Optional[int] = None,
        call: Optional[ProvidedCall] = None,
    ) -> str:
        """Makes a stream and writes all of a source to it, in an asyncio task of its own. Where the source raises, the
        stream ends with an error; what goes wrong otherwise is in the log of this package, at the level of debugging.

        Args:
            source: bytes, a binary file, whose reading must not take long, or what yields bytes.
            type, size, call: as with `make_stream`.

        Returns:
            The stream's name.

        Raises:
            BridgeError: as with `make_stream`.
        """
        writer = await self.make_stream(type=type, size=size, call=call)
        task = asyncio.ensure_future(_send(source, writer))
        _sending.add(task)
        task.add_done_callback(_sending.discard)
        return writer.name

    async def make_stream_to_read(self, *, call: Optional[ProvidedCall] = None) -> ByteReader:
        """The same for the reader's end: somebody else writes."""
        made = await self._begin_about_stream(wire.STREAM_NEW, making("read", None, None), call).result()
        return ByteReader(self._begin_about_stream, made[wire.STREAM])

    def read_stream(self, name: str, *, call: Optional[ProvidedCall] = None) -> ByteReader:
        """Reads the stream of a name that came in options or a result.

        Args:
            call: the call that a handler works on, and whose options have the name.
        """
        return ByteReader(self._begin_about_stream, name, call)

    def write_stream(self, name: str, *, call: Optional[ProvidedCall] = None) -> ByteWriter:
        """Writes to a stream that its reader has made."""
        return ByteWriter(self._begin_about_stream, name, call=call)


async def _send(source: Source, writer: ByteWriter) -> None:
    try:
        async with writer:
            for data in chunks(source):
                await writer.write(data)
    except Exception:
        log.debug("a stream was not sent whole", exc_info=True)
