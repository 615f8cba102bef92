"""Where the daemon's socket is, where the program does not say."""

from __future__ import annotations

import os
from typing import Callable, Mapping, Optional

SYSTEM = "/run/trestle/bridge.sock"


def _owner(path: str) -> Optional[int]:
    try:
        return os.lstat(path).st_uid
    except OSError:
        return None


def default_socket(
    environ: Optional[Mapping[str, str]] = None,
    uid: Optional[int] = None,
    exists: Callable[[str], bool] = os.path.exists,
    owner: Callable[[str], Optional[int]] = _owner,
) -> str:
    """The socket that `TRESTLE_SOCKET` names, else this user's own where there is one, else the system's.

    The user's own is in `XDG_RUNTIME_DIR`, or without that in `/tmp`. Where neither exists it is the user's
    own that is tried; root has none but the system's.
    """
    environ = os.environ if environ is None else environ
    uid = os.geteuid() if uid is None else uid
    if given := environ.get("TRESTLE_SOCKET"):
        return given
    own = _own(environ, uid, owner)
    if uid != 0 and own is not None and (exists(own) or not exists(SYSTEM)):
        return own
    return SYSTEM


def _own(environ: Mapping[str, str], uid: int, owner: Callable[[str], Optional[int]]) -> Optional[str]:
    if directory := environ.get("XDG_RUNTIME_DIR"):
        return directory + "/trestle/bridge.sock"
    # Any user may make a directory in /tmp: one that is not this user's is a trap set by another user.
    directory = f"/tmp/trestle-{uid}"
    return directory + "/bridge.sock" if owner(directory) == uid else None
