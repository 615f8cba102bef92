"""A client without its socket: the state of its calls, tasks and subscriptions across connections.

A core outlives connections. Each connection is a session of the daemon, which begins with `bridge.hello`. Then the core
registers the provided tasks and subscribed patterns again, and sends the calls that waited.
"""

from __future__ import annotations

import logging
import time
from typing import Any, Optional, Sequence

from . import messages, wire
from .attempts import Attempts
from .call import Call, Outcome, Success
from .calls import CallTable
from .errors import DAEMON_UNREACHABLE, PERMISSION_DENIED, SESSION_CLOSED, TASK_NOT_FOUND, BridgeError, unreachable
from .events import Event, Subscriptions
from .framing import LineSplitter, LineTooLong
from .jsontext import decoder, encode
from .output import OutputQueue
from .pipes import Pipe
from .providing import HandlerRunner, ProvidedTasks
from .requests import Done, Requests
from .settings import Settings
from .state import CoreListener, State, WebClose
from .timers import Clock, Timers
from .waiting import Holding

log = logging.getLogger("trestle_bridge")


class Core:
    """The state of a client. Not thread-safe: it belongs to one thread."""

    def __init__(
        self, settings: Settings, listener: CoreListener, runner: HandlerRunner, clock: Clock = time.monotonic
    ) -> None:
        self.settings = settings
        self.state = State.APART
        self.hello: Optional[dict[str, Any]] = None
        self.wants_connection = False
        """Whether the driver must connect now."""
        self.output = OutputQueue()
        self.timers = Timers(clock)
        self.calls = CallTable(self.output, self.timers, settings, self._hold)
        self.provided = ProvidedTasks(self.output, runner, settings.limits)
        self.subscriptions = Subscriptions()
        self.requests = Requests(self)
        self._listener = listener
        self._decode = decoder(settings.parse_float)
        self._splitter = LineSplitter(settings.limits.max_line_bytes)
        self._has_opened = False
        self._opened_at = 0.0
        self._attempts = Attempts(settings, self.timers, self._connect_now, self._connect_late)
        self._holding = Holding(self.timers, self._resume)
        self._refusal: Optional[BridgeError] = None
        self._web_close: Optional[WebClose] = None
        self._end = BridgeError(SESSION_CLOSED, "the connection to the daemon was closed here")

    # The connection, as the driver reports it

    @property
    def has_connection(self) -> bool:
        """Whether the driver must keep its socket open."""
        return self.state in (State.GREETING, State.OPEN, State.CLOSING)

    @property
    def is_open(self) -> bool:
        """Whether there is a session."""
        return self.state is State.OPEN

    @property
    def is_over(self) -> bool:
        """Whether no further session follows."""
        return self.state in (State.CLOSING, State.CLOSED)

    def start(self) -> None:
        """Requests the first connection."""
        self.wants_connection = True
        self._attempts.begin()

    def connected(self) -> None:
        """Handles a new connection: sends `bridge.hello`."""
        self.wants_connection = False
        self.state = State.GREETING
        self._splitter = LineSplitter(self.settings.limits.max_line_bytes)
        self._refusal = self._web_close = None
        self._attempts.watch()
        options = encode(self.settings.hello_options)
        self.calls.send(Call(encode(wire.HELLO), options, Done(self._greeted), of_connection=True), urgent=True)

    def connect_failed(self, error: BridgeError, *, again: bool) -> None:
        """Handles a failed attempt. `again`: whether the daemon is running but its queue of new connections is full."""
        self.wants_connection = False
        if self._has_opened:
            log.debug("no connection: %s", error)
            self._attempts.repeat()
        elif again:
            self._attempts.repeat_soon()
        else:
            self._wait_or_finish(error)

    def _wait_or_finish(self, error: BridgeError) -> None:
        """Repeats the first connection for as long as the settings permit, else closes the client."""
        if error.code != DAEMON_UNREACHABLE or not self._attempts.repeat_first():
            self._finish(error)

    def received(self, data: bytes, pipes: Sequence[Optional[Pipe]] = ()) -> None:
        """Handles bytes from the connection, and the ends of pipes that arrived with them."""
        self.calls.passed.add(pipes)
        try:
            for line in self._splitter.feed(data):
                if self.state not in (State.GREETING, State.OPEN):
                    return
                try:
                    message = self._decode(line)
                except ValueError as error:
                    self.on_nonsense(str(error))
                    continue
                messages.dispatch(message, self)
        except LineTooLong as error:
            self.lost(f"it sent {error}")

    def lost(self, how: str) -> None:
        """Handles the end of the connection. Every call in flight ends."""
        if not self.has_connection:
            return
        was, self.state = self.state, State.APART
        self._attempts.stop_watching()
        self._holding.stop()
        text = f"the connection to the daemon was lost ({how})"
        error = BridgeError(SESSION_CLOSED, text, transient=True)
        if was is State.CLOSING:
            return self._finish(self._end)
        if self._web_close is not None:
            error = self._web_close.error(self.timers.clock()) or error
        self.calls.end_flying(error)
        self.provided.cancel_all()
        self.output.clear()
        if not self._has_opened:
            self._wait_or_finish(self._refusal or self._unreachable(how))
        elif not error.transient or self.settings.backoff is None:
            self._finish(error)
        else:
            log.info("%s; connecting again", text)
            if was is State.OPEN:
                self._attempts.connected_for(self.timers.clock() - self._opened_at)
            self._attempts.repeat()

    def _connect_now(self) -> None:
        self.wants_connection = self.state is State.APART

    def _connect_late(self) -> None:
        how = f"it does not answer within {self.settings.limits.connect_timeout:g} s"
        if self.state is State.GREETING:
            self.lost(how)
        elif self.state is State.APART and not self._has_opened:
            self._wait_or_finish(self._unreachable(how))

    def _unreachable(self, how: str) -> BridgeError:
        return unreachable(self.settings.socket, how)

    # The session

    def _greeted(self, outcome: Outcome) -> None:
        if self.state is not State.GREETING:
            return
        if isinstance(outcome, Success):
            self.hello = outcome.value if isinstance(outcome.value, dict) else None
            self._learn_limits()
        elif outcome.code in (PERMISSION_DENIED, TASK_NOT_FOUND):
            # A client that may not call bridge.hello may still make other calls.
            self.hello = None
        else:
            self._refusal = outcome
            return self.lost(f"it refuses: {outcome}")
        self._attempts.stop_watching()
        self.state = State.OPEN
        self._opened_at = self.timers.clock()
        first, self._has_opened = not self._has_opened, True
        if first:
            self._attempts.forget()
        else:
            self.subscriptions.session_replaced()
        self.requests.restore()
        self.calls.send_waiting()
        self._listener.opened(first)

    def _hold(self) -> bool:
        """Holds calls because the daemon no longer begins them. Returns whether they may wait for the next daemon."""
        if self.state is not State.OPEN or self.settings.backoff is None:
            return False
        self._holding.start()
        return True

    def _resume(self) -> None:
        if self.state is State.OPEN:
            self.calls.send_waiting()

    def _learn_limits(self) -> None:
        message_bytes = messages.message_bytes(self.hello)
        if message_bytes is not None:
            self.calls.message_bytes = self.provided.message_bytes = message_bytes

    # The functions for the interfaces

    def submit(self, call: Call) -> None:
        """Makes a call. Its sink gets the end, in any state of the core."""
        if self.state is State.OPEN and not self._holding.is_on:
            self.calls.send(call)
        elif self.is_over:
            self.calls.end(call, self._end.ending(call.name, started=False))
        else:
            self.calls.wait(call)

    def close(self) -> None:
        """Closes the client. Queued messages are still written, for at most `close_timeout`."""
        if self.is_over:
            return
        was, self.state = self.state, State.CLOSING
        self.wants_connection = False
        self._attempts.stop_watching()
        self.calls.dismiss_all(self._end)
        self.subscriptions.finish(None)
        self.provided.cancel_all()
        if was is State.OPEN:
            self.timers.after(self.settings.limits.close_timeout, lambda: self._finish(self._end))
        else:
            self._finish(self._end)

    def fail(self, error: BaseException) -> None:
        """Closes the client after a failure of the library, so that no caller waits forever."""
        self._finish(BridgeError("internal", f"the client library failed: {type(error).__name__}: {error}"))

    def _finish(self, error: BridgeError) -> None:
        if self.state is State.CLOSED:
            return
        self.state = State.CLOSED
        self.wants_connection = False
        self._end = error
        self.calls.end_flying(error)
        self.calls.end_waiting(error)
        self.subscriptions.finish(error)
        self.provided.cancel_all()
        self.output.clear()
        self._listener.closed(error)

    # Messages

    def on_call(self, message: dict[str, Any]) -> None:
        """Handles a call of another client."""
        if not self.provided.receive(message):
            self.on_nonsense("a call with an invalid id, or with the id of a running call")

    def on_cancel(self, callback_id: Any) -> None:
        """Handles the cancel of such a call."""
        self.provided.cancel(callback_id)

    def on_event(self, name: str, data: Any, retained: bool) -> None:
        """Handles an event."""
        if name == wire.WEB_CLOSE:
            self._web_close = WebClose(data, self.timers.clock())
        elif name in (wire.DAEMON_DRAINING, wire.SESSION_LOST):
            log.info("the daemon sends %s: %s", name, data)
            if name == wire.DAEMON_DRAINING:
                self._hold()
        self.subscriptions.receive(Event(name, data), retained)

    def on_progress(self, message: dict[str, Any]) -> None:
        """Handles an intermediate result."""
        if not self.calls.progress(message):
            log.debug("progress for no call: %r", message["callbackId"])

    def on_callback(self, message: dict[str, Any]) -> None:
        """Handles the end of a call of this client."""
        if message["callbackId"] is None:
            # It ends no call: the daemon could not read a message, or has no room for this session.
            self._refusal = BridgeError.from_json(message.get("error"))
            log.warning("the daemon refuses a message: %s, data %r", self._refusal, self._refusal.data)
        elif not self.calls.callback(message):
            log.debug("a callback for no call: %r", message["callbackId"])

    def on_nonsense(self, why: str) -> None:
        """Logs and ignores an invalid message."""
        log.warning("the daemon sent an invalid message: %s", why)
