"""The calls that a plugin makes with streams in their options."""

from __future__ import annotations

import time
from concurrent.futures import Future
from typing import Any, Callable, Optional

from .._core.incoming import ProvidedCall, refuse_on_event_loop
from .._core.messages import ABSENT
from .._core.outgoing import Outgoing
from .._core.settings import check_timeout
from .._streams import aio_sending, sending
from .streams import AsyncPluginStreams, PluginStreams

Begin = Callable[[Optional[bytes], Optional[float]], "Future[Any]"]
"""Begins a call with the JSON of its options and its timeout."""


def begin(
    streams: PluginStreams, call: Optional[ProvidedCall], options: Any, timeout: Optional[float], start: Begin,
) -> tuple[Future[Any], sending.Sending]:
    """Makes the streams in the options, begins the call, and begins to write the streams.

    Args:
        call: the incoming call on whose behalf the call is made; None for a call of the plugin itself.

    Returns:
        The call, and its streams as a context manager, which ends them if the call fails.

    Raises:
        BridgeError: the call was not sent.
    """
    check_timeout(timeout)
    own, text, left = _made(streams, call, options, timeout)
    with own:
        future = start(text, left)
    own.start()
    return future, own


def begin_one_way(streams: PluginStreams, options: Any, start: Callable[[Optional[bytes]], None]) -> None:
    """Does the same as `begin` for a one-way call.

    Raises:
        BridgeError: the call was not sent.
    """
    own, text, _ = _made(streams, None, options, None)
    with own:
        start(text)
    own.start()


def _made(
    streams: PluginStreams, call: Optional[ProvidedCall], options: Any, timeout: Optional[float],
) -> tuple[sending.Sending, Optional[bytes], Optional[float]]:
    """Makes the streams in options. Returns them, the JSON of the options, and the rest of the timeout."""
    outgoing = _outgoing(options)
    own = sending.Sending(streams, outgoing)
    if not outgoing.streams:
        return own, _text(options, outgoing.text([])), timeout
    refuse_on_event_loop("a call with a Stream", "call it by await call.call(…)")
    begun = time.monotonic()
    text = own.make(call, timeout)
    return own, text, _left(timeout, begun)


async def begin_async(
    streams: AsyncPluginStreams, call: ProvidedCall, options: Any, timeout: Optional[float], start: Begin,
) -> tuple[Future[Any], aio_sending.Sending]:
    """Does the same as `begin` for `async` functions."""
    check_timeout(timeout)
    outgoing = _outgoing(options)
    own = aio_sending.Sending(streams, outgoing)
    begun = time.monotonic()
    text = _text(options, await own.make(call, timeout))
    left = _left(timeout, begun) if outgoing.streams else timeout
    async with own:
        future = start(text, left)
    own.start()
    return future, own


def end_where_it_fails(future: Future[Any], own: sending.Sending) -> Future[Any]:
    """Ends the streams of a call when its future fails or is cancelled. For `submit`, which does not wait."""

    def ended(future: Future[Any]) -> None:
        if future.cancelled():
            own.end(None)
        elif (error := future.exception()) is not None:
            own.end(error)

    future.add_done_callback(ended)
    return future


def _outgoing(options: Any) -> Outgoing:
    return Outgoing({} if options is ABSENT else options)


def _text(options: Any, text: bytes) -> Optional[bytes]:
    return None if options is ABSENT else text


def _left(timeout: Optional[float], begun: float) -> Optional[float]:
    return None if timeout is None else max(0.001, begun + timeout - time.monotonic())
