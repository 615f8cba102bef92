"""`Bridge`: the asyncio interface of the library."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any, Awaitable, Callable, Optional

from .._core import jsontext
from .._core.call import CallSink, Success
from .._core.core import Core
from .._core.description import TaskDescription
from .._core.errors import BridgeError
from .._core.events import check_patterns
from .._core.providing import ProvidedTask, Scope, check_scope
from .._core.settings import Settings
from .._core.state import State
from .._core.stream_places import with_readers
from ._calling import Calling
from ._handlers import Handler, HandlerTasks
from ._pending import Waiter
from ._pump import Pump
from ._registration import Registration
from ._stream import EventStream
from ._subscribing import local_stream, subscribed_stream

OnReconnect = Callable[["Bridge"], Awaitable[None]]


class Bridge(Calling):
    """A connection to the daemon, for the tasks of one event loop. Made by `connect`."""

    def __init__(self, settings: Settings, on_reconnect: Optional[OnReconnect]) -> None:
        self._limits = settings.limits
        self._on_reconnect = on_reconnect
        self._reconnect_tasks: set[asyncio.Task[None]] = set()
        self._first = Waiter()
        self._has_closed = asyncio.Event()
        self._handlers = HandlerTasks()
        core = Core(settings, self, self._handlers)
        super().__init__(core, Pump(core))
        self._handlers.attach(self._pump, core.provided, self)

    async def _open(self) -> None:
        self._core.start()
        self._pump.kick()
        try:
            await self._first.wait()
        except BaseException:
            await self.close()
            raise

    # The functions that the core calls.

    def opened(self, first: bool) -> None:
        """Handles the beginning of a session."""
        if first:
            self._first.ended(Success(None))
        elif self._on_reconnect is not None:
            task = asyncio.ensure_future(self._call_on_reconnect(self._on_reconnect))
            self._reconnect_tasks.add(task)
            task.add_done_callback(self._reconnect_tasks.discard)

    async def _call_on_reconnect(self, on_reconnect: OnReconnect) -> None:
        await on_reconnect(self)

    def closed(self, error: BridgeError) -> None:
        """Handles the final end: no further session follows."""
        self._first.ended(error)
        self._has_closed.set()
        self._pump.kick()

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

    async def _ask(self, request: Callable[[CallSink], None]) -> None:
        waiter = Waiter()
        request(waiter)
        self._pump.kick()
        await waiter.wait()

    # Providing and subscribing

    async def register(
        self, task: str, handler: Handler, *, scope: Scope = "any", description: Optional[TaskDescription] = None,
    ) -> Registration:
        """Provides a task, also across reconnects, until the registration is closed. Use
        `async with await bridge.register(…)`.

        The handler, a coroutine function, is called with the options and an `IncomingCall`. Each call runs in its own
        asyncio task, which is cancelled when the caller no longer waits. Its return value is the result; a `Stream` in
        it is written for the caller. A `BridgeError` that it raises is the error for the caller. Any other exception
        becomes `internal` with its text.

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
        schema = description.options if description else None
        reading = with_readers(handler, schema, lambda name, call: self.read_stream(name, call=call))
        provided = ProvidedTask(task, reading, scope, description)
        await self._ask(lambda sink: self._core.requests.register(provided, sink))
        return Registration(task, lambda: self._ask(lambda sink: self._core.requests.unregister(provided, sink)))

    def subscribe(self, *patterns: str, local: bool = False, max_events: int = 1024) -> EventStream:
        """Subscribes to events. A pattern is a name, or the beginning of a name followed by `*`. The request is sent
        when the stream is awaited, entered or iterated.

        Args:
            local: whether to subscribe without a request to the daemon. The stream then gets events that the daemon
                sends to this session without a subscription, such as `record.changed` of a watched table,
                `bridge.traffic` and `web.close`, and events to which other streams of the bridge subscribe. A local
                stream gets events immediately.
            max_events: the maximum number of events that wait for the reader. Beyond it, the oldest are dropped, and
                the reader gets `bridge.events_dropped`.

        Raises:
            ValueError: there is no pattern.
        """
        check_patterns(patterns)
        jsontext.encode(patterns)
        make = local_stream if local else subscribed_stream
        return make(patterns, max_events, self._core.requests, self._pump)

    # The end

    async def close(self) -> None:
        """Closes the bridge. Calls in flight are cancelled and end with `session.closed`. Queued messages are still
        delivered. Handlers are cancelled. Waits for the daemon and for handlers, for at most `limits.close_timeout`
        each. Closing again does nothing."""
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
