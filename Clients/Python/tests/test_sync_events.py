"""Events of the synchronous interface with a real daemon, and its end."""

from __future__ import annotations

import os
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import trestle_bridge
from trestle_bridge import BridgeError, Event, IncomingCall

from .support import TEST_TIMEOUT, SOON, Daemon
from .sync_support import SyncTestCase


class EventTests(SyncTestCase):
    def publish(self, event: str, data: Any = None) -> None:
        self.bridge.publish(event, data)

    def test_events_come_in_order_to_each_stream_that_wants_them(self) -> None:
        with self.bridge.subscribe("door.*") as some, self.bridge.subscribe("door.open", "lamp") as others:
            for name in ("door.open", "door.shut", "lamp", "else"):
                self.publish(name, {"n": 1})
            self.assertEqual([some.get(TEST_TIMEOUT).name for _ in range(2)], ["door.open", "door.shut"])
            self.assertEqual([others.get(TEST_TIMEOUT).name for _ in range(2)], ["door.open", "lamp"])

    def test_a_retained_event_comes_to_who_subscribes_later(self) -> None:
        self.bridge.publish("lamp.on", {"n": 1}, retain=True)
        with self.connect().subscribe("lamp.*") as events:
            self.assertEqual(events.get(TEST_TIMEOUT), Event("lamp.on", {"n": 1}))

    def test_a_stream_ends_when_it_or_the_bridge_is_closed(self) -> None:
        stream = self.bridge.subscribe("end.*")
        self.publish("end.one")
        stream.close()
        self.assertEqual([event.name for event in stream], ["end.one"])
        other = self.connect()
        streams = [other.subscribe("end.*"), other.subscribe("*", local=True)]
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
            self.assertEqual(events.get(TEST_TIMEOUT), Event("bridge.events_dropped", {"count": 3}))
            self.assertEqual([events.get(TEST_TIMEOUT).data for _ in range(2)], [3, 4])
            with self.assertRaises(TimeoutError):
                events.get(0)

    def test_what_the_daemon_sends_without_a_subscription_is_read_by_a_local_one(self) -> None:
        with self.bridge.subscribe("record.*", local=True) as events:
            self.bridge.call("persistence.watch", {"table": "watched"})
            self.bridge.call("persistence.create", {"table": "watched", "key": "k", "record": {}})
            self.assertEqual(events.get(TEST_TIMEOUT).data["change"], "create")

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
        pending = bridge.submit("wait")
        self.assertTrue(begun.wait(TEST_TIMEOUT))
        before = set(threading.enumerate())
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(pending.result)
            bridge.close()
            bridge.close()
            with self.assertRaises(BridgeError) as raised:
                waiting.result(TEST_TIMEOUT)
        self.assertEqual(raised.exception.code, "session.closed")
        self.assertTrue(ended.wait(TEST_TIMEOUT))
        gone = before - set(threading.enumerate())
        names = sorted(thread.name.split("_")[0] for thread in gone)
        self.assertEqual(names, ["trestle-bridge", "trestle-handler"])
        for use in (lambda: bridge.call("Echo"), lambda: bridge.notify("Echo"), lambda: bridge.subscribe("x")):
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
        self.assertEqual(raised.exception.code, "provider.closed")
        self.assertTrue(closed.wait(TEST_TIMEOUT))

    def test_one_way_calls_right_before_the_end_are_delivered(self) -> None:
        with self.bridge.subscribe("last.word") as events:
            with trestle_bridge.connect(self.daemon.path) as other:
                other.notify("bridge.publish", {"event": "last.word"})
            self.assertEqual(events.get(TEST_TIMEOUT).name, "last.word")

    def test_a_session_that_close_web_ends_does_not_come_back(self) -> None:
        closed = self.connect(reconnect=SOON)
        events = closed.subscribe("web.*", local=True)
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
        thread.join(TEST_TIMEOUT)
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
            pending = bridge.submit("Alert", {"content": "x"}, progress=True)
            pending.result(TEST_TIMEOUT)
            daemon.stop()
            self.assertEqual(events.get(TEST_TIMEOUT).name, "daemon.draining")
            waiting = bridge.submit("twice", 4, timeout=TEST_TIMEOUT)
            daemon.start()
            self.assertTrue(came_back.wait(TEST_TIMEOUT))
            try:
                self.assertEqual(waiting.result(TEST_TIMEOUT), 8)
            except BridgeError as error:
                # The call reached the daemon while it was stopping.
                self.assertIn(error.code, ("session.closed", "daemon.stopping"))
            self.assertEqual(bridge.call("twice", 5, timeout=TEST_TIMEOUT), 10)
            bridge.publish("restart.done")
            self.assertEqual(events.get(TEST_TIMEOUT), Event("bridge.events_dropped", {"count": None}))
            self.assertEqual(events.get(TEST_TIMEOUT).name, "restart.done")
