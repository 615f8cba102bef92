"""Which calls are sent again by themselves, and when."""

from __future__ import annotations

from typing import Literal, Optional

from .backoff import Backoff
from .errors import CALL_CANCELLED, CALL_TIMEOUT, DAEMON_UNREACHABLE, BridgeError

Retry = Literal["never", "unstarted", "transient"]
"""What `call` sends again, within its timeout, at most 5 times in all, each time after `retry_after` or a growing
pause.

- `never`: nothing; the caller sees every error.
- `unstarted`: what certainly has not begun (`started` is False) and may succeed later. Always safe.
- `transient`: whatever may succeed later, for tasks of which twice does no harm.
"""

MAX_ATTEMPTS = 5
"""How often a call is sent at most, the first time included."""

_PAUSES = Backoff(first=0.05, max_pause=5.0)


def retry_pause(error: BridgeError, policy: Retry, attempt: int, left: Optional[float]) -> Optional[float]:
    """Seconds to wait before the call is sent again; None: it is not.

    Args:
        attempt: how often it was sent again already.
        left: seconds left of the call's timeout; None where it says none.
    """
    # A caller that cancelled does not want it again; after its deadline no one waits; without a connection it has
    # waited.
    if not error.transient or error.code in (CALL_CANCELLED, CALL_TIMEOUT, DAEMON_UNREACHABLE):
        return None
    if attempt + 1 >= MAX_ATTEMPTS or policy == "never" or (policy == "unstarted" and error.started is not False):
        return None
    pause = _PAUSES.pause(attempt) if error.retry_after is None else error.retry_after
    return pause if left is None or pause < left else None
