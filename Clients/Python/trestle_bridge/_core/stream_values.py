"""`Stream`: bytes in options or in a result, and their sources."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable, Iterator
from typing import BinaryIO, Optional, Union, cast

from .errors import OPTIONS_INVALID, BridgeError, started_data

Bytes = Union[bytes, bytearray, memoryview]
"""The bytes of one write to a stream."""

Source = Union[Bytes, BinaryIO, Iterable[Bytes]]
"""The complete content of a stream: bytes, a binary file, or an iterable of bytes."""

AnySource = Union[Source, AsyncIterable[Bytes]]
"""A `Source`, or an asynchronous iterable of bytes, for asyncio."""

_FILE_CHUNK_BYTES = 256 << 10


class Stream:
    """Bytes of any length, at any place in the options of a `call` or in the result of a task.

    The library makes a stream of the daemon, sends its name at this place, and writes the source while the call runs.
    If the call fails, or the source raises, the stream ends with that error. Afterwards the library closes a source
    that can be closed: a file, a generator or a reader.

    Args:
        source: bytes, a binary file, an iterable of bytes, or, with asyncio, an asynchronous iterable. Bytes and lists
            of them can be sent again. Any other source is read once.
        type: a media type, for the reader.
        total_bytes: the total number of bytes, for the reader.
    """

    # The module from which programs import it.
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
        """Returns the source, for one stream of the daemon.

        Raises:
            BridgeError: `options.invalid` if the source can be read only once and was already used.
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
    """Returns the total number of bytes; None if it is unknown.

    Args:
        total_bytes: the number from the program.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        return memoryview(source).nbytes
    return total_bytes


def chunks(source: Source) -> Iterator[Bytes]:
    """Yields the bytes of a source in chunks."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        yield source
    elif hasattr(source, "read"):
        while data := cast(BinaryIO, source).read(_FILE_CHUNK_BYTES):
            yield data
    else:
        yield from source
