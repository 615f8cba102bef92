"""Calls of the synchronous interface with a real daemon."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

from trestle_bridge import BridgeError, Event, IncomingCall

from .support import PACKAGE_FOLDER, TEST_TIMEOUT
from .sync_support import SyncTestCase


class CallTests(SyncTestCase):
    def test_a_result_comes_back_as_it_was_sent(self) -> None:
        for value in ({"a": [1, 2.5, None, True]}, "弹\u2028😀", 2**200, None, "x" * 500_000):
            self.assertEqual(self.bridge.call("Echo", value), value)
        self.assertEqual(self.bridge.call("Echo"), {})

    def test_an_error_has_code_message_and_data(self) -> None:
        with self.assertRaises(BridgeError) as raised:
            self.bridge.call("persistence.read", {"table": "t", "key": "none"})
        error = raised.exception
        self.assertEqual((error.code, error.data), ("record.not_found", {"key": "none"}))
        self.assertEqual((error.transient, error.retry_after, error.started), (False, None, None))

    def test_a_timeout_ends_the_call_and_tells_its_provider(self) -> None:
        _, ended = self.provide()
        with self.assertRaises(BridgeError) as raised:
            self.bridge.call("wait", timeout=0.05)
        self.assertEqual((raised.exception.code, raised.exception.started), ("call.timeout", True))
        self.assertTrue(raised.exception.transient)
        self.assertTrue(ended.wait(TEST_TIMEOUT))

    def test_a_timeout_that_is_none_is_refused(self) -> None:
        for timeout in (0, -1.0, float("nan"), 4e7):
            with self.subTest(timeout), self.assertRaises(ValueError):
                self.bridge.call("Echo", timeout=timeout)

    def test_what_has_no_json_is_refused_before_it_is_sent(self) -> None:
        for options in ({"n": float("nan")}, ["\ud800"], {"o": object()}):
            with self.assertRaises(BridgeError) as raised:
                self.bridge.call("Echo", options)
            self.assertEqual((raised.exception.code, raised.exception.started), ("options.invalid", False))

    def test_a_message_longer_than_the_daemon_takes_is_not_sent(self) -> None:
        with self.assertRaises(BridgeError) as raised:
            self.bridge.call("Echo", "x" * (1 << 20))
        self.assertEqual((raised.exception.code, raised.exception.started), ("message.too_large", False))

    def test_many_threads_call_at_once_and_each_gets_its_own_result(self) -> None:
        def work(thread: int) -> bool:
            return all(self.bridge.call("Echo", [thread, n]) == [thread, n] for n in range(50))

        with ThreadPoolExecutor(8) as pool:
            self.assertTrue(all(pool.map(work, range(8))))

    def test_calls_of_one_thread_begin_in_their_order(self) -> None:
        records = [{"table": "order", "key": f"{n}", "record": {}} for n in range(50)]
        pending = [self.bridge.submit("persistence.create", record) for record in records]
        versions = [call.result()["version"] for call in pending]
        self.assertEqual(versions, sorted(versions))

    def test_a_call_may_have_no_timeout(self) -> None:
        seen: list[Any] = []
        with self.connect().register("late", lambda options, call: seen.append(call.time_remaining)):
            self.bridge.call("late", timeout=math.inf)
        self.assertGreater(seen[0], 364 * 24 * 3600)

    def test_a_one_way_call_is_carried_out(self) -> None:
        with self.bridge.subscribe("one.way") as events:
            self.bridge.notify("bridge.publish", {"event": "one.way", "data": 1})
            self.assertEqual(events.get(TEST_TIMEOUT), Event("one.way", 1))

    def test_floats_may_come_as_decimals(self) -> None:
        exact = self.connect(parse_float=Decimal)
        self.assertEqual(str(exact.call("Echo", Decimal("1.50"))), "1.50")
        self.assertEqual(exact.call("Echo", Decimal("1e400")), Decimal("1e400"))

    def test_the_daemon_says_who_it_is_and_knows_who_this_is(self) -> None:
        named = self.connect(client="notes", version="1.2", origin="https://example.org")
        assert named.hello is not None
        self.assertEqual(named.hello["protocol"], 1)
        sessions = {one["session"]: one for one in self.bridge.call("bridge.sessions")["sessions"]}
        own = sessions[named.session]
        described = (own["client"], own["version"], own["origin"])
        self.assertEqual(described, ("notes", "1.2", "https://example.org"))
        self.assertTrue(named.connected)

    def test_without_a_name_of_its_own_a_program_is_named_after_its_script(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder, "shopping-list.py")
            script.write_text(
                "import sys, trestle_bridge\n"
                "with trestle_bridge.connect(sys.argv[1]) as bridge:\n"
                "    own = [one for one in bridge.call('bridge.sessions')['sessions']\n"
                "           if one['session'] == bridge.session]\n"
                "    print(own[0]['client'])\n"
            )

            def run(*command: str) -> str:
                environment = {**os.environ, "PYTHONPATH": str(PACKAGE_FOLDER)}
                return subprocess.run(
                    [sys.executable, *command, self.daemon.path],
                    check=True, capture_output=True, text=True, timeout=TEST_TIMEOUT, env=environment,
                ).stdout.strip()

            self.assertEqual(run(str(script)), "shopping-list")
            self.assertEqual(run("-c", script.read_text()), "python")

    def test_a_table_comes_page_by_page(self) -> None:
        pages = list(self.bridge.pages("bridge.tasks", {"limit": 10}, timeout=TEST_TIMEOUT))
        self.assertGreater(len(pages), 1)
        self.assertTrue(all(len(page["tasks"]) == 10 for page in pages[:-1]))
        whole = self.bridge.call("bridge.tasks")["tasks"]
        self.assertEqual([task for page in pages for task in page["tasks"]], whole)

    def test_what_is_refused_for_now_is_sent_again_where_that_is_wanted(self) -> None:
        attempts: list[int] = []

        def handler(options: Any, call: IncomingCall) -> int:
            attempts.append(1)
            if len(attempts) < 3:
                raise BridgeError("busy", "later", {"started": False}, transient=True, retry_after=0.001)
            return len(attempts)

        self.bridge.register("retry", handler)
        self.assertEqual(self.bridge.call("retry", timeout=TEST_TIMEOUT, retry="unstarted"), 3)
        attempts.clear()
        with self.assertRaises(BridgeError):
            self.bridge.call("retry")


class PendingTests(SyncTestCase):
    def test_a_pending_call_is_cancelled_and_the_daemon_says_whether_it_began(self) -> None:
        begun, ended = self.provide()
        pending = self.bridge.submit("wait")
        self.assertTrue(begun.wait(TEST_TIMEOUT))
        self.assertFalse(pending.done)
        with self.assertRaises(TimeoutError):
            pending.result(timeout=0)
        pending.cancel()
        for _ in range(2):
            with self.assertRaises(BridgeError) as raised:
                pending.result()
            self.assertEqual((raised.exception.code, raised.exception.started), ("call.cancelled", True))
        self.assertTrue(pending.done)
        self.assertTrue(ended.wait(TEST_TIMEOUT))

    def test_several_threads_may_wait_for_one_call(self) -> None:
        pending = self.bridge.submit("Echo", 7)
        with ThreadPoolExecutor(4) as pool:
            self.assertEqual(list(pool.map(lambda _: pending.result(TEST_TIMEOUT), range(4))), [7] * 4)

    def test_progress_comes_in_order_before_the_result(self) -> None:
        def handler(options: Any, call: IncomingCall) -> str:
            for n in range(options):
                call.report_progress(n)
            return "done"

        self.bridge.register("steps", handler)
        seen: list[int] = []
        self.assertEqual(self.bridge.call("steps", 20, on_progress=seen.append), "done")
        self.assertEqual(seen, list(range(20)))
        pending = self.bridge.submit("steps", 5, progress=True)
        self.assertEqual((list(pending.progress()), pending.result()), (list(range(5)), "done"))
        self.assertEqual(self.bridge.call("steps", 5), "done")

    def test_an_exception_of_on_progress_cancels_the_call_and_is_raised(self) -> None:
        ended = threading.Event()

        def handler(options: Any, call: IncomingCall) -> None:
            call.report_progress(1)
            call.wait_cancelled(TEST_TIMEOUT)
            ended.set()

        self.connect().register("progressing", handler)

        def refuse(value: Any) -> None:
            raise KeyError(value)

        with self.assertRaises(KeyError):
            self.bridge.call("progressing", on_progress=refuse)
        self.assertTrue(ended.wait(TEST_TIMEOUT))

    def test_an_interrupt_cancels_the_call_and_leaves_the_bridge_usable(self) -> None:
        begun, ended = self.provide()
        # If the tests run in the background, this process may ignore SIGINT.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)

        def interrupt() -> None:
            begun.wait(TEST_TIMEOUT)
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

        interrupter = threading.Thread(target=interrupt)
        interrupter.start()
        with self.assertRaises(KeyboardInterrupt):
            self.bridge.call("wait")
        interrupter.join()
        self.assertTrue(ended.wait(TEST_TIMEOUT))
        self.assertEqual(self.bridge.call("Echo", 1), 1)
