"""The asyncio face with a real daemon."""

from __future__ import annotations

import asyncio
import unittest
from typing import Any

from trestle_bridge import BridgeError, Event, IncomingCall, aio

from .support import PATIENCE, SOON, Daemon


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
        # A busy machine is not what these tests are about.
        asyncio.get_running_loop().slow_callback_duration = PATIENCE
        self.bridge = await self.connect()

    async def provide(self, task: str = "wait") -> tuple[asyncio.Event, asyncio.Event]:
        """Another client provides a task that never answers; events of its begin and of its being
        cancelled."""
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
        await asyncio.wait_for(event.wait(), PATIENCE)


class CallTests(AsyncTestCase):
    async def test_a_result_comes_back_as_it_was_sent(self) -> None:
        for value in ({"a": [1, 2.5, None, True]}, "弹\u2028😀", 2**200, None, "x" * 500_000):
            self.assertEqual(await self.bridge.call("Echo", value, timeout=5.0), value)
        self.assertEqual(await self.bridge.call("Echo"), {})

    async def test_many_calls_at_once_get_each_its_own_result(self) -> None:
        results = await asyncio.gather(*(self.bridge.call("Echo", n) for n in range(100)))
        self.assertEqual(results, list(range(100)))

    async def test_a_table_comes_page_by_page(self) -> None:
        pages = [page async for page in self.bridge.pages("bridge.tasks", {"limit": 10})]
        self.assertGreater(len(pages), 1)
        self.assertTrue(all(len(page["tasks"]) == 10 for page in pages[:-1]))
        whole = (await self.bridge.call("bridge.tasks"))["tasks"]
        self.assertEqual([task for page in pages for task in page["tasks"]], whole)

    async def test_a_timeout_ends_the_call_and_its_provider(self) -> None:
        _, cancelled = await self.provide()
        with self.assertRaises(BridgeError) as raised:
            await self.bridge.call("wait", timeout=0.05)
        self.assertEqual((raised.exception.code, raised.exception.started), ("call.timeout", True))
        await self.within(cancelled)

    async def test_cancelling_the_task_that_waits_cancels_the_call(self) -> None:
        begun, cancelled = await self.provide()
        waiting = asyncio.create_task(self.bridge.call("wait"))
        await self.within(begun)
        waiting.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await waiting
        await self.within(cancelled)
        self.assertEqual(await self.bridge.call("Echo", 1), 1)

    async def test_a_pending_call_is_cancelled_with_the_daemons_word(self) -> None:
        begun, _ = await self.provide()
        pending = self.bridge.start("wait")
        await self.within(begun)
        pending.cancel()
        self.assertFalse(pending.done)
        for _ in range(2):
            with self.assertRaises(BridgeError) as raised:
                await pending.result()
        self.assertEqual((raised.exception.code, raised.exception.started), ("call.cancelled", True))

    async def test_what_has_no_json_is_refused_before_it_is_sent(self) -> None:
        for options in ({"n": float("nan")}, ["\ud800"]):
            with self.assertRaises(BridgeError) as raised:
                await self.bridge.call("Echo", options)
            self.assertEqual(raised.exception.code, "options.invalid")

    async def test_what_is_refused_for_now_is_sent_again_where_that_is_wanted(self) -> None:
        attempts = iter(range(3))

        async def handler(options: Any, call: IncomingCall) -> int:
            attempt = next(attempts)
            if attempt < 2:
                raise BridgeError("busy", "later", transient=True, retry_after=0.001)
            return attempt

        await self.bridge.register("retry", handler)
        self.assertEqual(await self.bridge.call("retry", timeout=PATIENCE, retry="transient"), 2)


