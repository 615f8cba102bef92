"""`BridgeError`, the error of every call, and the codes that this library uses."""

from __future__ import annotations

import math
from typing import Any, Optional

# The error codes that this library uses, spelt as in the protocol's table of error codes. The daemon never sends the
# last two.
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

GOES_AS_STREAM = "send data of this size as a stream"
"""The end of the text of errors about a too long message; the daemon uses the same text."""


class BridgeError(Exception):
    """The error of a call that failed.

    If a handler of a provided task raises it, the caller gets exactly this code, message and data.

    Attributes:
        code: the kind of error, for programs; stable. Further codes may be added.
        message: a sentence for a person; it may change from version to version.
        data: any JSON; its form depends on the code. None if there is none.
        transient: whether the same call may succeed later.
        retry_after: the number of seconds to wait before the next attempt; None if it is unknown. (In the protocol it
            is `retryAfter`, in whole milliseconds.)
    """

    # The module from which programs import it. Tracebacks show this name.
    __module__ = "trestle_bridge"

    # Whether the message was not written for callers. The daemon shows such a message only to trusted callers.
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

        False: nothing was done, and it is safe to call again. True: the call may have had its effect. None: unknown, or
        not applicable to the code.
        """
        started = self.data.get("started") if isinstance(self.data, dict) else None
        return started if isinstance(started, bool) else None

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    def __repr__(self) -> str:
        return f"BridgeError({self.code!r}, {self.message!r}, data={self.data!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        # By default, an exception is pickled with its args only, which do not contain the keyword arguments.
        state = {"data": self.data, "transient": self.transient, "retry_after": self.retry_after}
        return (BridgeError, (self.code, self.message), state)

    def copy(self, started: Optional[bool] = None) -> BridgeError:
        """Returns a copy. Each caller needs its own exception, because a traceback is attached to an exception.

        Args:
            started: added to the data of the copy, unless it is None.
        """
        data = self.data
        if started is not None:
            data = {**(data if isinstance(data, dict) else {}), "started": started}
        return BridgeError(
            self.code, self.message, data, transient=self.transient, retry_after=self.retry_after)

    def ending(self, task: str, started: bool) -> BridgeError:
        """Returns the error of a call of `task` that this error ends. `started`: whether the call may have begun."""
        error = self.copy(started)
        effect = "may have had its effect" if started else "had not been sent"
        error.message = f"{self.message}; the call of {task} {effect}"
        error.args = (error.code, error.message)
        return error

    def to_json(self) -> dict[str, Any]:
        """Returns the error object of the protocol."""
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
        """Reads an error object of the protocol. An invalid one becomes the error `reply.invalid`."""
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
    """Returns the error for a daemon that does not listen at the socket or does not answer."""
    return BridgeError(DAEMON_UNREACHABLE, f"no daemon at {path}: {how}", {"path": path}, transient=True)


def started_data(started: Optional[bool]) -> Optional[dict[str, bool]]:
    """Returns the `data` of an error that ends a call here; None if it is unknown whether the call began."""
    return None if started is None else {"started": started}
