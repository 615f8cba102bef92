"""A call of a task that this end provides, and who made it."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass
from typing import Any, Callable, Optional, TypeVar

from . import messages, wire
from .errors import CALL_CANCELLED, BridgeError
from .jsontext import encode

T = TypeVar("T")


@dataclass(frozen=True)
class Caller:
    """Who called. The daemon writes it, whatever the caller sent.

    Attributes:
        session: the caller's session; 0: the daemon or a plugin.
        uid: the caller's user id; None where the daemon does not say.
        origin: what the session speaks for; "local" unless it named something else.
        user: who is logged in there, or None.
        gid: the caller's group id. Like `pid` and `client` it is None where the daemon does not say.
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
            gid, pid, client, json.get(wire.TRUSTED) is True,
        )


def _of(kind: type[T], value: Any) -> Optional[T]:
    return value if isinstance(value, kind) else None


class ProvidedCall:
    """What calls of tasks of clients and of plugins have in common.

    Attributes:
        task: the name of the task.
        caller: who calls.
        deadline: when the call ends by itself, by `time.monotonic()`; None: no such time is known.
        wants_progress: whether the caller takes intermediate results.
        one_way: no caller gets its result.
    """

    def __init__(
        self, message: dict[str, Any], callback_id: Optional[messages.MessageID],
        report: Callable[[Any, bytes], bool], clock: Callable[[], float] = time.monotonic,
    ) -> None:
        timeout = message.get(wire.TIMEOUT)
        self.task: str = message["task"]
        self.caller = Caller.from_json(message.get("caller"))
        self.deadline: Optional[float] = clock() + timeout / 1000 if isinstance(timeout, (int, float)) else None
        self.one_way = callback_id is None
        self.wants_progress = message.get("progress") is True and not self.one_way
        # The rest is the library's own.
        self._options: Any = message.get("options", {})
        self._id = callback_id
        self._report = report
        self._clock = clock
        self._sequence = 0
        self._has_ended = False
        self._cancelled = threading.Event()

    @property
    def time_remaining(self) -> Optional[float]:
        """Seconds until the deadline, as of now: 0.0 where it has passed, None where there is none."""
        return None if self.deadline is None else max(0.0, self.deadline - self._clock())

    @property
    def cancelled(self) -> bool:
        """Whether no one waits any longer: the caller cancelled, its deadline passed, or the connection is gone."""
        return self._cancelled.is_set()

    def check_cancelled(self) -> None:
        """Ends a function that works in steps, where no one waits for its result any longer. Any thread.

        Raises:
            BridgeError: `call.cancelled`, where the call was cancelled.
        """
        if self.cancelled:
            raise BridgeError(CALL_CANCELLED, f"the call of {self.task} was cancelled", {"started": True})

    def report_progress(self, value: Any) -> bool:
        """Sends an intermediate result, any JSON, to a caller that wants it. Never waits. Any thread; it comes before
        the result where it is sent before the function returns. A caller may get the newest value only: bytes, or data
        that must all arrive, go as a stream.

        Returns:
            Whether it was taken. It is not where the caller wants none, where the call has ended, where it is longer
            than a message may be, and where the daemon reads too slowly.

        Raises:
            BridgeError: `options.invalid` where the value has no JSON.
        """
        if not self.wants_progress or self._has_ended or self.cancelled:
            return False
        return self._report(self, encode(value))


class IncomingCall(ProvidedCall):
    """A call of a task that this client provides: what its handler is given beside the options."""

    def wait_cancelled(self, timeout: Optional[float] = None) -> bool:
        """Blocks a handler's thread until the call is cancelled, or for so many seconds. For functions that have a
        thread; those that are `async` are cancelled as their tasks.

        Returns:
            Whether it was cancelled.

        Raises:
            RuntimeError: this is the thread of an event loop.
        """
        refuse_on_event_loop("wait_cancelled", "an async function is cancelled as its task")
        return self._cancelled.wait(timeout)


def refuse_on_event_loop(name: str, instead: str) -> None:
    """Refuses to wait on the thread of an event loop, whose other tasks would stop.

    Args:
        name: what would wait.
        instead: what to do there.

    Raises:
        RuntimeError: this is such a thread.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError(f"{name} waits, and would stop the event loop: {instead}")
