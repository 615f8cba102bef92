"""The threads on which handlers of provided tasks run."""

from __future__ import annotations

import concurrent.futures
import logging
import threading
from typing import Any, Callable, Optional

from .._core.backlog import CallBacklog
from .._core.errors import BridgeError
from .._core.incoming import IncomingCall
from .._core.providing import ProvidedTasks, cancelled_error, handler_error
from .._streams.making import Streaming
from .._streams.sending import Sending, made_result
from .iothread import IOThread

log = logging.getLogger("trestle_bridge")

Handler = Callable[[Any, IncomingCall], Any]
"""The function of a task. It takes the options and the call, and returns the result, any JSON that may contain a
`Stream` at any place, or raises."""


class HandlerThreads:
    """Runs each call on a thread of a pool. If all threads are in use, calls wait, and users take turns.

    Threads are made when they are first needed. A call that is cancelled while it waits is never begun.
    """

    def __init__(self, max_threads: int) -> None:
        self._max_threads = max_threads
        # Owned by the I/O thread until `close`.
        self._pool: Optional[concurrent.futures.ThreadPoolExecutor] = None
        self._waiting = CallBacklog()
        # The number of threads that take calls out of the backlog, and the futures of their ends.
        self._working = 0
        self._working_lock = threading.Lock()
        self._ends: set[concurrent.futures.Future[None]] = set()
        self._here = threading.local()
        # The number of bytes of progress that handlers have passed and that are not in the output yet.
        self._transit_bytes = 0
        self._transit_lock = threading.Lock()
        self._thread: Optional[IOThread] = None
        self._provided: Optional[ProvidedTasks] = None
        self._streaming = Streaming()

    def attach(self, thread: IOThread, provided: ProvidedTasks, streaming: Streaming) -> None:
        """Sets the receivers of answers and of the streams in them. Called before the first call."""
        self._thread, self._provided, self._streaming = thread, provided, streaming

    @property
    def is_handler_thread(self) -> bool:
        """Whether the current thread is running a handler of this bridge."""
        return getattr(self._here, "is_handler", False)

    # The functions that the core calls, on the I/O thread.

    def run(self, call: IncomingCall, handler: Handler) -> None:
        """I/O thread: begins a call, or makes it wait."""
        if self._pool is None:
            self._pool = concurrent.futures.ThreadPoolExecutor(self._max_threads, "trestle-handler")
        with self._working_lock:
            self._waiting.append(call, handler)
            if self._working >= self._max_threads:
                return
            self._working += 1
        end = self._pool.submit(self._work_on_calls)
        self._ends.add(end)
        end.add_done_callback(self._ends.discard)

    def cancel(self, call: IncomingCall) -> None:
        """I/O thread: cancels a call that has not begun."""
        if self._waiting.remove(call):
            self._done(call, None, cancelled_error(started=False))

    def report(self, call: IncomingCall, value: bytes) -> bool:
        """A handler's thread: passes an intermediate result to the I/O thread."""
        thread, provided = self._thread, self._provided
        if thread is None or provided is None:
            return False
        with self._transit_lock:
            if not provided.has_room(call, value, self._transit_bytes):
                return False
            self._transit_bytes += len(value)
        thread.post(lambda: self._write(provided, call, value))
        return True

    def _write(self, provided: ProvidedTasks, call: IncomingCall, value: bytes) -> None:
        """I/O thread: writes an intermediate result."""
        with self._transit_lock:
            self._transit_bytes -= len(value)
        provided.progress(call, value)

    def _done(self, call: IncomingCall, result: Optional[bytes], error: Optional[BridgeError]) -> None:
        if self._provided is not None:
            self._provided.answer(call, result, error)

    # On the handlers' threads.

    def _work_on_calls(self) -> None:
        while True:
            with self._working_lock:
                waiting = self._waiting.pop()
                if waiting is None:
                    self._working -= 1
                    return
            self._work(*waiting)
            # The thread must not keep the objects of this call alive during the next call.
            del waiting

    def _work(self, call: IncomingCall, handler: Handler) -> None:
        self._here.is_handler = True
        result: Optional[bytes] = None
        error: Optional[BridgeError] = None
        sending: Optional[Sending] = None
        try:
            result, sending = made_result(self._streaming, call, handler(call._options, call))
        except BaseException as raised:
            # SystemExit too: a caller waits for an answer, and this is not the program's main thread.
            if not isinstance(raised, BridgeError):
                log.debug("the handler of %s raised", call.task, exc_info=True)
            error = handler_error(call.task, raised)
        call._has_ended = True
        if self._thread is not None:
            self._thread.post(lambda: self._done(call, result, error))
        if sending is not None:
            sending.start()

    # The end, on the thread that closes the bridge, once the I/O thread has ended.

    def close(self, timeout: float) -> None:
        """Waits at most `timeout` seconds for running handlers, which have been cancelled. A handler that does not
        check this keeps its thread until it returns."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        pool.shutdown(wait=False, cancel_futures=True)
        if self.is_handler_thread:
            return
        unfinished = concurrent.futures.wait(list(self._ends), timeout).not_done
        if not unfinished:
            pool.shutdown(wait=True)
