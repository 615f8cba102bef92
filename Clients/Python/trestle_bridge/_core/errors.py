"""The error of every call: `BridgeError`, and the codes that this library makes itself."""

from __future__ import annotations

import math
from typing import Any, Optional

# The codes that originate here, spelt as in the protocol's table of error codes. The last two never travel
# from daemon to client.
CALL_CANCELLED = "call.cancelled"
CALL_TIMEOUT = "call.timeout"
BUSY = "busy"
INTERNAL = "internal"
REPLY_INVALID = "reply.invalid"
MESSAGE_TOO_LARGE = "message.too_large"
OPTIONS_INVALID = "options.invalid"
RESULT_TOO_LARGE = "result.too_large"
PERMISSION_DENIED = "permission.denied"
SESSION_CLOSED = "session.closed"
TASK_NOT_FOUND = "task.not_found"
DAEMON_STOPPING = "daemon.stopping"
STREAM_CLOSED = "stream.closed"
STREAM_INVALID = "stream.invalid"
STREAM_NOT_FOUND = "stream.not_found"
DAEMON_UNREACHABLE = "daemon.unreachable"
CONNECTION_DENIED = "connection.denied"

GOES_AS_STREAM = "bytes of this size go as a stream"
"""What errors about a message that is too long end with, as the daemon's do."""


class BridgeError(Exception):
    """How a call ended that did not succeed.

    A handler of a provided task raises it to have the caller get exactly this code, message and data.

    Attributes:
        code: what went wrong, for programs; stable. Codes are an open set.
        message: a sentence for a person; it may change from version to version.
        data: any JSON, by code; None where there is none.
        transient: True: the same call may succeed later.
        retry_after: seconds after which trying again makes sense; None where it is not known. (On the wire it is
            `retryAfter`, in whole milliseconds.)
    """

    # What programs import it from, and so what a traceback shall call it.
    __module__ = "trestle_bridge"

    # The message was not written for callers: the daemon shows that of a plugin to trusted callers alone.
    _unforeseen = False

    def __init__(
        self,
        code: str,
        message: str,
        data: Any = None,
        *,
        transient: bool = False,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.data = data
        self.transient = transient
        self.retry_after = retry_after

    @property
    def started(self) -> Optional[bool]:
        """Whether the task's work may have begun.

        False: nothing has been done, and calling again is safe. True: it may have had its effect. None: not known,
        or the code has nothing to do with it.
        """
        started = self.data.get("started") if isinstance(self.data, dict) else None
        return started if isinstance(started, bool) else None

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    def __repr__(self) -> str:
        return f"BridgeError({self.code!r}, {self.message!r}, data={self.data!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions are pickled by their args, which lack the keyword arguments.
        state = {"data": self.data, "transient": self.transient, "retry_after": self.retry_after}
        return (BridgeError, (self.code, self.message), state)

    def copy(self, started: Optional[bool] = None) -> BridgeError:
        """Another exception that says the same: tracebacks are attached to exceptions, and callers are many.

        Args:
            started: added to its data, where it is known.
        """
        data = self.data
        if started is not None:
            data = {**(data if isinstance(data, dict) else {}), "started": started}
        return BridgeError(
            self.code, self.message, data, transient=self.transient, retry_after=self.retry_after)

    def ending(self, task: str, started: bool) -> BridgeError:
        """What a call of this task ends with that is ended by this error: whether it may have begun is known."""
        error = self.copy(started)
        effect = "may have had its effect" if started else "had not been sent"
        error.message = f"{self.message}; the call of {task} {effect}"
        error.args = (error.code, error.message)
        return error

    def to_json(self) -> dict[str, Any]:
        """The error object of the protocol."""
        json: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            json["data"] = self.data
        if self.transient:
            json["transient"] = True
        if self._unforeseen:
            json["unforeseen"] = True
        if self.retry_after is not None:
            json["retryAfter"] = max(0, math.ceil(self.retry_after * 1000))
        return json

    @staticmethod
    def from_json(json: Any) -> BridgeError:
        """Reads the error object of the protocol; one that makes no sense becomes `reply.invalid`."""
        if isinstance(json, dict):
            code, message, after = json.get("code"), json.get("message"), json.get("retryAfter")
            if isinstance(code, str) and isinstance(message, str):
                known = after if isinstance(after, (int, float)) and not isinstance(after, bool) else None
                return BridgeError(
                    code,
                    message,
                    json.get("data"),
                    transient=json.get("transient") is True,
                    retry_after=None if known is None else known / 1000,
                )
        return BridgeError(REPLY_INVALID, "the error of the callback has no code and message")


def unreachable(path: str, how: str) -> BridgeError:
    """No one listens at the socket, or no answer comes."""
    return BridgeError(DAEMON_UNREACHABLE, f"no daemon at {path}: {how}", {"path": path}, transient=True)


def started_data(started: Optional[bool]) -> Optional[dict[str, bool]]:
    """The `data` of an error that ends a call here; None where it is not known whether it began."""
    return None if started is None else {"started": started}
