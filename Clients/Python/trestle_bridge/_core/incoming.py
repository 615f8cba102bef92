"""A call of a task that this process provides, and its caller."""

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
    """The caller of a task. The daemon sets it; a caller cannot change it.

    Attributes:
        session: the caller's session; 0 for the daemon or a plugin.
        uid: the caller's user id; None if the daemon does not report it.
        origin: the origin that the session represents; "local" unless the session named another one.
        user: the user who is logged in at this origin; None if there is none.
        gid: the caller's group id. Like `pid` and `client`, it is None if the daemon does not report it.
        pid: the id of the caller's process at the time of the connection; the process may have ended since.
        client: the name that the client chose itself. Do not use it for security decisions.
        trusted: whether the caller is the daemon, or a local session of root or of the daemon's own user.
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
        """Reads the member `caller` of a message."""
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
    """The common base of calls of clients' tasks and of plugins' tasks.

    Attributes:
        task: the name of the task.
        caller: the caller.
        deadline: the time at which the call ends by itself, by `time.monotonic()`; None if it is unknown.
        wants_progress: whether the caller accepts intermediate results.
        one_way: whether the caller receives no result and no error.
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
        # The rest is internal to the library.
        self._options: Any = message.get("options", {})
        self._id = callback_id
        self._report = report
        self._clock = clock
        self._sequence = 0
        self._has_ended = False
        self._cancelled = threading.Event()

    @property
    def time_remaining(self) -> Optional[float]:
        """The number of seconds until the deadline: 0.0 if it has passed, None if there is none."""
        return None if self.deadline is None else max(0.0, self.deadline - self._clock())

    @property
    def cancelled(self) -> bool:
        """Whether the caller no longer waits: it cancelled, its deadline passed, or the connection ended."""
        return self._cancelled.is_set()

    def check_cancelled(self) -> None:
        """Raises an error if the call was cancelled. For functions that work in steps. Any thread.

        Raises:
            BridgeError: `call.cancelled` if the call was cancelled.
        """
        if self.cancelled:
            raise BridgeError(CALL_CANCELLED, f"the call of {self.task} was cancelled", {"started": True})

    def report_progress(self, value: Any) -> bool:
        """Sends an intermediate result, any JSON, if the caller accepts progress. Never waits. Any thread. A value that
        is sent before the function returns arrives before the result. The caller may receive only the newest value.
        Use a stream for bytes, or for data that must arrive completely.

        Returns:
            Whether the value was accepted. False if the caller accepts no progress, the call has ended, the message is
            too long, or the daemon reads too slowly.

        Raises:
            BridgeError: `options.invalid` if the value has no JSON.
        """
        if not self.wants_progress or self._has_ended or self.cancelled:
            return False
        return self._report(self, encode(value))


class IncomingCall(ProvidedCall):
    """A call of a task that this client provides. The handler gets it together with the options."""

    def wait_cancelled(self, timeout: Optional[float] = None) -> bool:
        """Waits until the call is cancelled, for at most `timeout` seconds. For functions with their own thread. An
        `async` function does not need it, because its asyncio task is cancelled.

        Returns:
            Whether the call was cancelled.

        Raises:
            RuntimeError: called on the thread of an event loop.
        """
        refuse_on_event_loop("wait_cancelled", "an async function is cancelled as its task")
        return self._cancelled.wait(timeout)


def refuse_on_event_loop(name: str, instead: str) -> None:
    """Refuses to wait on the thread of an event loop, because its other tasks would stop.

    Args:
        name: the function that would wait, for the error.
        instead: the alternative, for the error.

    Raises:
        RuntimeError: called on the thread of an event loop.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError(f"{name} waits, and would stop the event loop: {instead}")
