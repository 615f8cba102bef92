"""Common helpers for the tests of streams over pipes."""

from __future__ import annotations

import os
import threading
from typing import Any

from trestle_bridge import BridgeError

from .support import TEST_TIMEOUT
from .sync_support import SyncTestCase


def open_files(kind: str = "") -> dict[int, str]:
    """Returns the open descriptors of this process with their targets."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except FileNotFoundError:
            continue  # the folder itself
        if target.startswith(kind):
            found[int(name)] = target
    return found


class PipeTestCase(SyncTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.other = self.connect()
        self.pipes_before = open_files("pipe:")

    def pipes(self) -> list[int]:
        """Returns the ends of pipes that streams hold."""
        # The number of a pipe that was open before may have been reused.
        return [number for number, pipe in open_files("pipe:").items() if self.pipes_before.get(number) != pipe]

    def start(self, work: Any) -> threading.Thread:
        """Runs work on a thread, which must end before the test ends."""
        thread = threading.Thread(target=work)
        thread.start()
        self.addCleanup(self.joined, thread)
        return thread

    def joined(self, thread: threading.Thread) -> None:
        thread.join(TEST_TIMEOUT)
        self.assertFalse(thread.is_alive())

    def assert_closed(self, error: BridgeError, by: str) -> None:
        self.assertEqual((error.code, error.data["by"]), ("stream.closed", by))
