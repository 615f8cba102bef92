"""`Bridge`: the synchronous face of the library."""

from __future__ import annotations

import threading
import time
import warnings
import weakref
from types import TracebackType
from typing import Any, Callable, Iterator, Optional

from .._core import jsontext
from .._core.calls import Call, CallSink, Success
from .._core.core import Core, State
from .._core.driver import Driver
from .._core.errors import BridgeError
from .._core.events import Subscription, check_patterns
from .._core.messages import ABSENT
from .._core.providing import SCOPES
from .._core.retry import Retry, retry_pause
from .._core.settings import Settings, check_timeout
from .handlers import Handler, HandlerThreads
from .iothread import IOThread
from .pending import PendingCall, Waiter
from .stream import EventStream

Progress = Callable[[Any], None]


class _Listener:
    """Hears of the core's state, on the I/O thread. Apart from the bridge, which nobody here keeps alive."""

    def __init__(self) -> None:
        self.first = Waiter()
        self.on_reconnect: Optional[Callable[[], None]] = None

    def opened(self, first: bool) -> None:
        if first:
            self.first.ended(Success(None))
        elif self.on_reconnect is not None:
            self.on_reconnect()

    def closed(self, error: BridgeError) -> None:
        # Does nothing where it has opened.
        self.first.ended(error)


def _weak_caller(bridge: Bridge, on_reconnect: Callable[[Bridge], None]) -> Callable[[], None]:
    # The I/O thread must not keep a bridge alive that its program has forgotten.
    reference = weakref.ref(bridge)

    def call() -> None:
        if (alive := reference()) is not None:
            thread = threading.Thread(target=on_reconnect, args=(alive,), name="trestle-reconnect")
            thread.daemon = True
            alive._reconnecting = thread
            thread.start()

    return call


