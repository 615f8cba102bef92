"""The tasks that this end provides, and the calls of them that run."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, Callable, Optional, Protocol, TypeVar

from . import messages
from .errors import BUSY, CALL_CANCELLED, INTERNAL, RESULT_TOO_LARGE, TASK_NOT_FOUND, BridgeError
from .jsontext import encode
from .output import OutputQueue
from .settings import Limits

SCOPES = ("any", "session")


@dataclass(frozen=True)
class Caller:
    """Who called, as the daemon says; nobody can pretend.

    Attributes:
        session: the caller's session; 0: the daemon or a plugin.
        uid: the caller's user id; None where the daemon does not say.
        origin: what the session speaks for; "local" unless it named something else.
        user: who is logged in there, or None.
        gid: the caller's group id; like all that follow, only workers are told it.
        pid: the caller's process when it connected; it may have ended since.
        client: the name that the client gave itself; nothing may be decided by it.
        trusted: the caller is a local session of root or the daemon's own user, or the daemon.
    """

    session: int = 0
    uid: Optional[int] = None
    origin: str = "local"
    user: Optional[str] = None
    gid: Optional[int] = None
    pid: Optional[int] = None
    client: Optional[str] = None
    trusted: bool = False

    @staticmethod
    def from_json(json: Any) -> Caller:
        """Reads the field `caller`."""
        if not isinstance(json, dict):
            return Caller()
        session, origin = json.get("session"), json.get("origin")
        uid, gid, pid = (_of(int, json.get(name)) for name in ("uid", "gid", "pid"))
        user, client = (_of(str, json.get(name)) for name in ("user", "client"))
        return Caller(
            session if isinstance(session, int) else 0, uid, origin if isinstance(origin, str) else "local", user,
            gid, pid, client, json.get("trusted") is True,
        )


T = TypeVar("T")


def _of(kind: type[T], value: Any) -> Optional[T]:
    return value if isinstance(value, kind) else None


class IncomingCall:
    """A call of a task that this client provides: what its handler is given beside the options.

    Attributes:
        task: the name of the task.
        caller: who calls.
        timeout: seconds that the caller still waited when the call was sent here; None: without end.
        wants_progress: whether the caller takes intermediate results; without it `progress` does nothing.
        one_way: nobody hears what becomes of the call.
    """

    def __init__(
        self, message: dict[str, Any], callback_id: Optional[messages.MessageID],
        report: Callable[[IncomingCall, bytes], None],
    ) -> None:
        timeout = message.get("timeout")
        self.task: str = message["task"]
        self.caller = Caller.from_json(message.get("caller"))
        self.timeout: Optional[float] = timeout / 1000 if isinstance(timeout, (int, float)) else None
        self.one_way = callback_id is None
        self.wants_progress = message.get("progress") is True and not self.one_way
        # The rest is the library's own.
        self._options: Any = message.get("options", {})
        self._id = callback_id
        self._report = report
        self._sequence = 0
        self._cancelled = threading.Event()

    def progress(self, value: Any) -> None:
        """Sends an intermediate result, any JSON, to a caller that wants it. Does not wait.

        It is dropped where the call has ended, and where the daemon reads so slowly that the queue is full;
        the protocol allows numbers to be missing.

        Raises:
            BridgeError: `options.invalid` where the value has no JSON.
        """
        if self.wants_progress:
            self._report(self, encode(value))

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits any more: the caller cancelled, its deadline passed, or the connection is
        gone."""
        return self._cancelled.is_set()

    def wait_cancelled(self, timeout: Optional[float] = None) -> bool:
        """Blocks a handler's thread until the call is cancelled, or for so many seconds. For handlers of the
        synchronous face; those of asyncio are cancelled as their tasks.

        Returns:
            Whether it was cancelled.
        """
        return self._cancelled.wait(timeout)


MakeCall = Callable[
    [dict[str, Any], Optional[messages.MessageID], Callable[[IncomingCall, bytes], None]], IncomingCall
]


class HandlerRunner(Protocol):
    """A face's way to run handlers. Called on the thread that owns the core; must not block."""

    def run(self, call: IncomingCall, handler: Any) -> None:
        """Begins a call. It ends with `ProvidedTasks.answer`, whatever the handler does."""

    def cancel(self, call: IncomingCall) -> None:
        """Nobody waits for this call any more."""

    def report(self, call: IncomingCall, value: bytes) -> None:
        """Brings an intermediate result to `ProvidedTasks.progress`, from the thread of the handler."""


class Registration:
    """A task that is provided."""

    def __init__(self, scope: str, handler: Any) -> None:
        self.scope = scope
        self.handler = handler
        self.confirmed = False
        """Whether the daemon has taken it: only then it is registered again in the next session."""


