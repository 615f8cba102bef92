"""`Bridge`: the asyncio face of the library."""

from __future__ import annotations

import asyncio
import time
import warnings
from typing import Any, AsyncIterator, Awaitable, Callable, Mapping, Optional

from .._core import jsontext, wire
from .._core.call import Call, CallSink, Success
from .._core.core import Core
from .._core.description import TaskDescription
from .._core.errors import BridgeError
from .._core.events import check_patterns
from .._core.incoming import ProvidedCall
from .._core.messages import ABSENT
from .._core.providing import ProvidedTask, Scope, check_scope
from .._core.retry import Retry, retry_pause
from .._core.settings import Settings, check_timeout
from .._core.state import State
from .._streams.aio_making import Streaming
from ._handlers import Handler, HandlerTasks
from ._pending import PendingCall, Waiter
from ._pump import Pump
from ._registration import Registration
from ._stream import EventStream
from ._subscribing import local_stream, subscribed_stream

Progress = Callable[[Any], None]
OnReconnect = Callable[["Bridge"], Awaitable[None]]


class Bridge(Streaming):
    """A connection to the daemon, for the tasks of one event loop. Made by `connect`."""

    def __init__(self, settings: Settings, on_reconnect: Optional[OnReconnect]) -> None:
        self._limits = settings.limits
        self._on_reconnect = on_reconnect
        self._reconnect_tasks: set[asyncio.Task[None]] = set()
        self._first = Waiter()
        self._has_closed = asyncio.Event()
        self._handlers = HandlerTasks()
        self._core = Core(settings, self, self._handlers)
        self._pump = Pump(self._core)
        self._handlers.attach(self._pump, self._core.provided)

    async def _open(self) -> None:
        self._core.start()
        self._pump.kick()
        try:
            await self._first.wait()
        except BaseException:
            await self.close()
            raise

    # What the core calls.

    def opened(self, first: bool) -> None:
        """A session has begun."""
        if first:
            self._first.ended(Success(None))
        elif self._on_reconnect is not None:
            task = asyncio.ensure_future(self._call_on_reconnect(self._on_reconnect))
            self._reconnect_tasks.add(task)
            task.add_done_callback(self._reconnect_tasks.discard)

    async def _call_on_reconnect(self, on_reconnect: OnReconnect) -> None:
        await on_reconnect(self)

    def closed(self, error: BridgeError) -> None:
        """No session will ever begin again."""
        self._first.ended(error)
        self._has_closed.set()
        self._pump.kick()

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

    async def pages(
        self, task: str, options: Optional[Mapping[str, Any]] = None, *, timeout: Optional[float] = None
    ) -> AsyncIterator[Any]:
        """The pages of a table, such as `bridge.sessions` or `persistence.query`: the results of calls, each of
        which goes on where the one before ended.

        Args:
            task: a task that answers with a `cursor` where there is more.
            options: its options, but for `cursor`.
            timeout: seconds, for each page.
        """
        wanted = dict(options or {})
        while True:
            page = await self.call(task, wanted, timeout=timeout)
            yield page
            cursor = page.get("cursor")
            # A page that ends where the one before ended would never come to an end.
            if cursor is None or cursor == wanted.get("cursor"):
                return
            wanted["cursor"] = cursor

    async def call(
        self, task: str, options: Any = ABSENT, *, timeout: Optional[float] = None, retry: Retry = "never",
        on_progress: Optional[Progress] = None, session: Optional[int] = None,
    ) -> Any:
        """Calls a task and waits for its result. Where the waiting asyncio task is cancelled, the call is
        too.

        Args:
            task: its name.
            options: any JSON; left out, the task gets `{}`. None is JSON's null.
            timeout: seconds, above 0 and at most a year, or `math.inf`: no timeout. None: the task's own or the
                daemon's. Waiting for a connection counts.
            retry: which errors are not raised, but have the call sent again within its timeout.
            on_progress: gets intermediate results, in the waiting asyncio task, in their order.
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
                return await pending.result()
            except BridgeError as error:
                timeout = None if deadline is None else deadline - time.monotonic()
                pause = retry_pause(error, retry, attempt, timeout)
                if pause is None or self._core.state is State.CLOSED:
                    raise
            except BaseException:
                pending.abandon()
                raise
            await asyncio.sleep(pause)
            timeout = None if deadline is None else max(0.001, deadline - time.monotonic())
            attempt += 1

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
        self._core.submit(call)
        self._pump.kick()
        return PendingCall(self._pump, self._core, call, waiter, on_progress)

    async def notify(self, task: str, options: Any = ABSENT, *, session: Optional[int] = None) -> None:
        """Makes a one-way call, whose end is not reported. Returns when the message is queued behind those before
        it.

        Raises:
            BridgeError: `busy`, `session.closed`, `daemon.unreachable`, `message.too_large` or
                `options.invalid`: it was not sent.
        """
        await self._ask(lambda sink: self._core.submit(self._make(task, options, sink, session=session, one_way=True)))

    async def publish(self, event: str, data: Any = None, *, retain: bool = False) -> None:
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
        await self.call(wire.PUBLISH, {"event": event, "data": data, **({wire.RETAIN: True} if retain else {})})

    def _make(self, task: str, options: Any, sink: CallSink, **more: Any) -> Call:
        return Call(jsontext.encode(task), None if options is ABSENT else jsontext.encode(options), sink, **more)

    async def _ask(self, request: Callable[[CallSink], None]) -> None:
        waiter = Waiter()
        request(waiter)
        self._pump.kick()
        await waiter.wait()

    def _begin_about_stream(self, task: str, options: dict[str, Any], call: Optional[ProvidedCall]) -> PendingCall:
        return self.submit(task, options if call is None else {**options, wire.CALL: call._id})

    # Providing and subscribing

    async def register(
        self, task: str, handler: Handler, *, scope: Scope = "any", description: Optional[TaskDescription] = None,
    ) -> Registration:
        """Provides a task: others' calls of it go to the handler, in every session, until the registration is closed:
        `async with await bridge.register(…)`.

        The handler, a coroutine function, is called with the options and an `IncomingCall`, each call in an
        asyncio task of its own, which is cancelled when no one waits any longer. What it returns becomes the result. A
        `BridgeError` that it raises goes to the caller as it is, any other exception as `internal` with its text.

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
        await self._ask(lambda sink: self._core.requests.register(provided, sink))
        return Registration(task, lambda: self._ask(lambda sink: self._core.requests.unregister(provided, sink)))

    def subscribe(self, *patterns: str, local: bool = False, max_events: int = 1024) -> EventStream:
        """The events of these names, or of names that begin with what stands before a `*`. The daemon is asked when the
        stream is awaited, entered or iterated.

        Args:
            local: does not ask the daemon: only what it sends to this session without a subscription, such as
                `record.changed` of a table that is watched, `bridge.traffic` and `web.close`, and what the bridge's
                other streams subscribe to. Such a stream gets events at once.
            max_events: how many may wait to be read; beyond, the oldest are dropped, and the reader gets
                `bridge.events_dropped`.

        Raises:
            ValueError: there is no pattern.
        """
        check_patterns(patterns)
        jsontext.encode(patterns)
        make = local_stream if local else subscribed_stream
        return make(patterns, max_events, self._core.requests, self._pump)

    # The end

    async def close(self) -> None:
        """Ends the connection. Calls in flight are cancelled and end with `session.closed`; what was sent is
        still delivered; handlers are cancelled. Waits for the daemon and for handlers, each for
        `limits.close_timeout` at most. Closing again does nothing."""
        self._core.close()
        self._pump.kick()
        try:
            await self._has_closed.wait()
            current = asyncio.current_task()
            for task in self._reconnect_tasks:
                if task is not current:
                    task.cancel()
            await self._handlers.close(self._limits.close_timeout)
        finally:
            if self._core.state is State.CLOSED:
                self._pump.abandon()

    async def __aenter__(self) -> Bridge:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    def __del__(self) -> None:
        core = getattr(self, "_core", None)
        if core is not None and core.state is not State.CLOSED:
            warnings.warn(f"{self!r} was not closed", ResourceWarning, stacklevel=2, source=self)

    def __repr__(self) -> str:
        return f"<trestle_bridge.aio.Bridge {self.socket} {self._core.state.value}>"
