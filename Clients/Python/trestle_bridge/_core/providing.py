"""The tasks that this process provides, and their running calls."""

from __future__ import annotations

from collections import Counter
from typing import Any, Callable, Literal, Optional, Protocol

from . import messages
from .description import TaskDescription
from .errors import (
    BUSY, CALL_CANCELLED, GOES_AS_STREAM, INTERNAL, RESULT_TOO_LARGE, TASK_NOT_FOUND, BridgeError,
)
from .incoming import IncomingCall, ProvidedCall
from .jsontext import encode
from .output import OutputQueue
from .settings import Limits

Scope = Literal["any", "session"]
"""The calls that a provided task gets: `any` for the calls of all clients, `session` for calls that name this
session."""

SCOPES = ("any", "session")


def check_scope(scope: str) -> None:
    """Checks a scope.

    Raises:
        ValueError: it is not one of `SCOPES`.
    """
    if scope not in SCOPES:
        raise ValueError(f"the scope of a task is one of {', '.join(SCOPES)}, not {scope!r}")


MakeCall = Callable[[dict[str, Any], Optional[messages.MessageID], Callable[[Any, bytes], bool]], Any]
"""Makes a `ProvidedCall` from a message."""


class HandlerRunner(Protocol):
    """Runs the handlers of an interface. Called on the thread that owns the core; must not block. A call is a
    `ProvidedCall`, of the class that the interface makes."""

    def run(self, call: Any, handler: Any) -> None:
        """Begins a call. It always ends with `ProvidedTasks.answer`."""

    def cancel(self, call: Any) -> None:
        """Cancels a call whose caller no longer waits."""

    def report(self, call: Any, value: bytes) -> bool:
        """Passes an intermediate result from the handler's thread to `ProvidedTasks.progress`. Returns whether it will
        be sent."""


class ProvidedTask:
    """A provided task and its handler."""

    def __init__(
        self, task: str, handler: Any, scope: str = "any", description: Optional[TaskDescription] = None
    ) -> None:
        self.task = task
        self.handler = handler
        self.scope = scope
        self.description = description
        self.confirmed = False
        """Whether the daemon has accepted it. Only confirmed tasks are registered again in the next session."""


_PROGRESS_BYTES = 64
"""The maximum number of bytes in a progress message besides the value and the id of the call."""


