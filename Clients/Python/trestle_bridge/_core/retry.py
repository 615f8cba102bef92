"""The rules for automatic retries of calls."""

from __future__ import annotations

from typing import Literal, Optional

from .backoff import Backoff
from .errors import CALL_CANCELLED, CALL_TIMEOUT, DAEMON_UNREACHABLE, BridgeError

Retry = Literal["never", "unstarted", "transient"]
"""When `call` sends a failed call again: within its timeout, at most 5 times in total, after `retry_after` or a growing
pause.

- `never`: never. The caller gets every error.
- `unstarted`: if the error is transient and the call has certainly not begun (`started` is False). Always safe.
- `transient`: if the error is transient. For tasks that can be repeated without harm.

A call that was cancelled, timed out or found no daemon is not sent again.
"""

MAX_ATTEMPTS = 5
"""The maximum number of times that a call is sent, including the first."""

_PAUSES = Backoff(first=0.05, max_pause=5.0)


def retry_pause(error: BridgeError, policy: Retry, attempt: int, left: Optional[float]) -> Optional[float]:
    """Returns the number of seconds to wait before the call is sent again; None if it must not be sent again.

    Args:
        attempt: the number of previous repetitions.
        left: the rest of the call's timeout, in seconds; None if it has no timeout.
    """
    # The caller has cancelled, or its deadline has passed, or the call has already waited for a connection.
    if not error.transient or error.code in (CALL_CANCELLED, CALL_TIMEOUT, DAEMON_UNREACHABLE):
        return None
    if attempt + 1 >= MAX_ATTEMPTS or policy == "never" or (policy == "unstarted" and error.started is not False):
        return None
    pause = _PAUSES.pause(attempt) if error.retry_after is None else error.retry_after
    return pause if left is None or pause < left else None
