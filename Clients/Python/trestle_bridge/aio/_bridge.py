"""`Bridge`: the asyncio face of the library."""

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

    async def _ask(self, request: Callable[[CallSink], None]) -> None:
        waiter = Waiter()
        request(waiter)
        self._pump.kick()
        await waiter.wait()

    # Providing and subscribing

    async def register(
        self, task: str, handler: Handler, *, scope: Scope = "any", description: Optional[TaskDescription] = None,
    ) -> Registration:
        """Provides a task: others' calls of it go to the handler, in every session, until the registration is closed:
        `async with await bridge.register(…)`.

        The handler, a coroutine function, is called with the options and an `IncomingCall`, each call in an
        asyncio task of its own, which is cancelled when no one waits any longer. What it returns becomes the result;
        a `Stream` in it is written for the caller. A `BridgeError` that it raises goes to the caller as it is, any
        other exception as `internal` with its text.

        Args:
            scope: `any`, or `session`: only calls that name this session.
            description: what the daemon shows of the task, and checks options by. Where its schema of the options has
                the format `trestle-stream`, the handler gets a `ByteReader` in place of the name.

        Raises:
            BridgeError: `task.exists` where the name belongs to a plugin, or another error of the daemon.
            ValueError: there is no such scope.
        """
        check_scope(scope)
        jsontext.encode(task)
        schema = description.options if description else None
        reading = with_readers(handler, schema, lambda name, call: self.read_stream(name, call=call))
        provided = ProvidedTask(task, reading, scope, description)
        await self._ask(lambda sink: self._core.requests.register(provided, sink))
        return Registration(task, lambda: self._ask(lambda sink: self._core.requests.unregister(provided, sink)))

    def subscribe(self, *patterns: str, local: bool = False, max_events: int = 1024) -> EventStream:
        """The events of these names, or of names that begin with what stands before a `*`. The daemon is asked when the
        stream is awaited, entered or iterated.

        Args:
            local: does not ask the daemon: only what it sends to this session without a subscription, such as
                `record.changed` of a table that is watched, `bridge.traffic` and `web.close`, and what the bridge's
                other streams subscribe to. Such a stream gets events immediately.
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