class ProvidedTasks:
    """The handlers by task, and the running calls by the daemon's ids.

    Invariant: a call is removed exactly once, and at most at that point it is answered. When the connection is lost,
    all calls are removed, so that no answer goes to another session.
    """

    def __init__(
        self, output: OutputQueue, runner: HandlerRunner, limits: Limits, *,
        make_call: MakeCall = IncomingCall, provider: str = "client",
    ) -> None:
        """
        Args:
            make_call: makes the call objects for handlers.
            provider: the name for this process in errors.
        """
        self.tasks: dict[str, ProvidedTask] = {}
        self._make_call = make_call
        self._provider = provider
        self.message_bytes = 1 << 20
        self._output = output
        self._runner = runner
        self._limits = limits
        self._running: dict[messages.MessageID, ProvidedCall] = {}
        # One-way calls have no id; they are distinguished by identity.
        self._running_one_way: set[ProvidedCall] = set()
        # The number of calls of both kinds, by uid.
        self._running_of: Counter[Optional[int]] = Counter()

    def receive(self, message: dict[str, Any]) -> bool:
        """Handles a call. Returns False if it is a duplicate or its id is invalid."""
        callback_id = message.get("callbackId")
        if callback_id is not None and (not messages.is_id(callback_id) or callback_id in self._running):
            return False
        call = self._make_call(message, callback_id, self._runner.report)
        provided = self.tasks.get(call.task)
        if provided is None:
            self._write_error(call, BridgeError(TASK_NOT_FOUND, f"this {self._provider} provides no task {call.task}"))
        elif self._running_of[call.caller.uid] >= self._limits.max_running_calls:
            text = f"this {self._provider} has {self._limits.max_running_calls} calls of this user, the maximum"
            self._write_error(call, BridgeError(BUSY, text, transient=True, retry_after=1.0))
        else:
            self._running_of[call.caller.uid] += 1
            if callback_id is None:
                self._running_one_way.add(call)
            else:
                self._running[callback_id] = call
            self._runner.run(call, provided.handler)
        return True

    def cancel(self, callback_id: Any) -> None:
        """Notifies the handler that the caller cancelled. The call still ends with its one callback."""
        call = self._running.get(callback_id) if messages.is_id(callback_id) else None
        if call is not None:
            self._cancel(call)

    def cancel_all(self) -> None:
        """Cancels all calls and drops their answers, because the session has ended."""
        calls = [*self._running.values(), *self._running_one_way]
        self._running.clear()
        self._running_one_way.clear()
        self._running_of.clear()
        for call in calls:
            self._cancel(call)

    def _cancel(self, call: ProvidedCall) -> None:
        call._cancelled.set()
        self._runner.cancel(call)

    def answer(self, call: ProvidedCall, result: Optional[bytes], error: Optional[BridgeError]) -> None:
        """Answers a call with `result`, as JSON, or with the error. Does nothing if the call was already removed."""
        call._has_ended = True
        if not self._leave(call) or call._id is None:
            return
        if error is not None or result is None:
            return self._write_error(call, error or BridgeError(INTERNAL, f"{call.task} returned no result"))
        line = messages.result(call._id, result)
        if len(line) - 1 > self.message_bytes:
            most = self.message_bytes
            text = f"the result of {call.task} has {len(result)} bytes, and a message at most {most}: {GOES_AS_STREAM}"
            return self._write_error(call, BridgeError(RESULT_TOO_LARGE, text))
        self._output.append(line)

    def _leave(self, call: ProvidedCall) -> bool:
        """Removes a call. Returns whether it was running."""
        if call in self._running_one_way:
            self._running_one_way.remove(call)
        elif call._id is not None and self._running.get(call._id) is call:
            del self._running[call._id]
        else:
            return False
        self._running_of[call.caller.uid] -= 1
        if self._running_of[call.caller.uid] == 0:
            del self._running_of[call.caller.uid]
        return True

    def _write_error(self, call: ProvidedCall, error: BridgeError) -> None:
        if call._id is None:
            return
        try:
            line = messages.error(call._id, encode(error.to_json()))
        except BridgeError as fault:
            line = messages.error(call._id, encode(_unsayable(call, fault).to_json()))
        if len(line) - 1 > self.message_bytes:
            short = BridgeError(INTERNAL, f"the error of {call.task} is longer than a message may be")
            line = messages.error(call._id, encode(short.to_json()))
        self._output.append(line)

    def has_room(self, call: ProvidedCall, value: bytes, more_bytes: int = 0) -> bool:
        """Whether an intermediate result of a call, as JSON, may be sent now.

        Args:
            more_bytes: the bytes of other accepted results that are not in the queue yet.
        """
        fits = len(value) + len(encode(call._id)) + _PROGRESS_BYTES <= self.message_bytes
        return fits and self._output.queued_bytes + more_bytes <= self._limits.max_queued_bytes

    def progress(self, call: ProvidedCall, value: bytes) -> bool:
        """Sends an intermediate result for which there was room. Returns False if the call has ended."""
        if call._id is None or self._running.get(call._id) is not call:
            return False
        self._output.append(messages.progress(call._id, call._sequence, value))
        call._sequence += 1
        return True


def _unsayable(call: ProvidedCall, fault: BridgeError) -> BridgeError:
    return BridgeError(INTERNAL, f"the error of {call.task} cannot be encoded as JSON: {fault.message}")


def handler_error(task: str, error: BaseException) -> BridgeError:
    """Returns the error that the caller gets for an exception of a handler."""
    if isinstance(error, BridgeError):
        return error
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    # The text may contain anything, such as file names that are not valid Unicode.
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return BridgeError(INTERNAL, f"{task} failed: {text}")


def cancelled_error(started: bool) -> BridgeError:
    """Returns the error of a call that was cancelled before its handler returned."""
    return BridgeError(CALL_CANCELLED, "the call was cancelled", {"started": started})
