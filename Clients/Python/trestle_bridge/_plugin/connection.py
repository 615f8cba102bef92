"""The connection of a plugin process, over the socket that the daemon gave it."""

from __future__ import annotations

import queue
import select
import socket
import sys
import threading
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, Callable, Optional

from .._core import messages
from .._core.errors import BUSY, BridgeError, started_data
from .._core.framing import LineSplitter, LineTooLong
from .._core.jsontext import decoder, encode
from .._core.output import OutputQueue
from .._core.incoming import ProvidedCall
from .._core.pipes import receive
from .._core.providing import ProvidedTask, ProvidedTasks
from .._core.settings import Limits
from . import aio_calls, wire
from .calls import PluginCall
from .declarations import Declarations, Handler
from .log import Level
from .own_calls import OwnCalls, check_size
from .running import FunctionRunner, failure, start_thread

_READ_BYTES = 256 << 10

_decode = decoder()


class Connection:
    """Reads and writes on the thread that calls `serve`, the I/O thread. Other threads also write, as much as is
    possible without waiting. The I/O thread writes the rest."""

    def __init__(self, connected: socket.socket, declarations: Declarations, limits: Limits) -> None:
        connected.setblocking(False)
        self._socket = connected
        self._limits = limits
        self._on_session = declarations.on_session
        self._sessions: Optional[queue.SimpleQueue[Any]] = None
        # Reentrant: with the lock held, an answer on the I/O thread or the end of a future may acquire it again.
        self._lock = threading.RLock()
        self._wake_out, self._wake_in = socket.socketpair()
        self._wake_in.setblocking(False)
        self._io_thread = 0
        self._output = OutputQueue()
        self._write_failed = False
        self._has_stopped = False
        self._own = OwnCalls(self._send, self._forget)
        self._runner = FunctionRunner(
            self._answer, self._report, limits.max_running_calls, lambda: self._own.count)
        # The runner counts the calls, because pings must not be counted.
        uncounted = replace(limits, max_running_calls=sys.maxsize)
        self._provided = ProvidedTasks(
            self._output, self._runner, uncounted, make_call=self._make_call, provider="plugin")
        at_once = {
            wire.HELLO: lambda options, call: self._hello(options, declarations),
            wire.PING: lambda options, call: {},
            wire.STOP: lambda options, call: {},
        }
        handlers = {task: Handler(function, on_io_thread=True) for task, function in at_once.items()}
        for task, handler in {**handlers, **declarations.all_handlers()}.items():
            self._provided.tasks[task] = ProvidedTask(task, handler)

    # The I/O thread

    def serve(self) -> bool:
        """Runs until the daemon stops the plugin or disconnects. Returns whether the daemon stopped it."""
        self._io_thread = threading.get_ident()
        lines = LineSplitter(self._limits.max_line_bytes)
        try:
            while not self._is_finished:
                if not self._wait():
                    continue
                data = self._read()
                if not data:
                    return self._has_stopped
                for line in lines.feed(data):
                    self._receive(line)
            return True
        except LineTooLong as error:
            print(f"the daemon sent {error}; the plugin gives up", file=sys.stderr)
            return False
        finally:
            with self._lock:
                self._write_failed = True
                self._provided.cancel_all()
                self._own.end_all()
            self._socket.close()

    @property
    def _is_finished(self) -> bool:
        with self._lock:
            return self._has_stopped and (self._write_failed or self._output.queued_bytes == 0)

    def _wait(self) -> bool:
        """Waits until there is work. Returns whether the socket is readable."""
        with self._lock:
            wants_write = self._output.queued_bytes > 0 and not self._write_failed
        poll = select.poll()
        poll.register(self._wake_out, select.POLLIN)
        poll.register(self._socket, select.POLLIN | (select.POLLOUT if wants_write else 0))
        ready = dict(poll.poll())
        if self._wake_out.fileno() in ready:
            self._wake_out.recv(4096)
        with self._lock:
            self._flush()
        return bool(ready.get(self._socket.fileno(), 0) & ~select.POLLOUT)

    def _read(self) -> bytes:
        try:
            data, pipes = receive(self._socket, _READ_BYTES)
        except ConnectionError:
            return b""
        with self._lock:
            self._own.passed.add(pipes)
        return data

    def _receive(self, line: bytes) -> None:
        with self._lock:
            try:
                messages.dispatch(_decode(line), self)
            except ValueError as error:
                self.on_nonsense(f"it is not valid JSON: {error}")
            self._flush()

    # The receiver for `dispatch`. Under the lock.

    def on_call(self, message: dict[str, Any]) -> None:
        """Handles a call from the daemon."""
        if not self._provided.receive(message):
            self.on_nonsense("a call whose id is in use, or is none")

    def on_cancel(self, callback_id: Any) -> None:
        """Handles the cancel of a call."""
        self._provided.cancel(callback_id)

    def on_event(self, name: str, data: Any, retained: bool) -> None:
        """Passes a change of a session to the plugin's function."""
        if name != wire.SESSION or self._on_session is None:
            return
        if self._sessions is None:
            self._sessions = queue.SimpleQueue()
            start_thread(name, _hand_on, self._sessions, self._on_session)
        self._sessions.put(data)

    def on_progress(self, message: dict[str, Any]) -> None:
        """Does nothing: the plugin's own calls do not request progress."""

    def on_callback(self, message: dict[str, Any]) -> None:
        """Handles the end of a call of this plugin, or an error about an invalid message."""
        if message["callbackId"] is None:
            self.on_nonsense(f"an error about something that the plugin sent: {message.get('error')}")
        else:
            self._own.answered(message)

    def on_nonsense(self, why: str) -> None:
        """Logs an invalid or useless message from the daemon."""
        print(f"the daemon sent an invalid message: {why}", file=sys.stderr)

    # Any thread

    @property
    def message_bytes(self) -> int:
        """The maximum length of a message to the daemon."""
        return self._own.message_bytes

    def start_call(
        self, task: str, options: Optional[bytes], *,
        timeout: Optional[float], session: Optional[int], caller: Optional[messages.MessageID],
        wants_pipe: bool = False,
    ) -> Future[Any]:
        """Makes a call; see `OwnCalls.start`."""
        with self._lock:
            future = self._own.start(
                task, options, timeout=timeout, session=session, caller=caller, wants_pipe=wants_pipe)
            self._flush()
        # The called task may be a task of this plugin.
        self._runner.begin_waiting()
        return future

    def send_one_way(self, task: str, options: Optional[bytes], session: Optional[int] = None) -> None:
        """Makes a call without an answer.

        Args:
            options: the JSON of the options; None if there are none.

        Raises:
            BridgeError: nothing was sent, because the message is too long or too many bytes wait for the daemon.
        """
        line = messages.call(encode(task), options, session=session)
        check_size(line, f"the call of {task}", self._own.message_bytes)
        with self._lock:
            if self._output.queued_bytes > self._limits.max_queued_bytes:
                text = f"more than {self._limits.max_queued_bytes} bytes wait for the daemon to read them"
                raise BridgeError(BUSY, text, started_data(False), transient=True, retry_after=0.1)
            self._output.append(line)
            self._flush()

    def write_log(self, level: Level, message: str, call_id: Optional[messages.MessageID] = None) -> None:
        """Writes a line to the log. Drops it if it cannot be sent now."""
        options: dict[str, Any] = {"level": level, "message": message}
        if call_id is not None:
            options["call"] = call_id
        try:
            self.send_one_way(wire.LOG, encode(options))
        except BridgeError:
            pass

    def _answer(self, call: ProvidedCall, result: Optional[bytes], error: Optional[BridgeError]) -> None:
        with self._lock:
            self._provided.answer(call, result, error)
            if call.task == wire.STOP:
                self._has_stopped = True
                self._wake()
            self._flush()

    def _report(self, call: ProvidedCall, value: bytes) -> bool:
        with self._lock:
            is_taken = self._provided.has_room(call, value) and self._provided.progress(call, value)
            self._flush()
        return is_taken

    def _forget(self, call_id: int) -> None:
        with self._lock:
            self._own.forget(call_id)
            self._flush()

    def _make_call(
        self, message: dict[str, Any], callback_id: Optional[messages.MessageID], report: Callable[[Any, bytes], bool],
    ) -> ProvidedCall:
        provided = self._provided.tasks.get(message["task"])
        is_async = provided is not None and provided.handler.resolved(message.get("options")).is_async
        make = aio_calls.PluginCall if is_async else PluginCall
        return make(message, callback_id, report, self)

    def _hello(self, options: Any, declarations: Declarations) -> Any:
        message_bytes = messages.message_bytes(options)
        if message_bytes is not None:
            self._provided.message_bytes = self._own.message_bytes = message_bytes
        return declarations.hello()

    def _send(self, line: bytes) -> None:
        self._output.append(line)

    def _flush(self) -> None:
        """Under the lock: writes as much as is possible now."""
        if self._write_failed:
            return self._output.clear()
        try:
            while buffers := self._output.buffers():
                self._output.advance(self._socket.sendmsg(buffers, [], socket.MSG_NOSIGNAL))
        except (BlockingIOError, InterruptedError):
            self._wake()
        except OSError:
            # The daemon has disconnected. Its last messages can still be read, followed by the end of the input.
            self._write_failed = True

    def _wake(self) -> None:
        """Wakes up the I/O thread, unless this is the I/O thread."""
        if threading.get_ident() == self._io_thread:
            return
        try:
            self._wake_in.send(b"\0")
        except BlockingIOError:
            pass  # it is awake, or a wake-up is pending


def _hand_on(sessions: queue.SimpleQueue[Any], hook: Callable[[Any], Any]) -> None:
    """Passes session events to the plugin's function, on one thread, so that they keep their order."""
    while True:
        data = sessions.get()
        try:
            hook(data)
        except Exception as raised:
            failure(wire.SESSION, raised)
