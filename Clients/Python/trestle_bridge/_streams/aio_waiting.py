"""Waiting for the calls about an end of a stream, in an asyncio task."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol, TypeVar, Union, cast

from .._core.streaming import Begun, PipeWait, Steps

T = TypeVar("T")


class Started(Begun, Protocol):
    """A call that was begun."""

    async def result(self) -> Any:
        """Waits for the result. If the waiting is cancelled, the result can still be received later."""


class LoopAlarm:
    """Wakes up a task that waits for a pipe."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.event = asyncio.Event()

    def ring(self) -> None:
        """Wakes up the task, now or at its next wait."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.event.set)

    def close(self) -> None:
        """Does nothing: there is nothing to close."""


async def _wait_pipe(wanted: PipeWait[Started]) -> None:
    pipe, loop = wanted.pipe, asyncio.get_running_loop()
    if not isinstance(pipe.alarm, LoopAlarm):
        pipe.alarm = LoopAlarm()
        wanted.call.when_done(pipe.alarm.ring)
    if pipe.is_closed:
        return
    event, descriptor = pipe.alarm.event, pipe.fileno()
    add, remove = (
        (loop.add_reader, loop.remove_reader) if wanted.for_bytes else (loop.add_writer, loop.remove_writer))
    add(descriptor, event.set)
    try:
        await event.wait()
    finally:
        remove(descriptor)
        event.clear()


async def _answer(wanted: Union[Started, PipeWait[Started], None]) -> Any:
    if wanted is None:
        # A pipe that is always ready must not block the other tasks of the loop.
        await asyncio.sleep(0)
    elif isinstance(wanted, PipeWait):
        await _wait_pipe(wanted)
    else:
        return await wanted.result()


async def wait(steps: Steps[Started, T]) -> T:
    """Runs the steps, and returns their result."""
    try:
        pending = next(steps)
        while True:
            try:
                answer = await _answer(pending)
            except BaseException as error:
                pending = steps.throw(error)
            else:
                pending = steps.send(answer)
    except StopIteration as end:
        return cast(T, end.value)
