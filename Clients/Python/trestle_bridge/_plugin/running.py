"""Runs a plugin's functions: each call on its own thread, or on one event loop if the function is `async`. The number
of parallel calls is bounded; users take turns for waiting calls."""

from __future__ import annotations

import asyncio
import queue
import sys
import threading
import traceback
from typing import Any, Callable, Optional

from .._core.backlog import MAX_STARTING, CallBacklog
from .._core.errors import BUSY, BridgeError
from .._core.incoming import ProvidedCall
from .._core.providing import cancelled_error, handler_error
from .._streams import aio_sending, sending
from . import wire
from .aio_calls import PluginCall as AsyncPluginCall
from .calls import PluginCall
from .declarations import Handler

Answer = Callable[[ProvidedCall, Optional[bytes], Optional[BridgeError]], None]


class Threads:
    """An unbounded pool of threads, some of which stay idle for later work. It has no bound because a task may call
    another task of the same plugin; with a bound, each could wait for the other's thread."""

    _MAX_IDLE = 16

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle = 0
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()

    def run(self, work: Callable[[], None]) -> None:
        """Runs `work` immediately on a thread. `work` must not raise.

        Raises:
            RuntimeError: no further thread can be started.
        """
        with self._lock:
            if self._idle:
                self._idle -= 1
                return self._work.put(work)
        start_thread("plugin", self._serve, work)

    def _serve(self, work: Callable[[], None]) -> None:
        while True:
            work()
            # The idle thread must not keep the objects of the work alive.
            del work
            with self._lock:
                if self._idle >= self._MAX_IDLE:
                    return
                self._idle += 1
            work = self._work.get()


