"""`Bridge`: the synchronous interface of the library."""

from __future__ import annotations

import threading
import warnings
from typing import Any, Callable, Optional

from .._core import jsontext
from .._core.call import CallSink, Success
from .._core.core import Core
from .._core.description import TaskDescription
from .._core.driver import Driver
from .._core.errors import BridgeError
from .._core.events import Subscription, check_patterns
from .._core.providing import ProvidedTask, Scope, check_scope
from .._core.settings import Settings
from .._core.state import State
from .._core.stream_places import with_readers
from .calling import Calling
from .handlers import Handler, HandlerThreads
from .iothread import IOThread
from .listener import Listener, weak_caller
from .pending import Waiter
from .registration import Registration
from .stream import EventStream


class Bridge(Calling):
    """A connection to the daemon, for any number of threads. Made by `connect`.

    A context manager: leaving it closes the bridge. It cannot be used after a fork: a child process must connect again.
    """

    def __init__(
        self, settings: Settings, handler_threads: int, on_reconnect: Optional[Callable[[Bridge], None]]
    ) -> None:
        self._limits = settings.limits
        self._handlers = HandlerThreads(handler_threads)
        self._listener = Listener()
        core = Core(settings, self._listener, self._handlers)
        super().__init__(core, IOThread(Driver(core)))
        # Not `self`: the I/O thread has a reference to the handlers, and must not keep a dropped bridge alive.
        self._streams = Calling(core, self._thread)
        self._handlers.attach(self._thread, core.provided, self._streams)
        if on_reconnect is not None:
            self._listener.on_reconnect = weak_caller(self, on_reconnect)
        # The newest thread that runs `on_reconnect`.
        self._reconnecting: Optional[threading.Thread] = None
        self._is_closed = False

    def _open(self) -> None:
        self._core.start()
        self._thread.start()
        try:
            self._listener.first.wait()
        except BaseException:
            self.close()
            raise

    # The state of the session

    @property
    def socket(self) -> str:
        """The path of the daemon's socket."""
        return self._core.settings.socket

    @property
    def connected(self) -> bool:
        """Whether there is currently a session."""
        return self._core.is_open

    @property
    def hello(self) -> Optional[dict[str, Any]]:
        """The daemon's answer to `bridge.hello` in the last session: protocol, session, daemon, features, limits. None
        if the daemon refused it."""
        return self._core.hello

    @property
    def session(self) -> Optional[int]:
        """The number of the last session; None if it is unknown."""
        session = (self.hello or {}).get("session")
        return session if isinstance(session, int) else None

    # Providing and subscribing

    def register(
        self, task: str, handler: Handler, *, scope: Scope = "any", description: Optional[TaskDescription] = None,
    ) -> Registration:
        """Provides a task, also across reconnects, until the registration is closed.

        The handler is called with the options and an `IncomingCall`, on one of the bridge's handler threads. Several
        calls may run in parallel. Its return value is the result; a `Stream` in it is written for the caller. A
        `BridgeError` that it raises is the error for the caller. Any other exception becomes `internal` with its text.

        Args:
            scope: `any` for the calls of all sessions, `session` for calls that name this session.
            description: the description of the task, which the daemon shows, and with which it checks options. Where
                the schema of the options has the format `trestle-stream`, the handler gets a `ByteReader` instead of
                the name.

        Raises:
            BridgeError: `task.exists` if the name belongs to a plugin, or another error of the daemon.
            ValueError: the scope is invalid.
        """
        check_scope(scope)
        jsontext.encode(task)
        streams, schema = self._streams, description.options if description else None
        reading = with_readers(handler, schema, lambda name, call: streams.read_stream(name, call=call))
        provided = ProvidedTask(task, reading, scope, description)
        self._ask(lambda sink: self._core.requests.register(provided, sink))
        return Registration(task, lambda: self._ask(lambda sink: self._core.requests.unregister(provided, sink)))

    def subscribe(self, *patterns: str, local: bool = False, max_events: int = 1024) -> EventStream:
        """Subscribes to events. A pattern is a name, or the beginning of a name followed by `*`. Waits for the daemon's
        answer.

        Args:
            local: whether to subscribe without a request to the daemon. The stream then gets events that the daemon
                sends to this session without a subscription, such as `record.changed` of a watched table,
                `bridge.traffic` and `web.close`, and events to which other streams of the bridge subscribe.
            max_events: the maximum number of events that wait for the reader. Beyond it, the oldest are dropped, and
                the reader gets `bridge.events_dropped`.

        Raises:
            BridgeError: the error of the daemon.
            ValueError: there is no pattern.
        """
        check_patterns(patterns)
        jsontext.encode(patterns)
        stream = EventStream(patterns, max_events)
        subscription = Subscription(patterns, stream, local=local)
        thread, requests = self._thread, self._core.requests
        stream._unsubscribe = lambda: thread.post(lambda: requests.unsubscribe(subscription))

        def ask(sink: CallSink) -> None:
            if local:
                requests.listen(subscription)
                # The stream gets all events from now on.
                sink.ended(Success(None))
            else:
                requests.subscribe(subscription, sink)

        try:
            self._ask(ask)
        except BaseException:
            stream.close()
            raise
        return stream

    def _ask(self, request: Callable[[CallSink], None]) -> None:
        waiter = Waiter()
        self._thread.post(lambda: request(waiter))
        waiter.wait()

    # The end

    def close(self) -> None:
        """Closes the bridge. Calls in flight are cancelled and end with `session.closed`. Queued messages are still
        delivered. Handlers are cancelled. Waits for the daemon and for handlers, for at most `limits.close_timeout`
        each. Closing again does nothing."""
        if self._is_closed:
            return
        self._is_closed = True
        self._closing.set()
        if self._thread.is_in_child:
            return self._thread.abandon()
        self._thread.post(self._core.close)
        # The I/O thread never waits for another thread. It ends at the latest soon after `close_timeout`.
        self._thread.join(self._limits.close_timeout + 5.0)
        self._handlers.close(self._limits.close_timeout)
        if self._reconnecting is not None and self._reconnecting is not threading.current_thread():
            self._reconnecting.join(self._limits.close_timeout)

    def __enter__(self) -> Bridge:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_is_closed", True):
            return
        warnings.warn(f"{self!r} was not closed", ResourceWarning, stacklevel=2, source=self)
        if not self._thread.is_in_child:
            # Without waiting, because this may run on any thread at any time.
            self._thread.post(self._core.close)

    def __repr__(self) -> str:
        return f"<trestle_bridge.Bridge {self.socket} {self._core.state.value}>"
