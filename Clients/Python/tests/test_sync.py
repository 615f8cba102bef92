"""The synchronous face with a real daemon."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import trestle_bridge
from trestle_bridge import BridgeError, Event, IncomingCall

from .support import PACKAGE_FOLDER, PATIENCE, SOON, Daemon, DaemonTestCase


class SyncTestCase(DaemonTestCase):
    def connect(self, **options: Any) -> trestle_bridge.Bridge:
        bridge = trestle_bridge.connect(self.daemon.path, **options)
        self.addCleanup(bridge.close)
        return bridge

    def setUp(self) -> None:
        self.bridge = self.connect()

    def provide(self, task: str = "wait") -> tuple[threading.Event, threading.Event]:
        """Another client provides a task that never answers before it is cancelled; events of both
        moments."""
        begun, ended = threading.Event(), threading.Event()

        def handler(options: Any, call: IncomingCall) -> None:
            begun.set()
            call.wait_cancelled(PATIENCE)
            ended.set()

        self.connect().register(task, handler)
        return begun, ended


class CallTests(SyncTestCase):
    def test_a_result_comes_back_as_it_was_sent(self) -> None:
        for value in ({"a": [1, 2.5, None, True]}, "弹\u2028😀", 2**200, None, "x" * 500_000):
            self.assertEqual(self.bridge.call("Echo", value, timeout=5.0), value)
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
        self.assertTrue(ended.wait(PATIENCE))

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
            return all(self.bridge.call("Echo", [thread, n], timeout=30) == [thread, n] for n in range(50))

        with ThreadPoolExecutor(8) as pool:
            self.assertTrue(all(pool.map(work, range(8))))

    def test_calls_of_one_thread_begin_in_their_order(self) -> None:
        records = [{"table": "order", "key": f"{n}", "record": {}} for n in range(50)]
        pending = [self.bridge.start("persistence.create", record) for record in records]
        versions = [call.result()["version"] for call in pending]
        self.assertEqual(versions, sorted(versions))

    def test_a_one_way_call_is_carried_out(self) -> None:
        with self.bridge.subscribe("one.way") as events:
            self.bridge.send("bridge.publish", {"event": "one.way", "data": 1})
            self.assertEqual(events.get(PATIENCE), Event("one.way", 1))

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
        told = (own["client"], own["version"], own["origin"])
        self.assertEqual(told, ("notes", "1.2", "https://example.org"))
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
                    check=True, capture_output=True, text=True, timeout=PATIENCE, env=environment,
                ).stdout.strip()

            self.assertEqual(run(str(script)), "shopping-list")
            self.assertEqual(run("-c", script.read_text()), "python")

    def test_a_table_comes_page_by_page(self) -> None:
        pages = list(self.bridge.pages("bridge.tasks", {"limit": 10}, timeout=PATIENCE))
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
        self.assertEqual(self.bridge.call("retry", timeout=PATIENCE, retry="unstarted"), 3)
        attempts.clear()
        with self.assertRaises(BridgeError):
            self.bridge.call("retry")


class PendingTests(SyncTestCase):
    def test_a_pending_call_is_cancelled_and_the_daemon_says_whether_it_began(self) -> None:
        begun, ended = self.provide()
        pending = self.bridge.start("wait")
        self.assertTrue(begun.wait(PATIENCE))
        self.assertFalse(pending.done)
        with self.assertRaises(TimeoutError):
            pending.result(timeout=0)
        pending.cancel()
        for _ in range(2):
            with self.assertRaises(BridgeError) as raised:
                pending.result()
            self.assertEqual((raised.exception.code, raised.exception.started), ("call.cancelled", True))
        self.assertTrue(pending.done)
        self.assertTrue(ended.wait(PATIENCE))

    def test_several_threads_may_wait_for_one_call(self) -> None:
        pending = self.bridge.start("Echo", 7)
        with ThreadPoolExecutor(4) as pool:
            self.assertEqual(list(pool.map(lambda _: pending.result(PATIENCE), range(4))), [7] * 4)

    def test_progress_comes_in_order_before_the_result(self) -> None:
        def handler(options: Any, call: IncomingCall) -> str:
            for n in range(options):
                call.progress(n)
            return "done"

        self.bridge.register("steps", handler)
        seen: list[int] = []
        self.assertEqual(self.bridge.call("steps", 20, on_progress=seen.append), "done")
        self.assertEqual(seen, list(range(20)))
        pending = self.bridge.start("steps", 5, progress=True)
        self.assertEqual((list(pending.progress()), pending.result()), (list(range(5)), "done"))
        self.assertEqual(self.bridge.call("steps", 5), "done")

    def test_an_exception_of_on_progress_cancels_the_call_and_is_raised(self) -> None:
        ended = threading.Event()

        def handler(options: Any, call: IncomingCall) -> None:
            call.progress(1)
            call.wait_cancelled(PATIENCE)
            ended.set()

        self.connect().register("progressing", handler)

        def refuse(value: Any) -> None:
            raise KeyError(value)

        with self.assertRaises(KeyError):
            self.bridge.call("progressing", on_progress=refuse)
        self.assertTrue(ended.wait(PATIENCE))

    def test_an_interrupt_cancels_the_call_and_leaves_the_bridge_usable(self) -> None:
        begun, ended = self.provide()
        # Who runs the tests in the background may have had this process ignore it.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)

        def interrupt() -> None:
            begun.wait(PATIENCE)
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

        interrupter = threading.Thread(target=interrupt)
        interrupter.start()
        with self.assertRaises(KeyboardInterrupt):
            self.bridge.call("wait")
        interrupter.join()
        self.assertTrue(ended.wait(PATIENCE))
        self.assertEqual(self.bridge.call("Echo", 1), 1)


class ProvidingTests(SyncTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.other = self.connect()

    def test_a_handler_gets_options_and_caller_and_its_result_comes_back(self) -> None:
        def handler(options: Any, call: IncomingCall) -> Any:
            caller = call.caller
            return [options, call.task, caller.session, caller.uid, call.timeout, call.wants_progress]

        self.bridge.register("who", handler)
        answer = self.other.call("who", {"a": 1}, timeout=3.0)
        self.assertEqual(answer[:4], [{"a": 1}, "who", self.other.session, os.geteuid()])
        self.assertTrue(2.0 < answer[4] <= 3.0)
        self.assertIs(answer[5], False)

    def test_exceptions_of_handlers_become_errors(self) -> None:
        def handler(options: Any, call: IncomingCall) -> Any:
            if options == "own":
                raise BridgeError("scan.blurred", "Blurred.", {"n": 1}, transient=True, retry_after=0.25)
            if options == "exit":
                raise SystemExit(3)
            return {"x": float("nan")} if options == "nan" else [][1]

        self.bridge.register("fail", handler)
        errors = {}
        for options in ("own", "exit", "nan", "bug"):
            with self.assertRaises(BridgeError) as raised:
                self.other.call("fail", options)
            errors[options] = raised.exception
        own = errors.pop("own")
        self.assertEqual((own.code, own.message, own.data), ("scan.blurred", "Blurred.", {"n": 1}))
        self.assertEqual((own.transient, own.retry_after), (True, 0.25))
        self.assertEqual({error.code for error in errors.values()}, {"internal"})
        self.assertIn("list index out of range", errors["bug"].message)

    def test_names_that_are_taken_are_refused_and_an_earlier_handler_stays(self) -> None:
        with self.assertRaises(BridgeError) as raised:
            self.bridge.register("Echo", lambda options, call: 1)
        self.assertEqual(raised.exception.code, "task.exists")
        with self.assertRaises(ValueError):
            self.bridge.register("x", lambda options, call: 1, scope="world")

    def test_a_task_that_is_unregistered_is_not_found(self) -> None:
        self.bridge.register("short", lambda options, call: 1)
        self.assertEqual(self.other.call("short"), 1)
        self.bridge.unregister("short")
        with self.assertRaises(BridgeError) as raised:
            self.other.call("short")
        self.assertEqual(raised.exception.code, "task.not_found")

    def test_a_task_of_session_scope_is_called_by_those_who_name_the_session(self) -> None:
        self.bridge.register("own", lambda options, call: "mine", scope="session")
        with self.assertRaises(BridgeError):
            self.other.call("own")
        self.assertEqual(self.other.call("own", session=self.bridge.session), "mine")

    def test_a_handler_may_call_through_its_own_bridge(self) -> None:
        self.bridge.register("outer", lambda options, call: self.bridge.call("Echo", options))
        self.assertEqual(self.other.call("outer", 5, timeout=PATIENCE), 5)

    def test_a_call_that_is_cancelled_before_its_turn_is_never_begun(self) -> None:
        single = self.connect(handler_threads=1)
        begun, release, seen = threading.Event(), threading.Event(), []

        def handler(options: Any, call: IncomingCall) -> None:
            seen.append(options)
            begun.set()
            release.wait(PATIENCE)

        single.register("queue", handler)
        first = self.other.start("queue", 1)
        self.assertTrue(begun.wait(PATIENCE))
        second = self.other.start("queue", 2)
        second.cancel()
        with self.assertRaises(BridgeError):
            second.result(PATIENCE)
        # A callback behind the cancel on the provider's connection: once it is there, so was the cancel.
        single.call("Echo")
        third = self.other.start("queue", 3)
        release.set()
        first.result(PATIENCE)
        third.result(PATIENCE)
        self.assertEqual(seen, [1, 3])


class EventTests(SyncTestCase):
    def publish(self, event: str, data: Any = None) -> None:
        self.bridge.call("bridge.publish", {"event": event, "data": data})

    def test_events_come_in_order_to_each_stream_that_wants_them(self) -> None:
        with self.bridge.subscribe("door.*") as some, self.bridge.subscribe("door.open", "lamp") as others:
            for name in ("door.open", "door.shut", "lamp", "else"):
                self.publish(name, {"n": 1})
            self.assertEqual([some.get(PATIENCE).name for _ in range(2)], ["door.open", "door.shut"])
            self.assertEqual([others.get(PATIENCE).name for _ in range(2)], ["door.open", "lamp"])

    def test_a_stream_ends_when_it_or_the_bridge_is_closed(self) -> None:
        stream = self.bridge.subscribe("end.*")
        self.publish("end.one")
        stream.close()
        self.assertEqual([event.name for event in stream], ["end.one"])
        other = self.connect()
        streams = [other.subscribe("end.*"), other.listen("*")]
        other.close()
        self.assertEqual([list(one) for one in streams], [[], []])
        with self.assertRaises(BridgeError):
            streams[0].get(0)

    def test_the_daemon_knows_a_pattern_as_long_as_one_stream_wants_it(self) -> None:
        first, second = self.bridge.subscribe("shared", "own"), self.bridge.subscribe("shared")

        def known() -> list[str]:
            sessions = self.bridge.call("bridge.sessions")["sessions"]
            [own] = [one for one in sessions if one["session"] == self.bridge.session]
            patterns: list[str] = own["subscriptions"]
            return patterns

        self.assertEqual(known(), ["shared", "own"])
        first.close()
        self.assertEqual(known(), ["shared"])
        second.close()
        self.assertEqual(known(), [])

    def test_a_reader_that_is_too_slow_loses_the_oldest_and_is_told(self) -> None:
        with self.bridge.subscribe("fast", max_events=2) as events:
            for n in range(5):
                self.publish("fast", n)
            self.assertEqual(events.get(PATIENCE), Event("bridge.events_dropped", {"count": 3}))
            self.assertEqual([events.get(PATIENCE).data for _ in range(2)], [3, 4])
            with self.assertRaises(TimeoutError):
                events.get(0)

    def test_what_the_daemon_sends_unasked_is_heard_by_listening(self) -> None:
        with self.bridge.listen("record.*") as events:
            self.bridge.call("persistence.watch", {"table": "watched"})
            self.bridge.call("persistence.create", {"table": "watched", "key": "k", "record": {}})
            self.assertEqual(events.get(PATIENCE).data["change"], "create")

    def test_a_pattern_that_is_none_is_refused(self) -> None:
        with self.assertRaises(BridgeError) as raised:
            self.bridge.subscribe("a*b")
        self.assertEqual(raised.exception.code, "options.invalid")
        with self.assertRaises(ValueError):
            self.bridge.subscribe()


class EndTests(SyncTestCase):
    def test_close_ends_calls_in_flight_and_no_thread_is_left(self) -> None:
        begun, ended = self.provide()
        bridge = trestle_bridge.connect(self.daemon.path)
        bridge.register("own", lambda options, call: 1)
        bridge.call("own")
        pending = bridge.start("wait")
        self.assertTrue(begun.wait(PATIENCE))
        before = set(threading.enumerate())
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(pending.result)
            bridge.close()
            bridge.close()
            with self.assertRaises(BridgeError) as raised:
                waiting.result(PATIENCE)
        self.assertEqual(raised.exception.code, "session.closed")
        self.assertTrue(ended.wait(PATIENCE))
        gone = before - set(threading.enumerate())
        names = sorted(thread.name.split("_")[0] for thread in gone)
        self.assertEqual(names, ["trestle-bridge", "trestle-handler"])
        for use in (lambda: bridge.call("Echo"), lambda: bridge.send("Echo"), lambda: bridge.subscribe("x")):
            with self.assertRaises(BridgeError) as raised:
                use()
            self.assertEqual((raised.exception.code, raised.exception.started), ("session.closed", False))

    def test_close_tells_handlers_and_may_be_called_by_one(self) -> None:
        provider = trestle_bridge.connect(self.daemon.path)
        closed = threading.Event()

        def handler(options: Any, call: IncomingCall) -> None:
            provider.close()
            self.assertTrue(call.cancelled)
            closed.set()

        provider.register("closer", handler)
        with self.assertRaises(BridgeError) as raised:
            self.bridge.call("closer")
        self.assertEqual(raised.exception.code, "session.closed")
        self.assertTrue(closed.wait(PATIENCE))

    def test_one_way_calls_right_before_the_end_are_delivered(self) -> None:
        with self.bridge.subscribe("last.word") as events:
            with trestle_bridge.connect(self.daemon.path) as other:
                other.send("bridge.publish", {"event": "last.word"})
            self.assertEqual(events.get(PATIENCE).name, "last.word")

    def test_a_session_that_close_web_ends_does_not_come_back(self) -> None:
        closed = self.connect(reconnect=SOON)
        events = closed.listen("web.*")
        self.bridge.call("closeWeb", {"session": closed.session, "info": {"why": "done"}})
        self.assertEqual(next(events).data, {"info": {"why": "done"}})
        with self.assertRaises(BridgeError) as raised:
            next(events)
        error = raised.exception
        self.assertEqual((error.code, error.data), ("session.closed", {"info": {"why": "done"}}))
        with self.assertRaises(BridgeError):
            closed.call("Echo")

    def test_a_bridge_that_is_forgotten_says_so_and_ends_its_thread(self) -> None:
        bridge = trestle_bridge.connect(self.daemon.path, on_reconnect=lambda bridge: None)
        thread = bridge._thread._thread
        with self.assertWarns(ResourceWarning):
            del bridge
        thread.join(PATIENCE)
        self.assertFalse(thread.is_alive())

    def test_a_forked_child_is_refused_and_does_its_parent_no_harm(self) -> None:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                self.bridge.call("Echo")
            except RuntimeError:
                self.bridge.close()
                status = 0
            finally:
                os._exit(status)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(self.bridge.call("Echo", 1), 1)

    def test_a_daemon_that_is_not_there_is_unreachable(self) -> None:
        for path in (f"{self.daemon.path}.none", "x" * 200, "nul\0"):
            with self.subTest(path), self.assertRaises(BridgeError) as raised:
                trestle_bridge.connect(path)
            error = raised.exception
            self.assertEqual((error.code, error.transient), ("daemon.unreachable", True))


class RestartTests(unittest.TestCase):
    def test_a_client_goes_on_with_the_next_daemon(self) -> None:
        daemon = Daemon()
        self.addCleanup(daemon.close)
        came_back = threading.Event()
        with trestle_bridge.connect(
            daemon.path, reconnect=SOON, on_reconnect=lambda bridge: came_back.set()
        ) as bridge:
            bridge.register("twice", lambda options, call: options * 2)
            events = bridge.subscribe("restart.*", "daemon.draining")
            pending = bridge.start("Alert", {"content": "x"}, progress=True)
            pending.result(PATIENCE)
            daemon.stop()
            self.assertEqual(events.get(PATIENCE).name, "daemon.draining")
            waiting = bridge.start("twice", 4, timeout=PATIENCE)
            daemon.start()
            self.assertTrue(came_back.wait(PATIENCE))
            try:
                self.assertEqual(waiting.result(PATIENCE), 8)
            except BridgeError as error:
                # It met the daemon's last moment.
                self.assertIn(error.code, ("session.closed", "daemon.stopping"))
            self.assertEqual(bridge.call("twice", 5, timeout=PATIENCE), 10)
            bridge.call("bridge.publish", {"event": "restart.done"})
            self.assertEqual(events.get(PATIENCE).name, "restart.done")
