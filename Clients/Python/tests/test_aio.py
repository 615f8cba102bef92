"""Calls and tasks of the asyncio interface with a real daemon."""

from __future__ import annotations

import asyncio
from typing import Any

from trestle_bridge import BridgeError, IncomingCall, TaskDescription, aio

from .aio_support import AsyncTestCase
from .support import TEST_TIMEOUT


class CallTests(AsyncTestCase):
    async def test_a_result_comes_back_as_it_was_sent(self) -> None:
        for value in ({"a": [1, 2.5, None, True]}, "弹\u2028😀", 2**200, None, "x" * 500_000):
            self.assertEqual(await self.bridge.call("Echo", value), value)
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
        pending = self.bridge.submit("wait")
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
        self.assertEqual(await self.bridge.call("retry", timeout=TEST_TIMEOUT, retry="transient"), 2)


class ProvidingTests(AsyncTestCase):
    async def test_a_handler_reports_progress_and_answers(self) -> None:
        async def handler(options: Any, call: IncomingCall) -> Any:
            for n in range(options):
                call.report_progress(n)
                await asyncio.sleep(0)
            return call.caller.session

        await self.bridge.register("steps", handler)
        other = await self.connect()
        seen: list[int] = []
        self.assertEqual(await other.call("steps", 20, on_progress=seen.append), other.session)
        self.assertEqual(seen, list(range(20)))
        pending = other.submit("steps", 3, progress=True)
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
        pending = self.bridge.submit("held")
        await self.within(begun)
        await provider.close()
        self.assertTrue(ended.is_set())
        with self.assertRaises(BridgeError) as raised:
            await pending.result()
        self.assertEqual(raised.exception.code, "provider.closed")

    async def test_a_handler_that_would_stop_the_event_loop_is_refused(self) -> None:
        async def handler(options: Any, call: IncomingCall) -> bool:
            return call.wait_cancelled()

        await self.bridge.register("blocks", handler)
        with self.assertRaises(BridgeError) as raised:
            await self.bridge.call("blocks")
        self.assertIn("would stop the event loop", raised.exception.message)

    async def test_a_task_that_is_unregistered_is_not_found(self) -> None:
        async def handler(options: Any, call: IncomingCall) -> int:
            return 1

        async with await self.bridge.register("short", handler):
            self.assertEqual(await self.bridge.call("short"), 1)
        with self.assertRaises(BridgeError) as raised:
            await self.bridge.call("short")
        self.assertEqual(raised.exception.code, "task.not_found")


    async def test_a_handler_learns_whether_its_progress_was_taken(self) -> None:
        taken: dict[bool, bool] = {}

        async def handler(options: Any, call: IncomingCall) -> None:
            taken[call.wants_progress] = call.report_progress(1)

        await self.bridge.register("asks", handler, description=TaskDescription("Asks."))
        await self.bridge.call("asks")
        await self.bridge.call("asks", on_progress=lambda value: None)
        self.assertEqual(taken, {False: False, True: True})
