"""The location of the daemon's socket if the program does not name it."""

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
    """Returns the path in `TRESTLE_SOCKET`, else the user's own socket if it exists, else the system's.

    The user's own socket is in `XDG_RUNTIME_DIR`, or in `/tmp` if that is not set. If neither socket exists, it is the
    user's own. Root always uses the system's socket.
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
    # Any user can create this directory in /tmp. One with another owner may be an attack, so it is not used.
    directory = f"/tmp/trestle-{uid}"
    return directory + "/bridge.sock" if owner(directory) == uid else None
