"""A client that uses every dialect and counts the received messages."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Callable, Iterable, Optional

import dialects
from dialects import CAPACITOR, FUNCTION, JSONRPC, NATIVE, URL, WEBVIEW, Incoming
from ledger import Call, End, Ledger
from promises import LIMIT_SECONDS
from wire import Wire

if TYPE_CHECKING:
    from soak import Soak

TRACE_LINES = 24
"""The number of messages that are shown of a client whose promise was broken."""

TRACE_BYTES = 240

DEFAULT_SECONDS = 30.0
"""The longest `call_timeout` that the soak configures."""

AT_ONCE_SECONDS = 10.0
"""The limit for tasks that wait for nothing, and so end long before their deadline."""

AT_ONCE = frozenset({"Echo", "bridge.publish", "bridge.subscribe", "bridge.ping", "bridge.tasks", "bridge.status"})

ALL_DIALECTS = (NATIVE, WEBVIEW, JSONRPC, URL, FUNCTION, CAPACITOR)

STOPPING = frozenset({"daemon.stopping", "plugin.unavailable", "provider.closed", "session.closed", "call.cancelled", "task.not_found"})
"""The errors that calls may end with once the daemon was asked to stop: it, its plugins and other clients end."""


class Client:
    """The connection of a well-behaved client. Use `Soak.connect`."""

    def __init__(self, soak: Soak, name: str) -> None:
        self.soak = soak
        self.name = name
        self.life = soak.daemon.life
        self.trace: deque[str] = deque(maxlen=TRACE_LINES)
        self.ledger = Ledger(self.broke)
        self.is_prompt = True
        """Whether it reads messages as soon as they arrive; see `Ledger.ended`."""
        self.finishes: Optional[End] = None
        self.is_counted = True
        self.ended = False
        self.end_waiter = asyncio.get_running_loop().create_future()
        self.on_event: Callable[[Incoming], None] = lambda event: None
        self.on_call: Callable[[dict[str, Any]], None] = self._unasked
        self.on_cancel: Callable[[Any], None] = self._unasked
        self._wire = Wire(soak.socket, self._line, self._end)
        self._waits: list[tuple[Callable[[], bool], asyncio.Future[None]]] = []

    def broke(self, what: str) -> None:
        self.soak.promises.broke(self.name, what, self.trace)

    async def connect(self) -> None:
        await self._wire.connect()
        self.soak.clients.add(self)

    # Calling

    def prepare(self, task: str, options: Any, dialect: str = NATIVE, *, timeout: Optional[int] = None,
                progress: bool = False, may: Iterable[str] = (), must: Iterable[str] = (),
                check: Optional[Callable[[Any], bool]] = None) -> tuple[Call, dict[str, Any]]:
        """Records a call in the ledger; returns it and its message, which the caller sends."""
        fields: dict[str, Any] = {"timeout": timeout} if timeout else {}
        if progress:
            fields["progress"] = True
        wait = AT_ONCE_SECONDS if task in AT_ONCE else DEFAULT_SECONDS
        deadline = time.monotonic() + (timeout / 1000 if timeout else wait)
        call = Call(self.ledger.next_number(), task, dialect, deadline, frozenset(may) | frozenset(must),
                    frozenset(must), check, progress)
        message = dialects.call(dialect, call.number, task, options, **fields)
        self.ledger.sent(call)
        if self.ended:
            self.ledger.give_up(call)
        return call, message

    def start(self, task: str, options: Any, dialect: str = NATIVE, **more: Any) -> Call:
        call, message = self.prepare(task, options, dialect, **more)
        self.send(message)
        return call

    async def call(self, task: str, options: Any, dialect: str = NATIVE, **more: Any) -> Optional[Incoming]:
        """Waits for the end of the call; returns None if the connection ended first."""
        call, message = self.prepare(task, options, dialect, **more)
        if self.ended:
            return None
        call.waiter = asyncio.get_running_loop().create_future()
        self.send(message)
        return await call.waiter

    def cancel(self, call: Call) -> None:
        call.cancelled = True
        message = dialects.cancel(call.dialect, call.number)
        if message is None:
            # bridge.cancel cancels calls of the dialect in which it is called. URL and FUNCTION count as native.
            dialect = call.dialect if call.dialect != URL else FUNCTION
            options = {"callbackId": dialects.id_in(call.dialect, call.number)}
            self.start("bridge.cancel", options, dialect)
        else:
            self.send(message)

    def send(self, *messages: Any) -> None:
        """Sends messages, each in a line of its own."""
        lines = [json.dumps(message, separators=(",", ":")).encode() for message in messages]
        for line in lines:
            self.trace.append("→ " + line[:TRACE_BYTES].decode(errors="replace"))
        self.send_bytes(b"\n".join(lines) + b"\n", traced=True)

    def send_bytes(self, data: bytes, traced: bool = False) -> None:
        if not traced:
            self.trace.append("→ " + repr(data[:TRACE_BYTES]))
        self._wire.send(data)

    async def below(self, calls: int) -> None:
        """Waits until at most that number of its calls are in flight."""
        await self.until(lambda: len(self.ledger.open) <= calls)

    async def until(self, condition: Callable[[], bool], seconds: Optional[float] = None) -> bool:
        """Waits until a condition holds, which each message may change, or the connection has ended.

        Returns whether the condition holds.
        """
        if not condition() and not self.ended:
            wait = (condition, asyncio.get_running_loop().create_future())
            self._waits.append(wait)
            await asyncio.wait((wait[1],), timeout=seconds)
            if wait in self._waits:
                self._waits.remove(wait)
        return condition()

    def pause(self) -> None:
        self.is_prompt = False
        self._wire.pause()

    def resume(self) -> None:
        self._wire.resume()

    # Ending

    async def finish(self) -> None:
        """Ends in order: shuts down its side and receives the missing callbacks, until the daemon closes the
        connection."""
        if self.ended:
            return
        self.finishes = "finished"
        self._wire.half_close()
        await self._closes("the daemon does not close the connection of a client that has shut down its side")

    def leave(self) -> None:
        """Closes the connection immediately, with calls in flight, whose ends it does not receive."""
        if self.ended:
            return
        self._wire.close()
        self._over("left")

    async def closed_by_task(self) -> None:
        """Closes its own session by `closeWeb`."""
        if self.ended:
            return
        self.finishes = "closed"
        # If the task fails, the connection continues and ends in the ordinary way.
        answer = await self.call("closeWeb", {}, may=CRASHES)
        if answer is not None and answer.failed:
            self.finishes = None
            return await self.finish()
        await self._closes("closeWeb does not close the connection of its caller")

    async def _closes(self, otherwise: str) -> None:
        """Waits until the daemon closes the connection."""
        await asyncio.wait((self.end_waiter,), timeout=LIMIT_SECONDS)
        if not self.ended:
            self.broke(otherwise)
            self.leave()

    # Receiving

    def _line(self, line: bytes) -> None:
        self.trace.append("← " + line[:TRACE_BYTES].decode(errors="replace"))
        if not self.is_counted:
            return
        try:
            message = json.loads(line)
        except ValueError:
            return self.broke("a line that is not valid JSON")
        for item in message if isinstance(message, list) else (message,):
            self._message(dialects.read(item))
        self.wake()

    def _message(self, message: Incoming) -> None:
        if message.kind == "callback":
            call = self.ledger.callback(message)
            if call is not None:
                self._callback(call, message)
        elif message.kind == "progress":
            self.ledger.progress(message)
        elif message.kind == "event":
            self.on_event(message)
        elif message.kind == "call":
            self.on_call(message.body)
        elif message.kind == "cancel":
            self.on_cancel(message.id)
        else:
            self.broke("a message of no known form")

    def _callback(self, call: Call, message: Incoming) -> None:
        if message.failed:
            self.soak.promises.count[f"error {message.code}"] += 1
            allowed = message.code in call.may or (call.cancelled or self.finishes == "closed") and (
                message.code == "call.cancelled")
            if not allowed and not (self.life and self.life.stopping and message.code in STOPPING):
                self.broke(f"{call.task} ({call.number}) ended with {message.code}, and nothing was wrong")
        elif call.must and not call.cancelled:
            self.broke(f"{call.task} ({call.number}) ended with a result, and was to fail with {sorted(call.must)}")
        elif call.check is not None and not call.check(message.body):
            self.broke(f"{call.task} ({call.number}) has a wrong result")
        if call.waiter is not None and not call.waiter.done():
            call.waiter.set_result(message)

    def _unasked(self, message: Any) -> None:
        self.broke("a call, or a cancel, though it provides no tasks")

    def wake(self) -> None:
        """Wakes the waiting coroutines whose condition holds now."""
        for condition, waiter in self._waits:
            if (self.ended or condition()) and not waiter.done():
                waiter.set_result(None)
        if self._waits:
            self._waits = [wait for wait in self._waits if not wait[1].done()]

    def _end(self, unfinished: bytes) -> None:
        """Handles the end of the connection by the daemon."""
        assert self.life is not None
        if self.life.killed:
            end: End = "lost"
        elif self.life.stopping:
            end = "drained"
        else:
            end = self.finishes or "alone"
            if unfinished:
                self.broke("the connection ended in the middle of a line")
        self._over(end)

    def _over(self, end: End) -> None:
        if self.ended:
            return
        self.ended = True
        self.soak.clients.discard(self)
        if self.is_counted:
            owed = self.ledger.ended(end, self.is_prompt)
            self.soak.book(self.ledger, end, owed)
        self.end_waiter.set_result(None)
        self.wake()


CRASHES = frozenset({"plugin.crashed", "plugin.unavailable"})
"""The errors that calls to a plugin may end with if its process is crashed deliberately."""

WORKER = CRASHES | {"busy"}
"""The errors that calls to the soak's own workers may end with: some clients make more calls than the workers
accept."""
