"""Connections of other users of the machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from daemon import Bridge, Home

# Unassigned users: the daemon uses only the numbers.
STRANGER = 64_001
OTHER = 64_002


@contextmanager
def user(uid: int) -> Iterator[None]:
    """Connections made within belong to this user: the kernel records the user at the time of the connect."""
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(uid)
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)


def connect(home: Home, uid: int) -> Bridge:
    with user(uid):
        return Bridge(home.socket)


def open_home(rules: str = "") -> Home:
    """Returns a home whose socket every user may open; only the rules restrict them."""
    home = Home(configuration='socket_mode = "0666"\n')
    home.folder.chmod(0o755)
    folder: Path = home.folder / "policy.d"
    folder.mkdir()
    (folder / "rules.toml").write_text(rules)
    return home


def allow(verbs: str, names: list[str], uid: int) -> str:
    quoted = ", ".join(f'"{name}"' for name in names)
    return f'[[rule]]\nallow = "{verbs}"\nnames = [{quoted}]\nuid = {uid}\n'
