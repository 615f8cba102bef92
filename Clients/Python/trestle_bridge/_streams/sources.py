"""Writes a source to a stream, on a separate thread."""

from __future__ import annotations

import logging
import threading
from typing import Callable, Iterator, cast

from .._core.stream_values import AnySource, Bytes, Source, check_waits_not, chunks
from .ends import ByteWriter

log = logging.getLogger("trestle_bridge")

OnSourceError = Callable[[Exception], None]
"""Receives the exception of a source, before the reader receives it."""


def start_sending(source: AnySource, writer: ByteWriter, on_source_error: OnSourceError = lambda error: None) -> None:
    """Begins to write the whole source, which is closed at the end.

    Raises:
        BridgeError: the source is asynchronous.
    """
    check_waits_not(source)
    arguments = (source, writer, on_source_error)
    threading.Thread(target=_send, args=arguments, name="trestle-writer", daemon=True).start()


def _send(source: Source, writer: ByteWriter, on_source_error: OnSourceError) -> None:
    try:
        with writer:
            for data in _reported(source, on_source_error):
                writer.write(data)
    except Exception:
        log.debug("a stream was not sent whole", exc_info=True)
    finally:
        close_source(source)


def _reported(source: Source, on_source_error: OnSourceError) -> Iterator[Bytes]:
    try:
        yield from chunks(source)
    except Exception as error:
        on_source_error(error)
        raise


def close_source(source: AnySource) -> None:
    """Closes a source, such as a file, a generator or a reader. Does nothing if it has no `close`."""
    close = getattr(source, "close", None)
    if close is not None:
        try:
            cast(Callable[[], None], close)()
        except Exception:
            log.debug("the source of a stream was not closed", exc_info=True)
