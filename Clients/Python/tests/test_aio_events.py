"""Events of the asyncio interface with a real daemon, and its end."""

from __future__ import annotations

import asyncio
from typing import Any

from trestle_bridge import BridgeError, Event, aio

from .aio_support import AsyncTestCase
from .support import SOON


class EventTests(AsyncTestCase):
    async def publish(self, event: str, data: Any = None) -> None:
        await self.bridge.publish(event, data)

    async def test_iterating_subscribes_and_brings_events_in_order(self) -> None:
        events = self.bridge.subscribe("door.*")
        first = asyncio.ensure_future(anext(events))
        # A call after the subscription: when it is answered, the subscription is active.
        await asyncio.sleep(0)
        await self.bridge.call("Echo")
        await self.publish("door.open", 1)
        await self.publish("door.shut", 2)
        self.assertEqual([await first, await anext(events)], [Event("door.open", 1), Event("door.shut", 2)])
        events.close()
        self.assertEqual([event async for event in events], [])

    async def test_a_retained_event_comes_to_who_subscribes_later(self) -> None:
        await self.bridge.publish("lamp.on", {"n": 1}, retain=True)
        async with (await self.connect()).subscribe("lamp.*") as events:
            self.assertEqual(await anext(events), Event("lamp.on", {"n": 1}))

    async def test_a_stream_ends_with_its_context_and_with_its_bridge(self) -> None:
        async with self.bridge.subscribe("end") as events:
            await self.publish("end")
        self.assertEqual([event.name async for event in events], ["end"])
        other = await self.connect()
        streams = [await other.subscribe("end"), other.subscribe("*", local=True)]
        await other.close()
        for stream in streams:
            self.assertEqual([event async for event in stream], [])

    async def test_a_reader_that_is_too_slow_loses_the_oldest_and_is_told(self) -> None:
        async with self.bridge.subscribe("fast", max_events=2) as events:
            for n in range(5):
                await self.publish("fast", n)
            self.assertEqual(await anext(events), Event("bridge.events_dropped", {"count": 3}))
            self.assertEqual([(await anext(events)).data for _ in range(2)], [3, 4])

    async def test_what_the_daemon_sends_without_a_subscription_is_read_by_a_local_one(self) -> None:
        events = self.bridge.subscribe("record.*", local=True)
        await self.bridge.call("persistence.watch", {"table": "watched"})
        await self.bridge.call("persistence.create", {"table": "watched", "key": "k", "record": {}})
        self.assertEqual((await anext(events)).data["change"], "create")

    async def test_a_pattern_that_is_none_is_refused(self) -> None:
        with self.assertRaises(BridgeError):
            await self.bridge.subscribe("a*b")
        with self.assertRaises(ValueError):
            self.bridge.subscribe()

    async def test_a_reader_that_is_cancelled_loses_nothing(self) -> None:
        async with self.bridge.subscribe("kept") as events:
            reading = asyncio.ensure_future(anext(events))
            await asyncio.sleep(0)
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            await self.publish("kept", 1)
            self.assertEqual((await anext(events)).data, 1)


class EndTests(AsyncTestCase):
    async def test_close_ends_calls_in_flight_and_leaves_no_task(self) -> None:
        begun, cancelled = await self.provide()
        before = asyncio.all_tasks()
        async with aio.connect(self.daemon.path) as bridge:
            self.assertTrue(bridge.connected)
            pending = bridge.submit("wait")
            await self.within(begun)
        with self.assertRaises(BridgeError) as raised:
            await pending.result()
        self.assertEqual(raised.exception.code, "session.closed")
        await self.within(cancelled)
        for use in (bridge.call("Echo"), bridge.notify("Echo"), bridge.subscribe("x")):
            with self.assertRaises(BridgeError) as raised:
                await use
            self.assertEqual((raised.exception.code, raised.exception.started), ("session.closed", False))
        await bridge.close()
        self.assertLessEqual({task for task in asyncio.all_tasks() if not task.done()}, before)

    async def test_one_way_calls_right_before_the_end_are_delivered(self) -> None:
        async with self.bridge.subscribe("last.word") as events:
            async with aio.connect(self.daemon.path) as other:
                await other.notify("bridge.publish", {"event": "last.word"})
            self.assertEqual((await anext(events)).name, "last.word")

    async def test_a_session_that_close_web_ends_does_not_come_back(self) -> None:
        closed = await self.connect(reconnect=SOON)
        events = closed.subscribe("web.*", local=True)
        await self.bridge.call("closeWeb", {"session": closed.session, "info": 1})
        self.assertEqual((await anext(events)).data, {"info": 1})
        with self.assertRaises(BridgeError) as raised:
            await anext(events)
        self.assertEqual(raised.exception.data, {"info": 1})

    async def test_a_daemon_that_is_not_there_is_unreachable(self) -> None:
        with self.assertRaises(BridgeError) as raised:
            await aio.connect(f"{self.daemon.path}.none")
        self.assertEqual(raised.exception.code, "daemon.unreachable")

    async def test_a_bridge_that_is_forgotten_says_so(self) -> None:
        bridge = await aio.connect(self.daemon.path)
        with self.assertWarns(ResourceWarning):
            bridge.__del__()
        await bridge.close()
