"""The calls that this end makes, from submission to their one end."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any, Optional, Protocol, Union

from . import messages
from .errors import (
    BUSY, CALL_CANCELLED, CALL_TIMEOUT, DAEMON_UNREACHABLE, INVALID_REPLY, MESSAGE_TOO_LARGE, BridgeError,
    started_data,
)
from .output import Chunk, OutputQueue
from .settings import Limits
from .timers import Timer, Timers

_BUSY_PAUSE = 0.1
"""Seconds until more of a full queue will have been read; the same as the daemon says of its own limits."""


@dataclass(frozen=True)
class Success:
    """A call ended with a result."""

    value: Any


Outcome = Union[Success, BridgeError]


def unwrap(outcome: Outcome) -> Any:
    """The result, or its error raised; a new exception each time, as several waiters may raise it."""
    if isinstance(outcome, Success):
        return outcome.value
    raise outcome.copy()


class CallSink(Protocol):
    """Who made a call. Called on the thread that owns the core; must not block."""

    def progressed(self, value: Any) -> None:
        """An intermediate result; never after the end."""

    def ended(self, outcome: Outcome) -> None:
        """The end; exactly once."""


class Call:
    """One call. It waits for a connection, then it is in flight, then it has ended.

    Invariant: `id` and `chunk` are set exactly while it is in flight; both are None for one that waits.
    """

    __slots__ = ("task", "options", "timeout", "wants_progress", "session", "one_way", "sink",
                 "id", "chunk", "deadline", "timer", "last_sequence", "has_ended")

    def __init__(
        self,
        task: bytes,
        options: Optional[bytes],
        sink: CallSink,
        *,
        timeout: Optional[float] = None,
        wants_progress: bool = False,
        session: Optional[int] = None,
        one_way: bool = False,
    ) -> None:
        self.task = task
        self.options = options
        self.sink = sink
        self.timeout = timeout
        self.wants_progress = wants_progress
        self.session = session
        self.one_way = one_way
        self.id: Optional[int] = None
        self.chunk: Optional[Chunk] = None
        self.deadline: Optional[float] = None
        self.timer: Optional[Timer] = None
        self.last_sequence = -1
        self.has_ended = False

    @property
    def name(self) -> str:
        """The task, for error messages."""
        return self.task.decode("utf-8").strip('"')

    @property
    def started(self) -> Optional[bool]:
        """Whether its task may have begun, as far as this end can know: False, or None."""
        return None if self.chunk is not None and self.chunk.is_whole_out else False

    @property
    def size_bytes(self) -> int:
        """About what it takes in the queue."""
        return len(self.task) + len(self.options or b"") + 64


class CallTable:
    """All calls that have not ended. The only place where calls end.

    Calls that wait for a connection and lines that wait to be written share one bound.
    """

    def __init__(self, output: OutputQueue, timers: Timers, limits: Limits) -> None:
        self.message_bytes = 1 << 20
        """The longest line that the daemon takes, without its end; `bridge.hello` tells."""
        self._output = output
        self._timers = timers
        self._limits = limits
        self._ids = count(1)
        self._flying: dict[int, Call] = {}
        # A dict for its order and for taking out of the middle.
        self._waiting: dict[Call, None] = {}
        self._waiting_bytes = 0

    # Beginning

    def wait(self, call: Call) -> None:
        """Keeps a call until there is a connection."""
        if self._is_full(call.size_bytes):
            return self._refuse_busy(call)
        self._start_clock(call)
        self._waiting[call] = None
        self._waiting_bytes += call.size_bytes
        call.timer = self._timers.after(
            self._limits.reconnect_wait if call.timeout is None else call.timeout, lambda: self._give_up(call)
        )

    def send(self, call: Call, *, urgent: bool = False) -> None:
        """Puts a call into the output. An urgent one is not counted against the bound."""
        self._start_clock(call)
        call_id = None if call.one_way else next(self._ids)
        left = None if call.deadline is None else call.deadline - self._timers.clock()
        line = messages.call(
            call.task, call.options, callback_id=call_id, timeout=left, progress=call.wants_progress,
            session=call.session,
        )
        if len(line) - 1 > self.message_bytes:
            most = self.message_bytes
            text = f"the call of {call.name} has {len(line) - 1} bytes, and the daemon takes {most}"
            return self.end(call, BridgeError(MESSAGE_TOO_LARGE, text, started_data(False)))
        if not urgent and self._is_full(len(line)):
            return self._refuse_busy(call)
        chunk = self._output.append(line)
        if call_id is None:
            return self.end(call, Success(None))
        call.id, call.chunk = call_id, chunk
        self._flying[call_id] = call
        if left is not None:
            self._guard(call, left + self._limits.grace)

    def send_waiting(self) -> None:
        """There is a connection: whatever waited is sent, in its order."""
        waiting, self._waiting = self._waiting, {}
        self._waiting_bytes = 0
        for call in waiting:
            self._stop_timer(call)
            self.send(call, urgent=True)

    def _start_clock(self, call: Call) -> None:
        if call.deadline is None and call.timeout is not None:
            call.deadline = self._timers.clock() + call.timeout

    def _is_full(self, more_bytes: int) -> bool:
        # An empty queue takes any message, so that a small bound forbids none for ever.
        queued = self._output.queued_bytes + self._waiting_bytes
        return queued > 0 and queued + more_bytes > self._limits.queued_bytes

    # Messages

    def callback(self, message: dict[str, Any]) -> bool:
        """A callback came; False: it belongs to no call."""
        call = self._find(message["callbackId"])
        if call is None:
            return False
        if ("result" in message) == ("error" in message):
            text = "the callback bears neither or both of result and error"
            self.end(call, BridgeError(INVALID_REPLY, text))
        elif "result" in message:
            self.end(call, Success(message["result"]))
        else:
            self.end(call, BridgeError.from_json(message["error"]))
        return True

    def progress(self, message: dict[str, Any]) -> bool:
        """An intermediate result came; False: it belongs to no call that wants it."""
        call = self._find(message["callbackId"])
        if call is None or not call.wants_progress:
            return False
        sequence = message.get("sequence")
        if type(sequence) is int:
            # Numbers may be missing, but never go back: what does is a duplicate.
            if sequence <= call.last_sequence:
                return False
            call.last_sequence = sequence
        call.sink.progressed(message["progress"])
        return True

    def _find(self, callback_id: Any) -> Optional[Call]:
        return self._flying.get(callback_id) if type(callback_id) is int else None

    # Ending

    def cancel(self, call: Call) -> None:
        """The caller wants the call to end. The daemon's answer ends it, or `grace` does."""
        if call.has_ended:
            return
        if self._recall(call):
            return self._end_cancelled(call, False)
        self._stop_timer(call)
        call.timer = self._timers.after(self._limits.grace, lambda: self._end_cancelled(call, call.started))

    def abandon(self, call: Call) -> None:
        """The caller is gone. The call ends at once, and the daemon is told."""
        if call.has_ended:
            return
        self._end_cancelled(call, False if self._recall(call) else call.started)

    def _recall(self, call: Call) -> bool:
        """Has the daemon not begin the call, or end it. True: nothing of it was sent, nor will be."""
        if call.id is None or call.chunk is None or self._output.take_back(call.chunk):
            return True
        self._output.append(messages.cancel(call.id))
        return False

    def end_flying(self, error: BridgeError) -> None:
        """The connection is gone: everything that was in flight on it ends."""
        for call in list(self._flying.values()):
            self.end(call, error.copy(call.started))

    def end_waiting(self, error: BridgeError) -> None:
        """There will be no connection: everything that waits for one ends."""
        for call in list(self._waiting):
            self.end(call, error.copy(started=False))

    def dismiss_all(self, error: BridgeError) -> None:
        """This end closes: the daemon is told to cancel what is in flight, and everything ends."""
        for call in list(self._flying.values()):
            started = call.started
            if self._recall(call):
                started = False
            self.end(call, error.copy(started))
        self.end_waiting(error)

    def end(self, call: Call, outcome: Outcome) -> None:
        """Ends a call, unless it has ended."""
        if call.has_ended:
            return
        call.has_ended = True
        self._stop_timer(call)
        if call.id is not None:
            self._flying.pop(call.id, None)
        if call in self._waiting:
            del self._waiting[call]
            self._waiting_bytes -= call.size_bytes
        call.sink.ended(outcome)

    def _end_cancelled(self, call: Call, started: Optional[bool]) -> None:
        text = f"the call of {call.name} was cancelled here"
        self.end(call, BridgeError(CALL_CANCELLED, text, started_data(started)))

    def _refuse_busy(self, call: Call) -> None:
        text = f"more than {self._limits.queued_bytes} bytes wait for the daemon to read them"
        self.end(call, BridgeError(BUSY, text, started_data(False), transient=True, retry_after=_BUSY_PAUSE))

    def _give_up(self, call: Call) -> None:
        if call.timeout is None:
            seconds = self._limits.reconnect_wait
            code = DAEMON_UNREACHABLE
            text = f"there was no connection to the daemon for {seconds:g} s"
        else:
            code = CALL_TIMEOUT
            text = f"there was no connection to the daemon before the deadline of {call.name}"
        self.end(call, BridgeError(code, text, started_data(False), transient=True))

    def _guard(self, call: Call, seconds: float) -> None:
        def expire() -> None:
            started = False if self._recall(call) else call.started
            text = f"neither a callback of {call.name} nor word of its deadline came from the daemon"
            self.end(call, BridgeError(CALL_TIMEOUT, text, started_data(started), transient=True))

        call.timer = self._timers.after(seconds, expire)

    @staticmethod
    def _stop_timer(call: Call) -> None:
        if call.timer is not None:
            call.timer.cancel()
            call.timer = None