class FunctionRunner:
    """Begins and ends each call once.

    `answer` acquires the connection's lock; `run` and `cancel` are called under it. The coroutines' asyncio tasks
    belong to the thread of their loop.
    """

    def __init__(
        self, answer: Answer, report: Callable[[ProvidedCall, bytes], bool], max_calls: int,
        own_calls: Callable[[], int] = lambda: 0,
    ) -> None:
        """
        Args:
            max_calls: the maximum number of running calls, and of waiting calls of each user.
            own_calls: returns the number of calls that the plugin waits for. It is added to the maximum, because the
                plugin may wait for one of its own tasks.
        """
        self.report = report
        self._send = answer
        self._max_calls = max_calls
        self._own_calls = own_calls
        self._lock = threading.Lock()
        self._waiting = CallBacklog(max_calls)
        self._working: set[ProvidedCall] = set()
        # Coroutines before their first step.
        self._starting: set[ProvidedCall] = set()
        self._threads = Threads()
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._tasks: dict[ProvidedCall, asyncio.Task[None]] = {}

    def run(self, call: Any, handler: Handler) -> None:
        """Begins a call, or makes it wait. The class of the call matches the handler."""
        handler = handler.resolved(call._options)
        if handler.on_io_thread:
            self._work(call, handler)
        elif call.task.startswith(wire.PREFIX):
            # Calls of the daemon about the plugin itself are not counted and never wait.
            self._start(call, handler)
        elif self._waiting.append(call, handler):
            self.begin_waiting()
        else:
            self._refuse(call, f"{self._max_calls} calls of this user wait for this plugin, the maximum")

    def cancel(self, call: ProvidedCall) -> None:
        """Cancels a call. Of the calls that have begun, only coroutines can be stopped from outside."""
        if self._waiting.remove(call):
            self._send(call, None, cancelled_error(started=False))
        elif self._loop is not None:
            self._loop.call_soon_threadsafe(self._cancel, call)

    def begin_waiting(self) -> None:
        """Begins as many waiting calls as there is room for. Any thread."""
        while (waiting := self._next()) is not None:
            self._start(*waiting)

    def _next(self) -> Optional[tuple[Any, Handler]]:
        with self._lock:
            if len(self._starting) >= MAX_STARTING or len(self._working) >= self._max_calls + self._own_calls():
                return None
            waiting = self._waiting.pop()
            if waiting is not None:
                call, handler = waiting
                self._working.add(call)
                if handler.is_async:
                    self._starting.add(call)
            return waiting

    def _start(self, call: Any, handler: Handler) -> None:
        try:
            if handler.is_async:
                self._running_loop().call_soon_threadsafe(self._begin, call, handler)
            else:
                self._threads.run(lambda: self._work(call, handler))
        except RuntimeError:
            # The limits of the process forbid one more thread.
            self._refuse(call, f"the plugin can start no thread for a call of {call.task}")

    def _refuse(self, call: ProvidedCall, text: str) -> None:
        self._forget(call)
        self._send(call, None, BridgeError(BUSY, text, transient=True, retry_after=1.0))

    def _forget(self, call: ProvidedCall) -> None:
        with self._lock:
            self._working.discard(call)
            self._starting.discard(call)

    def _work(self, call: PluginCall, handler: Handler) -> None:
        try:
            value = handler.result_of(handler.function(call._options, call))
            result, streams = sending.made_result(call._streams, call, value)
        except BaseException as raised:
            # SystemExit too: a caller waits for an answer, and this is not the program's main thread.
            return self._answer(call, None, failure(call.task, raised))
        self._answer(call, result, None)
        streams.start()

    def _answer(self, call: ProvidedCall, result: Optional[bytes], error: Optional[BridgeError]) -> None:
        # Before the answer, so that the caller can call again immediately.
        self._forget(call)
        self._send(call, result, error)
        self.begin_waiting()

    # Coroutines, on their loop's thread.

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                loop = asyncio.new_event_loop()
                start_thread("asyncio", _serve, loop)
                self._loop = loop
            return self._loop

    def _begin(self, call: AsyncPluginCall, handler: Handler) -> None:
        task = asyncio.get_running_loop().create_task(self._await(call, handler))
        self._tasks[call] = task
        task.add_done_callback(lambda ended: self._ended(call, ended))
        if call.cancelled:
            task.cancel()

    async def _await(self, call: AsyncPluginCall, handler: Handler) -> None:
        with self._lock:
            self._starting.discard(call)
        self.begin_waiting()
        try:
            value = handler.result_of(await handler.function(call._options, call))
            result, streams = await aio_sending.made_result(call._streams, call, value)
        except asyncio.CancelledError:
            raise
        except BaseException as raised:
            # SystemExit too: a caller waits for an answer, and the loop serves other calls.
            return self._answer(call, None, failure(call.task, raised))
        self._answer(call, result, None)
        streams.start()

    def _cancel(self, call: ProvidedCall) -> None:
        if (task := self._tasks.get(call)) is not None:
            task.cancel()

    def _ended(self, call: ProvidedCall, task: asyncio.Task[None]) -> None:
        del self._tasks[call]
        if task.cancelled():
            # Also if it was cancelled before its first step.
            self._answer(call, None, cancelled_error(started=True))
        elif (error := task.exception()) is not None:
            self._answer(call, None, failure(call.task, error))


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    """Runs the coroutines' loop for as long as the process lives."""
    while True:
        try:
            loop.run_forever()
        except (SystemExit, KeyboardInterrupt):
            # Raised by a task that a coroutine started. A coroutine that awaits the task gets it; the loop continues.
            pass


def start_thread(name: str, function: Callable[..., Any], *arguments: Any) -> None:
    """Runs a function on a daemon thread, which does not prevent the process from ending.

    Raises:
        RuntimeError: no further thread can be started.
    """
    threading.Thread(target=function, args=arguments, name=name, daemon=True).start()


def failure(task: str, error: BaseException) -> BridgeError:
    """Returns the error that the caller gets for an exception. An exception that is not a `BridgeError` is logged with
    its traceback; the daemon shows its text only to trusted callers."""
    if not isinstance(error, BridgeError):
        print(f"{task} failed:", file=sys.stderr)
        traceback.print_exception(type(error), error, error.__traceback__)
    shown = handler_error(task, error)
    shown._unforeseen = shown is not error
    return shown
