"""The tasks in which handlers of provided tasks run."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Awaitable, Callable, Optional

from .._core.errors import BridgeError
from .._core.incoming import IncomingCall
from .._core.providing import ProvidedTasks, cancelled_error, encode_result, handler_error
from ._pump import Pump

log = logging.getLogger("trestle_bridge")

Handler = Callable[[Any, IncomingCall], Awaitable[Any]]
"""What does a task: takes the options and the call, returns the result, any JSON, or raises."""


class HandlerTasks:
    """Runs each call in an asyncio task of its own, which is cancelled when no one waits for the call any longer."""

    def __init__(self) -> None:
        self._tasks: dict[IncomingCall, asyncio.Task[None]] = {}
        self._pump: Optional[Pump] = None
        self._provided: Optional[ProvidedTasks] = None

    def attach(self, pump: Pump, provided: ProvidedTasks) -> None:
        """Where answers go. Before the first call."""
        self._pump, self._provided = pump, provided

    # What the core calls.

    def run(self, call: IncomingCall, handler: Handler) -> None:
        """Begins a call."""
        task = asyncio.get_running_loop().create_task(self._work(call, handler))
        self._tasks[call] = task
        task.add_done_callback(lambda done: self._done(call, done))

    def cancel(self, call: IncomingCall) -> None:
        """No one waits for a call any longer."""
        if (task := self._tasks.get(call)) is not None:
            task.cancel()

    def report(self, call: IncomingCall, value: bytes) -> bool:
        """An intermediate result."""
        if self._provided is None or self._pump is None or not self._provided.has_room(call, value):
            return False
        is_taken = self._provided.progress(call, value)
        self._pump.kick()
        return is_taken

    async def _work(self, call: IncomingCall, handler: Handler) -> None:
        try:
            self._answer(call, *encode_result(call.task, await handler(call._options, call)))
        except Exception as raised:
            if not isinstance(raised, BridgeError):
                log.debug("the handler of %s raised", call.task, exc_info=True)
            self._answer(call, None, handler_error(call.task, raised))

    def _done(self, call: IncomingCall, task: asyncio.Task[None]) -> None:
        self._tasks.pop(call, None)
        if task.cancelled():
            # Also where it was cancelled before its first step. Whether the handler did anything is not known
            # to us.
            self._answer(call, None, cancelled_error(started=True))
        elif (error := task.exception()) is not None:
            # SystemExit and its like: the loop sees to those, the caller gets its answer.
            self._answer(call, None, handler_error(call.task, error))

    def _answer(self, call: IncomingCall, result: Optional[bytes], error: Optional[BridgeError]) -> None:
        if self._provided is not None and self._pump is not None:
            # Only the first answer counts.
            self._provided.answer(call, result, error)
            self._pump.kick()

    async def close(self, timeout: float) -> None:
        """Waits for handlers that still run, so many seconds. They have been cancelled."""
        others = [task for task in self._tasks.values() if task is not asyncio.current_task()]
        if others:
            await asyncio.wait(others, timeout=timeout)