class ProvidingTests(AsyncTestCase):
    async def test_a_handler_reports_progress_and_answers(self) -> None:
        async def handler(options: Any, call: IncomingCall) -> Any:
            for n in range(options):
                call.progress(n)
                await asyncio.sleep(0)
            return call.caller.session

        await self.bridge.register("steps", handler)
        other = await self.connect()
        seen: list[int] = []
        self.assertEqual(await other.call("steps", 20, on_progress=seen.append), other.session)
        self.assertEqual(seen, list(range(20)))
        pending = other.start("steps", 3, progress=True)
        self.assertEqual([value async for value in pending.progress()], [0, 1, 2])
        self.assertEqual(await pending.result(), other.session)

    async def test_exceptions_of_handlers_become_errors(self) -> None:
        async def handler(options: Any, call: IncomingCall) -> Any:
            if options == "own":
                raise BridgeError("scan.blurred", "Blurred.", {"n": 1})
            if options == "cancel":
                raise asyncio.CancelledError
            return object() if options == "object" else [][1]

        await self.bridge.register("fail", handler)
        codes = []
        for options in ("own", "cancel", "object", "bug"):
            with self.assertRaises(BridgeError) as raised:
                await self.bridge.call("fail", options)
            codes.append(raised.exception.code)
        self.assertEqual(codes, ["scan.blurred", "call.cancelled", "internal", "internal"])
        self.assertIn("list index out of range", raised.exception.message)

    async def test_a_handler_that_is_no_coroutine_function_is_an_error_of_its_calls(self) -> None:
        def handler(options: Any, call: IncomingCall) -> int:
            return 1

        await self.bridge.register("plain", handler)  # type: ignore[arg-type]
        with self.assertRaises(BridgeError) as raised:
            await self.bridge.call("plain")
        self.assertEqual(raised.exception.code, "internal")

    async def test_a_handler_is_cancelled_when_the_bridge_closes(self) -> None:
        provider = await aio.connect(self.daemon.path)
        begun, ended = asyncio.Event(), asyncio.Event()

        async def handler(options: Any, call: IncomingCall) -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        await provider.register("held", handler)
        pending = self.bridge.start("held")
        await self.within(begun)
        await provider.close()
        self.assertTrue(ended.is_set())
        with self.assertRaises(BridgeError) as raised:
            await pending.result()
        self.assertEqual(raised.exception.code, "session.closed")

    async def test_a_task_that_is_unregistered_is_not_found(self) -> None:
        async def handler(options: Any, call: IncomingCall) -> int:
            return 1

        await self.bridge.register("short", handler)
        await self.bridge.unregister("short")
        with self.assertRaises(BridgeError) as raised:
            await self.bridge.call("short")
        self.assertEqual(raised.exception.code, "task.not_found")


class EventTests(AsyncTestCase):
    async def publish(self, event: str, data: Any = None) -> None:
        await self.bridge.call("bridge.publish", {"event": event, "data": data})

    async def test_iterating_subscribes_and_brings_events_in_order(self) -> None:
        events = self.bridge.subscribe("door.*")
        first = asyncio.ensure_future(anext(events))
        # A call behind the subscription: once it is answered, the subscription is in force.
        await asyncio.sleep(0)
        await self.bridge.call("Echo")
        await self.publish("door.open", 1)
        await self.publish("door.shut", 2)
        self.assertEqual([await first, await anext(events)], [Event("door.open", 1), Event("door.shut", 2)])
        events.close()
        self.assertEqual([event async for event in events], [])

    async def test_a_stream_ends_with_its_context_and_with_its_bridge(self) -> None:
        async with self.bridge.subscribe("end") as events:
            await self.publish("end")
        self.assertEqual([event.name async for event in events], ["end"])
        other = await self.connect()
        streams = [await other.subscribe("end"), other.listen("*")]
        await other.close()
        for stream in streams:
            self.assertEqual([event async for event in stream], [])

    async def test_a_reader_that_is_too_slow_loses_the_oldest_and_is_told(self) -> None:
        async with self.bridge.subscribe("fast", max_events=2) as events:
            for n in range(5):
                await self.publish("fast", n)
            self.assertEqual(await anext(events), Event("bridge.events_dropped", {"count": 3}))
            self.assertEqual([(await anext(events)).data for _ in range(2)], [3, 4])

    async def test_what_the_daemon_sends_unasked_is_heard_by_listening(self) -> None:
        events = self.bridge.listen("record.*")
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
            pending = bridge.start("wait")
            await self.within(begun)
        with self.assertRaises(BridgeError) as raised:
            await pending.result()
        self.assertEqual(raised.exception.code, "session.closed")
        await self.within(cancelled)
        for use in (bridge.call("Echo"), bridge.send("Echo"), bridge.subscribe("x")):
            with self.assertRaises(BridgeError) as raised:
                await use
            self.assertEqual((raised.exception.code, raised.exception.started), ("session.closed", False))
        await bridge.close()
        self.assertLessEqual({task for task in asyncio.all_tasks() if not task.done()}, before)

    async def test_one_way_calls_right_before_the_end_are_delivered(self) -> None:
        async with self.bridge.subscribe("last.word") as events:
            async with aio.connect(self.daemon.path) as other:
                await other.send("bridge.publish", {"event": "last.word"})
            self.assertEqual((await anext(events)).name, "last.word")

    async def test_a_session_that_close_web_ends_does_not_come_back(self) -> None:
        closed = await self.connect(reconnect=SOON)
        events = closed.listen("web.*")
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
