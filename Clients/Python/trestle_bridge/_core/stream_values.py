"""`Stream`: bytes that stand in options or in a result, and what they come from."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable, Iterator
from typing import BinaryIO, Optional, Union, cast

from .errors import OPTIONS_INVALID, BridgeError, started_data

Bytes = Union[bytes, bytearray, memoryview]
"""What is written to a stream."""

Source = Union[Bytes, BinaryIO, Iterable[Bytes]]
"""What is written to a stream in one go: bytes, a binary file, or what yields bytes."""

AnySource = Union[Source, AsyncIterable[Bytes]]
"""The same, and what yields bytes asynchronously, for asyncio."""

_FILE_CHUNK_BYTES = 256 << 10


class Stream:
    """Bytes of any size, anywhere in the options of a `call`, or in the result of a task.

    The library makes a stream of the daemon, sends its name in this place, and writes the source to it beside the call.
    Where the call fails, or the source raises, the stream ends with that error. The library closes the source when it
    has no more use for it: a file, a generator, a reader.

    Args:
        source: bytes, a binary file, what yields bytes, or, with asyncio, an asynchronous iterator. Bytes and lists of
            them may be sent again; everything else is read once.
        type: a media type, for the reader.
        total_bytes: how many bytes there will be, for the reader.
    """

    # What programs import it from.
    __module__ = "trestle_bridge"

    def __init__(self, source: AnySource, type: Optional[str] = None, total_bytes: Optional[int] = None) -> None:
        self.source = source
        self.type = type
        self.total_bytes = total_bytes
        self._is_used = False

    @property
    def _is_one_pass(self) -> bool:
        return not isinstance(self.source, (bytes, bytearray, memoryview, list, tuple))

    def _take(self) -> AnySource:
        """The source, for one stream of the daemon.

        Raises:
            BridgeError: `options.invalid`: there is nothing left to read.
        """
        if self._is_used and self._is_one_pass:
            kind = type(self.source).__name__
            text = f"this Stream was sent before, and its source ({kind}) can be read once: make another Stream"
            raise BridgeError(OPTIONS_INVALID, text, started_data(False))
        self._is_used = True
        return self.source


def check_waits_not(source: AnySource) -> None:
    """Refuses a source that only an event loop can read.

    Raises:
        BridgeError: `options.invalid`.
    """
    if hasattr(source, "__aiter__"):
        kind = type(source).__name__
        text = f"the source of a Stream ({kind}) is asynchronous: only trestle_bridge.aio and async functions send it"
        raise BridgeError(OPTIONS_INVALID, text, started_data(False))


def known_bytes(source: AnySource, total_bytes: Optional[int]) -> Optional[int]:
    """How many bytes there will be, where that is known.

    Args:
        total_bytes: what the program says.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        return memoryview(source).nbytes
    return total_bytes


def chunks(source: Source) -> Iterator[Bytes]:
    """The bytes of a source, part by part."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        yield source
    elif hasattr(source, "read"):
        while data := cast(BinaryIO, source).read(_FILE_CHUNK_BYTES):
            yield data
    else:
        yield from source
