"""Writes a source to a stream, in a separate asyncio task."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import aclosing
from typing import Any, Callable, Coroutine, cast

from .._core.stream_values import AnySource, Bytes, chunks
from .aio_ends import ByteWriter

log = logging.getLogger("trestle_bridge")

OnSourceError = Callable[[Exception], None]
"""Receives the exception of a source, before the reader receives it."""

# The event loop has only weak references to its tasks.
_running: set[asyncio.Task[None]] = set()


def start_sending(
    source: AnySource, writer: ByteWriter, on_source_error: OnSourceError = lambda error: None
) -> asyncio.Task[None]:
    """Begins to write the whole source, which is closed at the end."""
    return _start(_send(source, writer, on_source_error))


def start_closing(source: AnySource) -> None:
    """Closes a source that was not read."""
    _start(_close(source))


def _start(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    task = asyncio.ensure_future(work)
    _running.add(task)
    task.add_done_callback(_running.discard)
    return task


async def _send(source: AnySource, writer: ByteWriter, on_source_error: OnSourceError) -> None:
    try:
        async with writer:
            async with aclosing(_reported(source, on_source_error)) as parts:
                async for data in parts:
                    await writer.write(data)
    except Exception:
        log.debug("a stream was not sent whole", exc_info=True)
    finally:
        await _close(source)


async def _reported(source: AnySource, on_source_error: OnSourceError) -> AsyncGenerator[Bytes, None]:
    try:
        if hasattr(source, "__aiter__"):
            async for data in cast(AsyncIterable[Bytes], source):
                yield data
        else:
            for data in chunks(source):
                yield data
    except Exception as error:
        on_source_error(error)
        raise


async def _close(source: AnySource) -> None:
    try:
        if (aclose := getattr(source, "aclose", None)) is not None:
            await aclose()
        elif (close := getattr(source, "close", None)) is not None:
            close()
    except Exception:
        log.debug("the source of a stream was not closed", exc_info=True)