class Bridge:
    """A connection to the daemon, for any number of threads. Made by `connect`.

    A context manager: leaving it closes it. It does not survive a fork: a child process connects anew.
    """

    def __init__(
        self, settings: Settings, handler_threads: int, on_reconnect: Optional[Callable[[Bridge], None]]
    ) -> None:
        self._limits = settings.limits
        self._handlers = HandlerThreads(handler_threads)
        self._listener = _Listener()
        self._core = Core(settings, self._listener, self._handlers)
        self._thread = IOThread(Driver(self._core))
        self._handlers.attach(self._thread, self._core.provided)
        if on_reconnect is not None:
            self._listener.on_reconnect = _weak_caller(self, on_reconnect)
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
    def path(self) -> str:
        """The socket."""
        return self._core.settings.path

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
        self, task: str, options: Optional[dict[str, Any]] = None, *, timeout: Optional[float] = None
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
        self,
        task: str,
        options: Any = ABSENT,
        *,
        timeout: Optional[float] = None,
        on_progress: Optional[Progress] = None,
        session: Optional[int] = None,
        retry: Retry = "never",
    ) -> Any:
        """Calls a task and waits for its result.

        Where an exception such as KeyboardInterrupt ends the waiting, the call is cancelled.

        Args:
            task: its name.
            options: any JSON; left out, a task sees `{}`. None is JSON's null.
            timeout: seconds, above 0 and at most a year; None: as long as the task or the daemon allows.
                Waiting for a connection counts.
            on_progress: is handed intermediate results, on this thread, in their order.
            session: only a task that this session registered.
            retry: which errors are not raised, but have the call sent again within its timeout.

        Raises:
            BridgeError: what the callback says; `call.timeout` where none came in time; `session.closed`
                where the connection was lost; `busy` where too much waits to be written; `options.invalid`
                where the options have no JSON.
            ValueError: the timeout is none.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        attempt = 0
        while True:
            pending = self.start(task, options, timeout=timeout, on_progress=on_progress, session=session)
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

    def start(
        self,
        task: str,
        options: Any = ABSENT,
        *,
        timeout: Optional[float] = None,
        on_progress: Optional[Progress] = None,
        progress: bool = False,
        session: Optional[int] = None,
    ) -> PendingCall:
        """Begins a call and does not wait. Arguments and errors as with `call`, whose errors
        `PendingCall.result` raises; but what is wrong with the arguments is raised here.

        Args:
            progress: asks for intermediate results without `on_progress`, for `PendingCall.progress`.
        """
        check_timeout(timeout)
        wanted = progress or on_progress is not None
        waiter = Waiter(self._limits.progress_queued)
        call = self._make(task, options, waiter, timeout=timeout, wants_progress=wanted, session=session)
        self._thread.post(lambda: self._core.submit(call))
        return PendingCall(self._thread, self._core, call, waiter, on_progress)

    def send(self, task: str, options: Any = ABSENT, *, session: Optional[int] = None) -> None:
        """Calls a task of whose end nobody hears. Returns when the message is queued behind those before it.

        Raises:
            BridgeError: `busy`, `session.closed`, `daemon.unreachable`, `message.too_large` or
                `options.invalid`: it was not sent.
        """
        waiter = Waiter()
        call = self._make(task, options, waiter, session=session, one_way=True)
        self._thread.post(lambda: self._core.submit(call))
        waiter.wait()

    def _make(self, task: str, options: Any, sink: CallSink, **more: Any) -> Call:
        encoded = None if options is ABSENT else jsontext.encode(options)
        return Call(jsontext.encode(task), encoded, sink, **more)

    # Providing and listening

    def register(self, task: str, handler: Handler, *, scope: str = "any") -> None:
        """Provides a task: others' calls of it go to the handler, until `unregister`, in every session.

        The handler is called with the options and an `IncomingCall`, on one of the bridge's handler threads;
        several calls may run at once. What it returns becomes the result. A `BridgeError` that it raises goes
        to the caller as it is, any other exception as `internal` with its text.

        Args:
            scope: `any`, or `session`: only calls that name this session.

        Raises:
            BridgeError: `task.exists` where the name belongs to a plugin, or what else the daemon says.
            ValueError: there is no such scope.
        """
        if scope not in SCOPES:
            raise ValueError(f"the scope of a task is one of {SCOPES}, not {scope!r}")
        jsontext.encode(task)
        self._ask(lambda sink: self._core.requests.register(task, scope, handler, sink))

    def unregister(self, task: str) -> None:
        """Provides a task no more; calls that have come already go on.

        Raises:
            BridgeError: what the daemon says.
        """
        jsontext.encode(task)
        self._ask(lambda sink: self._core.requests.unregister(task, sink))

    def subscribe(self, *patterns: str, max_events: int = 1024) -> EventStream:
        """Listens to events: names, or beginnings of names with `*` behind them. Waits for the daemon's
        answer.

        Args:
            max_events: how many may wait to be read; beyond, the oldest are dropped, and the reader is told.

        Raises:
            BridgeError: what the daemon says.
            ValueError: there is no pattern.
        """
        check_patterns(patterns)
        jsontext.encode(patterns)
        stream = EventStream(patterns, max_events)
        subscription = Subscription(patterns, stream)
        thread, core = self._thread, self._core
        stream._unsubscribe = lambda: thread.post(lambda: core.requests.unsubscribe(subscription))
        try:
            self._ask(lambda sink: self._core.requests.subscribe(subscription, sink))
        except BaseException:
            stream.close()
            raise
        return stream

    def listen(self, *patterns: str, max_events: int = 1024) -> EventStream:
        """Listens to events that the daemon sends to this session without a subscription: `record.changed` of
        a table that it watches with `persistence.watch`, `bridge.traffic`, `web.close` and their like; and to
        whatever the bridge's other streams subscribe to. The daemon is not asked.

        Args:
            max_events: as with `subscribe`.

        Raises:
            ValueError: there is no pattern.
        """
        check_patterns(patterns)
        stream = EventStream(patterns, max_events)
        subscription = Subscription(patterns, stream, unasked=True)
        thread, core = self._thread, self._core
        stream._unsubscribe = lambda: thread.post(lambda: core.requests.unsubscribe(subscription))

        def listen(sink: CallSink) -> None:
            core.requests.listen(subscription)
            sink.ended(Success(None))

        # Waits for the I/O thread: what comes after this returns is heard.
        self._ask(listen)
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
        # The I/O thread never waits for anybody: after the time for the daemon it ends at once.
        self._thread.join(self._limits.close_timeout + 5.0)
        self._handlers.close(self._limits.close_timeout)
        if self._reconnecting is not None and self._reconnecting is not threading.current_thread():
            self._reconnecting.join(self._limits.close_timeout)

    def __enter__(self) -> Bridge:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_is_closed", True):
            return
        warnings.warn(f"{self!r} was not closed", ResourceWarning, stacklevel=2, source=self)
        if not self._thread.is_in_child:
            # Without waiting: this may be any thread, at any time.
            self._thread.post(self._core.close)

    def __repr__(self) -> str:
        return f"<trestle_bridge.Bridge {self.path} {self._core.state.value}>"