class ProvidedTasks:
    """The handlers by task, and the calls that run, by the id that the daemon chose.

    Invariant: a call leaves `_running` exactly once, and only then, at most, it is answered. When the
        connection is
    lost all leave it, so that no answer goes to another session.
    """

    def __init__(
        self, output: OutputQueue, runner: HandlerRunner, limits: Limits, *,
        make_call: MakeCall = IncomingCall, provider: str = "client",
    ) -> None:
        """
        Args:
            make_call: makes what handlers are given.
            provider: what this end calls itself in errors.
        """
        self.registrations: dict[str, Registration] = {}
        self._make_call = make_call
        self._provider = provider
        self.message_bytes = 1 << 20
        self._output = output
        self._runner = runner
        self._limits = limits
        self._running: dict[messages.MessageID, IncomingCall] = {}
        # One-way calls have no id; they are told apart by being themselves.
        self._running_one_way: set[IncomingCall] = set()

    def receive(self, message: dict[str, Any]) -> bool:
        """A call came; False: it is a duplicate, or its id is none."""
        callback_id = message.get("callbackId")
        if callback_id is not None and (not messages.is_id(callback_id) or callback_id in self._running):
            return False
        call = self._make_call(message, callback_id, self._runner.report)
        registration = self.registrations.get(call.task)
        if registration is None:
            self._write_error(call, BridgeError(TASK_NOT_FOUND, f"this {self._provider} provides no task {call.task}"))
        elif len(self._running) + len(self._running_one_way) >= self._limits.running_calls:
            text = f"this {self._provider} works on {self._limits.running_calls} calls, as many as it does at once"
            self._write_error(call, BridgeError(BUSY, text, transient=True, retry_after=1.0))
        else:
            if callback_id is None:
                self._running_one_way.add(call)
            else:
                self._running[callback_id] = call
            self._runner.run(call, registration.handler)
        return True

    def cancel(self, callback_id: Any) -> None:
        """The caller cancels: the handler is told; it still ends with the one callback."""
        call = self._running.get(callback_id) if messages.is_id(callback_id) else None
        if call is not None:
            self._cancel(call)

    def cancel_all(self) -> None:
        """Nobody waits any more for whatever runs, and nobody can be answered."""
        calls = [*self._running.values(), *self._running_one_way]
        self._running.clear()
        self._running_one_way.clear()
        for call in calls:
            self._cancel(call)

    def _cancel(self, call: IncomingCall) -> None:
        call._cancelled.set()
        self._runner.cancel(call)

    def answer(self, call: IncomingCall, result: Optional[bytes], error: Optional[BridgeError]) -> None:
        """The handler is done: `result`, as JSON, or the error. Dropped where nobody waits for it any
        more."""
        self._running_one_way.discard(call)
        if call._id is None or self._running.get(call._id) is not call:
            return
        del self._running[call._id]
        if error is not None or result is None:
            return self._write_error(call, error or BridgeError(INTERNAL, f"{call.task} gave no answer"))
        line = messages.result(call._id, result)
        if len(line) - 1 > self.message_bytes:
            most = self.message_bytes
            text = f"the result of {call.task} has {len(result)} bytes, and a message at most {most}"
            return self._write_error(call, BridgeError(RESULT_TOO_LARGE, text))
        self._output.append(line)

    def _write_error(self, call: IncomingCall, error: BridgeError) -> None:
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

    def progress(self, call: IncomingCall, value: bytes) -> None:
        """An intermediate result, as JSON. Dropped where nobody waits for it, and where the queue is full."""
        if call._id is None or self._running.get(call._id) is not call:
            return
        line = messages.progress(call._id, call._sequence, value)
        if len(line) - 1 > self.message_bytes or self._output.queued_bytes > self._limits.queued_bytes:
            return
        call._sequence += 1
        self._output.append(line)


def _unsayable(call: IncomingCall, fault: BridgeError) -> BridgeError:
    return BridgeError(INTERNAL, f"the error of {call.task} has no JSON: {fault.message}")


def handler_error(task: str, error: BaseException) -> BridgeError:
    """What the caller gets of an exception that a handler raised."""
    if isinstance(error, BridgeError):
        return error
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    # Text of exceptions may hold anything, such as file names that are no Unicode.
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return BridgeError(INTERNAL, f"{task} failed: {text}")


def cancelled_error(started: bool) -> BridgeError:
    """The callback of a call that was cancelled before its handler returned."""
    return BridgeError(CALL_CANCELLED, "the call was cancelled", {"started": started})


def encode_result(task: str, value: Any) -> tuple[Optional[bytes], Optional[BridgeError]]:
    """A handler's result as JSON, or the error that its caller gets instead."""
    try:
        return encode(value), None
    except BridgeError as fault:
        return None, BridgeError(INTERNAL, f"the result of {task} has no JSON: {fault.message}")
