"""The calls that a plugin makes, until they are answered."""

from __future__ import annotations

from concurrent.futures import Future, InvalidStateError
from itertools import count
from typing import Any, Callable, Optional, Union

from .._core import messages
from .._core.errors import (
    BUSY, GOES_AS_STREAM, REPLY_INVALID, MESSAGE_TOO_LARGE, SESSION_CLOSED, BridgeError, started_data,
)
from .._core.jsontext import encode
from .._core.pipes import Passed, PassedPipes
from .._core.settings import check_timeout

MAX_CALLS = 1024
"""The maximum number of calls in flight; the daemon's limit for a plugin process."""


class OwnCalls:
    """The plugin's own calls by their ids. Everything here happens under the connection's lock.

    `send` queues a line. `drop` is called with the id of a call that its caller has cancelled.
    """

    def __init__(self, send: Callable[[bytes], None], drop: Callable[[int], None]) -> None:
        self.message_bytes = 1 << 20
        self._send = send
        self._drop = drop
        self._ids = count(1)
        self.passed = PassedPipes()
        # The future of each call, and whether its result is a `Passed`.
        self._flying: dict[int, tuple[Future[Any], bool]] = {}
        self._is_over = False

    @property
    def count(self) -> int:
        """The number of calls that are not answered yet. Any thread."""
        return len(self._flying)

    def start(
        self, task: str, options: Optional[bytes], *,
        timeout: Optional[float], session: Optional[int], caller: Optional[messages.MessageID],
        wants_pipe: bool = False,
    ) -> Future[Any]:
        """Makes a call. The future ends with its result or its `BridgeError`. Cancelling the future cancels the call.

        Args:
            options: the JSON of the options; None if there are none.
            wants_pipe: whether the result is a `Passed`.

        Raises:
            BridgeError: nothing was sent, because the message is too long, too many calls are in flight, or the daemon
                has disconnected.
            ValueError: the timeout is not valid.
        """
        check_timeout(timeout)
        if self._is_over:
            raise _gone(task, started=False)
        if len(self._flying) >= MAX_CALLS:
            text = f"{MAX_CALLS} calls of this plugin are in flight, the maximum"
            raise BridgeError(BUSY, text, started_data(False), transient=True, retry_after=0.1)
        call_id = next(self._ids)
        task_text = encode(task)
        line = messages.call(
            task_text, options, callback_id=call_id, timeout=timeout, session=session, caller=caller,
        )
        check_size(line, f"the call of {task}", self.message_bytes)
        future: Future[Any] = Future()
        self._flying[call_id] = (future, wants_pipe)
        self.passed.expect(call_id, task_text)
        self._send(line)
        future.add_done_callback(lambda ended: self._drop(call_id) if ended.cancelled() else None)
        return future

    def forget(self, call_id: int) -> None:
        """Removes a cancelled call. The daemon gets a cancel, unless it has answered."""
        if self._flying.pop(call_id, None) is not None:
            self._send(messages.cancel(call_id))

    def answered(self, message: dict[str, Any]) -> None:
        """Handles a callback. One that belongs to no call is ignored."""
        call_id = message["callbackId"]
        pipe = self.passed.take(message)
        flying = self._flying.pop(call_id, None) if type(call_id) is int else None
        if pipe is not None and (flying is None or not flying[1]):
            pipe.close()
        if flying is None:
            return
        future, wants_pipe = flying
        if ("result" in message) == ("error" in message):
            text = "the callback must have exactly one of result and error"
            _end(future, BridgeError(REPLY_INVALID, text))
        elif "error" in message:
            _end(future, BridgeError.from_json(message["error"]))
        else:
            result = message["result"]
            _end(future, Passed(result, pipe) if wants_pipe else result)

    def end_all(self) -> None:
        """Ends all calls, because the daemon has disconnected."""
        self._is_over = True
        flying, self._flying = self._flying, {}
        self.passed.clear()
        for future, _ in flying.values():
            _end(future, _gone("a task", started=True))


def check_size(line: bytes, what: str, max_bytes: int) -> None:
    """Checks that a line is not too long for the daemon.

    Raises:
        BridgeError: `message.too_large`.
    """
    if len(line) - 1 > max_bytes:
        text = f"{what} has {len(line) - 1} bytes; the daemon's maximum is {max_bytes}: {GOES_AS_STREAM}"
        raise BridgeError(MESSAGE_TOO_LARGE, text, started_data(False))


def _end(future: Future[Any], outcome: Union[BridgeError, Any]) -> None:
    try:
        if isinstance(outcome, BridgeError):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
    except InvalidStateError:
        pass  # it was cancelled meanwhile


def _gone(task: str, started: bool) -> BridgeError:
    text = "the connection to the daemon is closed"
    return BridgeError(SESSION_CLOSED, text, transient=True).ending(task, started)
