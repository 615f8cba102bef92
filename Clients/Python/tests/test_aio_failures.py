"""The asyncio interface with a misbehaving server."""

from __future__ import annotations

import asyncio
import unittest
from typing import Any

from trestle_bridge import BridgeError, Event, IncomingCall, Limits, aio

from .support import TEST_TIMEOUT, SOON, FakeServer, Peer


class AsyncFailureTests(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        # These tests must not fail on a busy machine.
        asyncio.get_running_loop().slow_callback_duration = TEST_TIMEOUT
        self.server = FakeServer()
        self.addCleanup(self.server.close)

    async def peer(self) -> Peer:
        return await asyncio.to_thread(self.server.peer)

    async def read(self, peer: Peer) -> dict[str, Any]:
        return await asyncio.to_thread(peer.read)

    async def connect(self, **options: Any) -> tuple[aio.Bridge, Peer]:
        options.setdefault("reconnect", SOON)
        options.setdefault("limits", Limits(close_timeout=0.02, grace=0.01))
        bridge = await aio.connect(self.server.path, **options)
        self.addAsyncCleanup(bridge.close)
        return bridge, await self.peer()

    async def test_a_connection_that_is_dropped_is_made_again_with_its_registrations(self) -> None:
        came_back = asyncio.Event()

        async def on_reconnect(bridge: aio.Bridge) -> None:
            came_back.set()

        async def handler(options: Any, call: IncomingCall) -> Any:
            return options

        bridge, peer = await self.connect(on_reconnect=on_reconnect)
        registering = asyncio.create_task(bridge.register("scan", handler))
        peer.answer(await self.read(peer), {})
        await registering
        events = bridge.subscribe("door.*")
        subscribing = asyncio.ensure_future(events.__aenter__())
        peer.answer(await self.read(peer), {})
        await subscribing
        pending = bridge.submit("Echo", 1)
        self.assertEqual((await self.read(peer))["task"], "Echo")
        peer.close()
        with self.assertRaises(BridgeError) as raised:
            await pending.result()
        self.assertEqual((raised.exception.code, raised.exception.started), ("session.closed", True))
        waiting = bridge.submit("Echo", 2, timeout=TEST_TIMEOUT)
        peer = await self.peer()
        received = [await self.read(peer) for _ in range(3)]
        tasks = [message["task"] for message in received]
        self.assertEqual(tasks, ["bridge.register", "bridge.subscribe", "Echo"])
        peer.answer(received[2], 2)
        self.assertEqual(await waiting.result(), 2)
        peer.send({"event": "door.open"}, {"task": "scan", "callbackId": 1, "options": 3})
        self.assertEqual(await anext(events), Event("bridge.events_dropped", {"count": None}))
        self.assertEqual((await anext(events)).name, "door.open")
        self.assertEqual(await self.read(peer), {"callbackId": 1, "result": 3})
        await asyncio.wait_for(came_back.wait(), TEST_TIMEOUT)

    async def test_without_reconnecting_the_loss_is_the_end(self) -> None:
        bridge, peer = await self.connect(reconnect=False)
        events = bridge.subscribe("*", local=True)
        peer.close()
        with self.assertRaises(BridgeError):
            await anext(events)
        with self.assertRaises(BridgeError):
            await bridge.call("Echo", retry="transient")

    async def test_garbage_and_single_bytes_harm_nobody(self) -> None:
        bridge, peer = await self.connect()
        pending = bridge.submit("Echo", 1)
        own = (await self.read(peer))["callbackId"]
        answer = '\xff garbage\n{"callbackId":%d,"result":"弹😀"}\n' % own

        def send() -> None:
            for byte in answer.encode():
                peer.send(bytes([byte]))

        with self.assertLogs("trestle_bridge", "WARNING"):
            await asyncio.to_thread(send)
            self.assertEqual(await pending.result(), "弹😀")

    async def test_a_daemon_that_never_reads_makes_calls_busy_and_loses_nothing(self) -> None:
        bridge, peer = await self.connect(limits=Limits(max_queued_bytes=1 << 20, close_timeout=0.05))
        sent, options = 0, "x" * 500_000
        with self.assertRaises(BridgeError) as raised:
            while True:
                await bridge.notify("Echo", options)
                sent += 1
        self.assertEqual(raised.exception.code, "busy")
        for _ in range(sent):
            self.assertEqual((await self.read(peer))["options"], options)

    async def test_a_daemon_that_is_silent_cannot_hang_a_call_with_a_timeout(self) -> None:
        bridge, peer = await self.connect()
        with self.assertRaises(BridgeError) as raised:
            await bridge.call("Echo", timeout=0.01)
        self.assertEqual(raised.exception.code, "call.timeout")
        call = await self.read(peer)
        self.assertEqual(await self.read(peer), {"cancel": call["callbackId"]})

    async def test_a_daemon_that_comes_later_may_be_waited_for(self) -> None:
        server = FakeServer(listening=False)
        self.addCleanup(server.close)
        connecting = asyncio.ensure_future(aio.connect(server.path, reconnect=SOON, wait_for_daemon=True))
        await asyncio.sleep(0)
        self.assertFalse(connecting.done())
        server.listen()
        await (await connecting).close()

    async def test_cancelling_the_connecting_leaves_nothing(self) -> None:
        greeted = asyncio.Event()
        loop = asyncio.get_running_loop()

        def ignore(peer: Peer, hello: dict[str, Any]) -> bool:
            loop.call_soon_threadsafe(greeted.set)
            return False

        self.server.greeting = ignore
        connecting = asyncio.ensure_future(self.connect())
        await asyncio.wait_for(greeted.wait(), TEST_TIMEOUT)
        connecting.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await connecting
