"""`Bridge`: the synchronous face of the library."""

from __future__ import annotations

import threading
import time
import warnings
from typing import Any, Callable, Iterator, Mapping, Optional

from .._core import jsontext, wire
from .._core.call import Call, CallSink, Success
from .._core.core import Core
from .._core.description import TaskDescription
from .._core.driver import Driver
from .._core.errors import BridgeError
from .._core.events import Subscription, check_patterns
from .._core.incoming import ProvidedCall
from .._core.messages import ABSENT
from .._core.providing import ProvidedTask, Scope, check_scope
from .._core.retry import Retry, retry_pause
from .._core.settings import Settings, check_timeout
from .._core.state import State
from .._streams.making import Streaming
from .handlers import Handler, HandlerThreads
from .iothread import IOThread
from .listener import Listener, weak_caller
from .pending import PendingCall, Waiter
from .registration import Registration
from .stream import EventStream

Progress = Callable[[Any], None]


class Bridge(Streaming):
    """A connection to the daemon, for any number of threads. Made by `connect`.

    A context manager: leaving it closes it. It does not survive a fork: a child process connects anew.
    """

    def __init__(
        self, settings: Settings, handler_threads: int, on_reconnect: Optional[Callable[[Bridge], None]]
    ) -> None:
        self._limits = settings.limits
        self._handlers = HandlerThreads(handler_threads)
        self._listener = Listener()
        self._core = Core(settings, self._listener, self._handlers)
        self._thread = IOThread(Driver(self._core))
        self._handlers.attach(self._thread, self._core.provided)
        if on_reconnect is not None:
            self._listener.on_reconnect = weak_caller(self, on_reconnect)
        # The newest thread that runs `on_reconnect`.
        self._reconnecting: Optional[threading.Thread] = None
        self._closing = threading.Event()
        self._is_closed = False

    def _open(self) -> None:
        self._core.start()
        self._thread.start()
        try:
            self._listener.first.wait()
        except BaseException:
            self.close()
            raise

    # What the daemon said

    @property
    def socket(self) -> str:
        """The path of the daemon's socket."""
        return self._core.settings.socket

    @property
    def connected(self) -> bool:
        """Whether there is a session at this moment."""
        return self._core.is_open

    @property
    def hello(self) -> Optional[dict[str, Any]]:
        """What the daemon said of itself when the last session began: protocol, session, daemon, features,
        limits. None where it does not let this program ask."""
        return self._core.hello

    @property
    def session(self) -> Optional[int]:
        """The number of the last session; None where it is not known."""
        session = (self.hello or {}).get("session")
        return session if isinstance(session, int) else None

    # Calls

    def pages(
        self, task: str, options: Optional[Mapping[str, Any]] = None, *, timeout: Optional[float] = None
    ) -> Iterator[Any]:
        """The pages of a table, such as `bridge.sessions` or `persistence.query`: the results of calls, each of
        which goes on where the one before ended.

        Args:
            task: a task that answers with a `cursor` where there is more.
            options: its options, but for `cursor`.
            timeout: seconds, for each page.
        """
        wanted = dict(options or {})
        while True:
            page = self.call(task, wanted, timeout=timeout)
            yield page
            cursor = page.get("cursor")
            # A page that ends where the one before ended would never come to an end.
            if cursor is None or cursor == wanted.get("cursor"):
                return
            wanted["cursor"] = cursor

    def call(
        self, task: str, options: Any = ABSENT, *, timeout: Optional[float] = None, retry: Retry = "never",
        on_progress: Optional[Progress] = None, session: Optional[int] = None,
    ) -> Any:
        """Calls a task and waits for its result.

        Where an exception such as KeyboardInterrupt ends the waiting, the call is cancelled.

        Args:
            task: its name.
            options: any JSON; left out, the task gets `{}`. None is JSON's null.
            timeout: seconds, above 0 and at most a year, or `math.inf`: no timeout. None: the task's own or the
                daemon's. Waiting for a connection counts.
            retry: which errors are not raised, but have the call sent again within its timeout.
            on_progress: gets intermediate results, on this thread, in their order.
            session: only a task that this session registered.

        Raises:
            BridgeError: the error of the call; `call.timeout` where none came in time; `session.closed`
                where the connection was lost; `busy` where too much waits to be written; `options.invalid`
                where the options have no JSON.
            ValueError: the timeout is not valid.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        attempt = 0
        while True:
            pending = self.submit(task, options, timeout=timeout, on_progress=on_progress, session=session)
            try:
                return pending.result()
            except BridgeError as error:
                timeout = None if deadline is None else deadline - time.monotonic()
                pause = retry_pause(error, retry, attempt, timeout)
                if pause is None or self._core.state is State.CLOSED or self._closing.wait(pause):
                    raise
                timeout = None if deadline is None else max(0.001, deadline - time.monotonic())
                attempt += 1
            except BaseException:
                pending.abandon()
                raise

    def submit(
        self, task: str, options: Any = ABSENT, *, timeout: Optional[float] = None,
        on_progress: Optional[Progress] = None, progress: bool = False, session: Optional[int] = None,
    ) -> PendingCall:
        """Begins a call and does not wait. Arguments and errors as with `call`, whose errors
        `PendingCall.result` raises; but what is wrong with the arguments is raised here.

        Args:
            progress: asks for intermediate results without `on_progress`, for `PendingCall.progress`.
        """
        check_timeout(timeout)
        wanted = progress or on_progress is not None
        waiter = Waiter(self._limits.max_queued_progress)
        call = self._make(task, options, waiter, timeout=timeout, wants_progress=wanted, session=session)
        self._thread.post(lambda: self._core.submit(call))
        return PendingCall(self._thread, self._core, call, waiter, on_progress)

    def notify(self, task: str, options: Any = ABSENT, *, session: Optional[int] = None) -> None:
        """Makes a one-way call, whose end is not reported. Returns when the message is queued behind those before
        it.

        Raises:
            BridgeError: `busy`, `session.closed`, `daemon.unreachable`, `message.too_large` or
                `options.invalid`: it was not sent.
        """
        waiter = Waiter()
        call = self._make(task, options, waiter, session=session, one_way=True)
        self._thread.post(lambda: self._core.submit(call))
        waiter.wait()

    def publish(self, event: str, data: Any = None, *, retain: bool = False) -> None:
        """Sends an event to all clients that subscribed to it, this client too if it did. Waits for the daemon's
        answer.

        Args:
            event: its name.
            data: any JSON.
            retain: the daemon keeps the event in place of the one before of this name, and sends it to all clients that
                subscribe later.

        Raises:
            BridgeError: as with `call`; `permission.denied` where a rule forbids it; `quota.exceeded` where too many
                are retained.
        """
        self.call(wire.PUBLISH, {"event": event, "data": data, **({wire.RETAIN: True} if retain else {})})

    def _make(self, task: str, options: Any, sink: CallSink, **more: Any) -> Call:
        return Call(jsontext.encode(task), None if options is ABSENT else jsontext.encode(options), sink, **more)

    def _begin_about_stream(self, task: str, options: dict[str, Any], call: Optional[ProvidedCall]) -> PendingCall:
        return self.submit(task, options if call is None else {**options, wire.CALL: call._id})

    # Providing and subscribing

    def register(
        self, task: str, handler: Handler, *, scope: Scope = "any", description: Optional[TaskDescription] = None,
    ) -> Registration:
        """Provides a task: others' calls of it go to the handler, in every session, until the registration is closed.

        The handler is called with the options and an `IncomingCall`, on one of the bridge's handler threads;
        several calls may run at once. What it returns becomes the result. A `BridgeError` that it raises goes
        to the caller as it is, any other exception as `internal` with its text.

        Args:
            scope: `any`, or `session`: only calls that name this session.
            description: what the daemon shows of the task, and checks options by.

        Raises:
            BridgeError: `task.exists` where the name belongs to a plugin, or another error of the daemon.
            ValueError: there is no such scope.
        """
        check_scope(scope)
        jsontext.encode(task)
        provided = ProvidedTask(task, handler, scope, description)
        self._ask(lambda sink: self._core.requests.register(provided, sink))
        return Registration(task, lambda: self._ask(lambda sink: self._core.requests.unregister(provided, sink)))

    def subscribe(self, *patterns: str, local: bool = False, max_events: int = 1024) -> EventStream:
        """The events of these names, or of names that begin with what stands before a `*`. Waits for the daemon's
        answer.

        Args:
            local: does not ask the daemon: only what it sends to this session without a subscription, such as
                `record.changed` of a table that is watched, `bridge.traffic` and `web.close`, and what the bridge's
                other streams subscribe to.
            max_events: how many may wait to be read; beyond, the oldest are dropped, and the reader gets
                `bridge.events_dropped`.

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
                # What comes after the subscription is read by the stream.
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
        """Ends the connection. Calls in flight are cancelled and end with `session.closed`; what was sent is
        still delivered; handlers are cancelled. Waits for the daemon and for handlers, each for
        `limits.close_timeout` at most. Closing again does nothing."""
        if self._is_closed:
            return
        self._is_closed = True
        self._closing.set()
        if self._thread.is_in_child:
            return self._thread.abandon()
        self._thread.post(self._core.close)
        # The I/O thread never waits for another thread: after the time for the daemon it ends at once.
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
            # Without waiting: this may be any thread, at any time.
            self._thread.post(self._core.close)

    def __repr__(self) -> str:
        return f"<trestle_bridge.Bridge {self.socket} {self._core.state.value}>"
