"""The calls that this client makes, from submission to their single end."""

from __future__ import annotations

import math
from itertools import count
from typing import Any, Callable, Optional

from . import messages
from .call import Call, Outcome, Success
from .errors import (
    BUSY, CALL_CANCELLED, CALL_TIMEOUT, GOES_AS_STREAM, REPLY_INVALID, MESSAGE_TOO_LARGE, DAEMON_STOPPING,
    BridgeError, started_data, unreachable,
)
from .output import OutputQueue
from .pipes import Passed, PassedPipes
from .settings import Settings
from .timers import Timers
from .waiting import WaitingCalls

_BUSY_PAUSE = 0.1
"""The `retry_after` of a call that a full queue refuses, in seconds. The daemon uses the same value for its limits."""


class CallTable:
    """All calls that have not ended. The only place where calls end.

    `hold` is called when a stopping daemon refuses a call. It returns whether calls may wait for the next daemon.
    """

    def __init__(self, output: OutputQueue, timers: Timers, settings: Settings, hold: Callable[[], bool]) -> None:
        self.message_bytes = 1 << 20
        """The maximum length of a line to the daemon, without its line end; from `bridge.hello`."""
        self.passed = PassedPipes()
        self._output = output
        self._timers = timers
        self._limits = settings.limits
        self._socket = settings.socket
        self._hold = hold
        self._ids = count(1)
        self._flying: dict[int, Call] = {}
        self._waiting: WaitingCalls[Call] = WaitingCalls(settings.limits)

    # Beginning

    def wait(self, call: Call) -> None:
        """Makes a call wait until there is a connection."""
        if not self._waiting.has_room(call):
            return self.end(call, self._waiting.busy())
        self._waiting.append(call)
        most = self._limits.max_wait if call.timeout is None else call.timeout
        left = self._start_clock(call) + most - self._timers.clock()
        if left != math.inf:
            call.timer = self._timers.after(max(left, 0.0), lambda: self._give_up(call))

    def send(self, call: Call, *, urgent: bool = False) -> None:
        """Puts a call into the output. An urgent call ignores the bound of the queue."""
        made_at = self._start_clock(call)
        call_id = None if call.one_way else next(self._ids)
        left = None if call.timeout is None else made_at + call.timeout - self._timers.clock()
        line = messages.call(
            call.task, call.options, callback_id=call_id, timeout=left, progress=call.wants_progress,
            session=call.session,
        )
        if len(line) - 1 > self.message_bytes:
            most = self.message_bytes
            length = f"{len(line) - 1} bytes; the daemon's maximum is {most}"
            text = f"the call of {call.name} has {length}: {GOES_AS_STREAM}"
            return self.end(call, BridgeError(MESSAGE_TOO_LARGE, text, started_data(False)))
        if not urgent and self._is_full(len(line)):
            return self._refuse_busy(call)
        chunk = self._output.append(line)
        if call_id is None:
            return self.end(call, Success(None))
        call.id, call.chunk = call_id, chunk
        self._flying[call_id] = call
        self.passed.expect(call_id, call.task)
        if left is not None and left != math.inf:
            self._guard(call, left + self._limits.grace)

    def send_waiting(self) -> None:
        """Sends all waiting calls, in order. Called when there is a connection."""
        for call in self._waiting.take_all():
            self._stop_timer(call)
            self.send(call, urgent=True)

    def _start_clock(self, call: Call) -> float:
        """Returns the time at which the call was made; sets it at the first use."""
        if call.made_at is None:
            call.made_at = self._timers.clock()
        return call.made_at

    def _is_full(self, more_bytes: int) -> bool:
        # An empty queue accepts any message, so that a small bound does not forbid a message forever.
        queued = self._output.queued_bytes
        return queued > 0 and queued + more_bytes > self._limits.max_queued_bytes

    # Messages

    def callback(self, message: dict[str, Any]) -> bool:
        """Handles a callback. Returns False if it belongs to no call."""
        pipe = self.passed.take(message)
        call = self._find(message["callbackId"])
        if pipe is not None and (call is None or not call.wants_pipe):
            pipe.close()
        if call is None:
            return False
        if ("result" in message) == ("error" in message):
            text = "the callback must have exactly one of result and error"
            self.end(call, BridgeError(REPLY_INVALID, text))
        elif "result" in message:
            result = message["result"]
            self.end(call, Success(Passed(result, pipe) if call.wants_pipe else result))
        else:
            self._fail(call, BridgeError.from_json(message["error"]))
        return True

    def _fail(self, call: Call, error: BridgeError) -> None:
        """Ends a call with the daemon's error. A call that a stopping daemon refused may wait for the next daemon."""
        is_refusal = error.code == DAEMON_STOPPING and error.started is False
        may_wait = not call.of_connection and not call.is_cancelled
        if call.id is not None and is_refusal and may_wait and self._hold() and self._waiting.has_room(call):
            del self._flying[call.id]
            call.id = call.chunk = None
            call.last_sequence = -1
            self._stop_timer(call)
            self.wait(call)
        else:
            self.end(call, error)

    def progress(self, message: dict[str, Any]) -> bool:
        """Handles an intermediate result. Returns False if no call requested it."""
        call = self._find(message["callbackId"])
        if call is None or not call.wants_progress:
            return False
        sequence = message.get("sequence")
        if type(sequence) is int:
            # Numbers may be missing but never decrease: a lower or equal number is a duplicate.
            if sequence <= call.last_sequence:
                return False
            call.last_sequence = sequence
        call.sink.progressed(message["progress"])
        return True

    def _find(self, callback_id: Any) -> Optional[Call]:
        return self._flying.get(callback_id) if type(callback_id) is int else None

    # Ending

    def cancel(self, call: Call) -> None:
        """Cancels a call for its caller. The call ends with the daemon's answer, at the latest after `grace`."""
        if call.has_ended:
            return
        call.is_cancelled = True
        if self._recall(call):
            return self._end_cancelled(call, False)
        self._stop_timer(call)
        call.timer = self._timers.after(self._limits.grace, lambda: self._end_cancelled(call, call.started))

    def abandon(self, call: Call) -> None:
        """Ends a call immediately because its caller no longer waits. The daemon gets a cancel."""
        if call.has_ended:
            return
        self._end_cancelled(call, False if self._recall(call) else call.started)

    def _recall(self, call: Call) -> bool:
        """Removes a call from the output, or else sends a cancel. Returns True if no part of the call is ever sent."""
        if call.id is None or call.chunk is None:
            return True
        if self._output.take_back(call.chunk):
            self.passed.forget(call.id)
            return True
        self._output.append(messages.cancel(call.id))
        return False

    def end_flying(self, error: BridgeError) -> None:
        """Ends all calls in flight. Called when the connection has ended."""
        self.passed.clear()
        for call in list(self._flying.values()):
            self.end(call, error.ending(call.name, call.may_have_begun))

    def end_waiting(self, error: BridgeError) -> None:
        """Ends all calls that wait for a connection. Called when no further connection follows."""
        for call in list(self._waiting):
            self.end(call, error.ending(call.name, started=False))

    def dismiss_all(self, error: BridgeError) -> None:
        """Ends all calls when this client closes. The daemon gets cancels of the calls in flight."""
        for call in list(self._flying.values()):
            self.end(call, error.ending(call.name, started=not self._recall(call)))
        self.end_waiting(error)

    def end(self, call: Call, outcome: Outcome) -> None:
        """Ends a call. Does nothing if it has ended."""
        if call.has_ended:
            return
        call.has_ended = True
        self._stop_timer(call)
        if call.id is not None:
            self._flying.pop(call.id, None)
        self._waiting.remove(call)
        call.sink.ended(outcome)

    def _end_cancelled(self, call: Call, started: Optional[bool]) -> None:
        text = f"the call of {call.name} was cancelled here"
        self.end(call, BridgeError(CALL_CANCELLED, text, started_data(started)))

    def _refuse_busy(self, call: Call) -> None:
        text = f"more than {self._limits.max_queued_bytes} bytes wait for the daemon to read them"
        self.end(call, BridgeError(BUSY, text, started_data(False), transient=True, retry_after=_BUSY_PAUSE))

    def _give_up(self, call: Call) -> None:
        if call.timeout is None:
            how = f"the connection was lost and not restored for {self._limits.max_wait:g} s"
            return self.end(call, unreachable(self._socket, how).ending(call.name, started=False))
        text = f"there was no connection to the daemon before the deadline of the call of {call.name}"
        self.end(call, BridgeError(CALL_TIMEOUT, text, started_data(False), transient=True))

    def _guard(self, call: Call, seconds: float) -> None:
        def expire() -> None:
            started = False if self._recall(call) else call.started
            text = f"the daemon sent neither a callback of {call.name} nor its timeout"
            self.end(call, BridgeError(CALL_TIMEOUT, text, started_data(started), transient=True))

        call.timer = self._timers.after(seconds, expire)

    @staticmethod
    def _stop_timer(call: Call) -> None:
        if call.timer is not None:
            call.timer.cancel()
            call.timer = None
