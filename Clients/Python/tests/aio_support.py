"""Common helpers for the tests of the asyncio interface."""

from __future__ import annotations

import asyncio
import unittest
from typing import Any

from trestle_bridge import IncomingCall, aio

from .support import TEST_TIMEOUT, Daemon


class AsyncTestCase(unittest.IsolatedAsyncioTestCase):
    daemon: Daemon

    @classmethod
    def setUpClass(cls) -> None:
        cls.daemon = Daemon()
        cls.addClassCleanup(cls.daemon.close)

    async def connect(self, **options: Any) -> aio.Bridge:
        bridge = await aio.connect(self.daemon.path, **options)
        self.addAsyncCleanup(bridge.close)
        return bridge

    async def asyncSetUp(self) -> None:
        # These tests must not fail on a busy machine.
        asyncio.get_running_loop().slow_callback_duration = TEST_TIMEOUT
        self.bridge = await self.connect()

    async def provide(self, task: str = "wait") -> tuple[asyncio.Event, asyncio.Event]:
        """Provides a task from another client that never answers. Returns events for its begin and its
        cancellation."""
        begun, cancelled = asyncio.Event(), asyncio.Event()

        async def handler(options: Any, call: IncomingCall) -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()

        await (await self.connect()).register(task, handler)
        return begun, cancelled

    async def within(self, event: asyncio.Event) -> None:
        await asyncio.wait_for(event.wait(), TEST_TIMEOUT)
