"""The asyncio tasks in which handlers of provided tasks run."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Awaitable, Callable, Optional

from .._core.backlog import MAX_STARTING, CallBacklog
from .._core.errors import BridgeError
from .._core.incoming import IncomingCall
from .._core.providing import ProvidedTasks, cancelled_error, handler_error
from .._streams.aio_making import Streaming
from .._streams.aio_sending import made_result
from ._pump import Pump

log = logging.getLogger("trestle_bridge")

Handler = Callable[[Any, IncomingCall], Awaitable[Any]]
"""The function of a task. It takes the options and the call, and returns the result, any JSON that may contain a
`Stream` at any place, or raises."""


class HandlerTasks:
    """Runs each call in its own asyncio task, which is cancelled when the caller no longer waits. If calls arrive
    faster than the loop begins them, users take turns."""

    def __init__(self) -> None:
        self._waiting = CallBacklog()
        # The calls whose asyncio tasks have not run yet.
        self._starting: set[IncomingCall] = set()
        self._tasks: dict[IncomingCall, asyncio.Task[None]] = {}
        self._pump: Optional[Pump] = None
        self._provided: Optional[ProvidedTasks] = None
        self._streaming = Streaming()

    def attach(self, pump: Pump, provided: ProvidedTasks, streaming: Streaming) -> None:
        """Sets the receivers of answers and of the streams in them. Called before the first call."""
        self._pump, self._provided, self._streaming = pump, provided, streaming

    # The functions that the core calls.

    def run(self, call: IncomingCall, handler: Handler) -> None:
        """Begins a call, or makes it wait."""
        self._waiting.append(call, handler)
        self._begin_waiting()

    def cancel(self, call: IncomingCall) -> None:
        """Cancels a call."""
        if self._waiting.remove(call):
            self._answer(call, None, cancelled_error(started=False))
        elif (task := self._tasks.get(call)) is not None:
            task.cancel()

    def report(self, call: IncomingCall, value: bytes) -> bool:
        """Sends an intermediate result."""
        if self._provided is None or self._pump is None or not self._provided.has_room(call, value):
            return False
        is_taken = self._provided.progress(call, value)
        self._pump.kick()
        return is_taken

    def _begin_waiting(self) -> None:
        while len(self._starting) < MAX_STARTING and (waiting := self._waiting.pop()) is not None:
            self._begin(*waiting)

    def _begin(self, call: IncomingCall, handler: Handler) -> None:
        task = asyncio.get_running_loop().create_task(self._work(call, handler))
        self._starting.add(call)
        self._tasks[call] = task
        task.add_done_callback(lambda done: self._done(call, done))

    def _has_started(self, call: IncomingCall) -> None:
        self._starting.discard(call)
        self._begin_waiting()

    async def _work(self, call: IncomingCall, handler: Handler) -> None:
        self._has_started(call)
        try:
            result, sending = await made_result(self._streaming, call, await handler(call._options, call))
            self._answer(call, result, None)
            sending.start()
        except Exception as raised:
            if not isinstance(raised, BridgeError):
                log.debug("the handler of %s raised", call.task, exc_info=True)
            self._answer(call, None, handler_error(call.task, raised))

    def _done(self, call: IncomingCall, task: asyncio.Task[None]) -> None:
        self._tasks.pop(call, None)
        # In case it was cancelled before its first step.
        self._has_started(call)
        if task.cancelled():
            # It is unknown whether the handler has had an effect.
            self._answer(call, None, cancelled_error(started=True))
        elif (error := task.exception()) is not None:
            # SystemExit and similar: the loop handles them, and the caller still gets an answer.
            self._answer(call, None, handler_error(call.task, error))

    def _answer(self, call: IncomingCall, result: Optional[bytes], error: Optional[BridgeError]) -> None:
        if self._provided is not None and self._pump is not None:
            # Only the first answer counts.
            self._provided.answer(call, result, error)
            self._pump.kick()

    async def close(self, timeout: float) -> None:
        """Waits at most `timeout` seconds for running handlers, which have been cancelled."""
        others = [task for task in self._tasks.values() if task is not asyncio.current_task()]
        if others:
            await asyncio.wait(others, timeout=timeout)
