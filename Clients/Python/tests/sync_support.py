"""Common helpers for the tests of the synchronous interface."""

from __future__ import annotations

import threading
from typing import Any

import trestle_bridge
from trestle_bridge import IncomingCall

from .support import TEST_TIMEOUT, DaemonTestCase


class SyncTestCase(DaemonTestCase):
    def connect(self, **options: Any) -> trestle_bridge.Bridge:
        bridge = trestle_bridge.connect(self.daemon.path, **options)
        self.addCleanup(bridge.close)
        return bridge

    def setUp(self) -> None:
        self.bridge = self.connect()

    def provide(self, task: str = "wait") -> tuple[threading.Event, threading.Event]:
        """Provides a task from another client that answers only when it is cancelled. Returns events for its begin and
        its cancellation."""
        begun, ended = threading.Event(), threading.Event()

        def handler(options: Any, call: IncomingCall) -> None:
            begun.set()
            call.wait_cancelled(TEST_TIMEOUT)
            ended.set()

        self.connect().register(task, handler)
        return begun, ended
