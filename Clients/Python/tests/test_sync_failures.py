"""The synchronous interface with a misbehaving server."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import trestle_bridge
from trestle_bridge import BridgeError, Event, IncomingCall, Limits

from .support import TEST_TIMEOUT, SOON, FakeServer, FakeServerTestCase, Peer


BRIEF = Limits(close_timeout=0.02)
"""Limits with a short `close_timeout`, because this server does not close its end when the client does."""


class SyncFailureTests(FakeServerTestCase):
    def connect(self, **options: Any) -> tuple[trestle_bridge.Bridge, Peer]:
        options.setdefault("reconnect", SOON)
        options.setdefault("limits", BRIEF)
        bridge = trestle_bridge.connect(self.server.path, **options)
        self.addCleanup(bridge.close)
        return bridge, self.server.peer()

    def test_a_connection_that_is_dropped_ends_calls_in_flight_and_is_made_again(self) -> None:
        bridge, peer = self.connect()
        pending = bridge.submit("Echo", 1)
        peer.read_call("Echo")
        peer.close()
        with self.assertRaises(BridgeError) as raised:
            pending.result(TEST_TIMEOUT)
        self.assertEqual((raised.exception.code, raised.exception.started), ("session.closed", True))
        again = bridge.submit("Echo", 2, timeout=TEST_TIMEOUT)
        peer = self.server.peer()
        peer.answer(peer.read_call("Echo"), 2)
        self.assertEqual(again.result(TEST_TIMEOUT), 2)

    def test_registrations_and_subscriptions_are_restored(self) -> None:
        notified = threading.Event()
        bridge, peer = self.connect(on_reconnect=lambda bridge: notified.set())

        def answer_both(first: Peer = peer) -> None:
            for _ in range(2):
                first.answer(first.read(), {})

        steps = threading.Thread(target=answer_both)
        steps.start()
        bridge.register("scan", lambda options, call: options + 1, scope="session")
        events = bridge.subscribe("door.*")
        steps.join()
        peer.close()
        peer = self.server.peer()
        register = peer.read_call("bridge.register")
        self.assertEqual(register["options"], {"tasks": ["scan"], "scope": "session"})
        self.assertEqual(peer.read_call("bridge.subscribe")["options"], {"events": ["door.*"]})
        peer.send({"event": "door.open", "data": 1}, {"task": "scan", "callbackId": 9, "options": 1})
        self.assertEqual(events.get(TEST_TIMEOUT), Event("bridge.events_dropped", {"count": None}))
        self.assertEqual(events.get(TEST_TIMEOUT).data, 1)
        self.assertEqual(peer.read(), {"callbackId": 9, "result": 2})
        self.assertTrue(notified.wait(TEST_TIMEOUT))

    def test_without_reconnecting_the_loss_is_the_end(self) -> None:
        bridge, peer = self.connect(reconnect=False)
        events = bridge.subscribe("*", local=True)
        peer.close()
        with self.assertRaises(BridgeError):
            events.get(TEST_TIMEOUT)
        with self.assertRaises(BridgeError) as raised:
            bridge.call("Echo", retry="transient")
        self.assertEqual((raised.exception.code, raised.exception.started), ("session.closed", False))
        self.assertFalse(bridge.connected)

    def test_garbage_half_lines_and_duplicates_harm_nobody(self) -> None:
        bridge, peer = self.connect()
        pending = bridge.submit("Echo", 1)
        own = peer.read_call("Echo")["callbackId"]
        with self.assertLogs("trestle_bridge", "WARNING"):
            peer.send(b"garbage\n\xff\xfe\n{}\n[]\n\r\n")
            peer.send({"callbackId": None, "error": {"code": "c", "message": "m"}})
            answer = '{"callbackId":%d,"result":"弹😀"}\r\n' % own
            for byte in answer.encode():
                peer.send(bytes([byte]))
            peer.send({"callbackId": own, "result": "again"}, {"callbackId": own, "progress": 1})
            self.assertEqual(pending.result(TEST_TIMEOUT), "弹😀")

    def test_a_half_line_at_the_end_of_the_connection_ends_no_call(self) -> None:
        bridge, peer = self.connect()
        pending = bridge.submit("Echo", 1)
        own = peer.read_call("Echo")["callbackId"]
        peer.send(b'{"callbackId":%d,"result":1' % own)
        peer.close()
        with self.assertRaises(BridgeError) as raised:
            pending.result(TEST_TIMEOUT)
        self.assertEqual(raised.exception.code, "session.closed")

    def test_a_message_of_many_megabytes_comes_whole(self) -> None:
        bridge, peer = self.connect()
        pending = bridge.submit("Echo", 1)
        call = peer.read_call("Echo")
        text = "弹" * 3_000_000
        peer.answer(call, text)
        self.assertEqual(pending.result(TEST_TIMEOUT), text)

    def test_a_line_without_end_ends_the_connection(self) -> None:
        bridge, peer = self.connect(limits=Limits(max_line_bytes=1000, close_timeout=0.02), reconnect=False)
        pending = bridge.submit("Echo", 1)
        peer.read_call("Echo")
        peer.send(b"x" * 1001)
        with self.assertRaises(BridgeError) as raised:
            pending.result(TEST_TIMEOUT)
        self.assertIn("more than 1000 bytes", raised.exception.message)

    def test_a_daemon_that_never_reads_fills_the_queue_and_then_calls_are_busy(self) -> None:
        bridge, peer = self.connect(limits=Limits(max_queued_bytes=1 << 20, close_timeout=0.05))
        options = "x" * 500_000
        codes = set()
        # The socket itself buffers some of them.
        while "busy" not in codes:
            try:
                bridge.notify("Echo", options)
            except BridgeError as error:
                codes.add(error.code)
                self.assertEqual((error.started, error.retry_after), (False, 0.1))
        # Every accepted message arrives, complete.
        while peer.read_call("Echo")["options"] == options:
            try:
                bridge.notify("Echo", "last")
                break
            except BridgeError:
                continue
        while (got := peer.read_call("Echo")["options"]) != "last":
            self.assertEqual(got, options)

    def test_a_daemon_that_is_silent_cannot_hang_a_call_with_a_timeout(self) -> None:
        bridge, peer = self.connect(limits=Limits(grace=0.01, close_timeout=0.02))
        with self.assertRaises(BridgeError) as raised:
            bridge.call("Echo", timeout=0.01)
        self.assertEqual(raised.exception.code, "call.timeout")
        call = peer.read_call("Echo")
        self.assertEqual(call["timeout"], 10)
        self.assertEqual(peer.read(), {"cancel": call["callbackId"]})

    def test_a_daemon_that_refuses_hello_is_tried_again_only_after_a_first_session(self) -> None:
        def refuse(peer: Peer, hello: dict[str, Any]) -> bool:
            error = {"code": "daemon.stopping", "message": "m", "data": {"started": False}, "transient": True}
            peer.send({"callbackId": hello["callbackId"], "error": error})
            refused.release()
            return False

        refused = threading.Semaphore(0)
        greet, self.server.greeting = self.server.greeting, refuse
        with self.assertRaises(BridgeError) as raised:
            self.connect()
        self.assertEqual(raised.exception.code, "daemon.stopping")
        self.assertTrue(refused.acquire(timeout=TEST_TIMEOUT))
        self.server.greeting = greet
        bridge, peer = self.connect()
        self.server.greeting = refuse
        peer.close()
        for _ in range(3):
            self.assertTrue(refused.acquire(timeout=TEST_TIMEOUT))
        self.server.greeting = greet
        pending = bridge.submit("Echo", timeout=TEST_TIMEOUT)
        peer = self.server.peer()
        peer.answer(peer.read_call("Echo"), 1)
        self.assertEqual(pending.result(), 1)

    def test_a_daemon_that_does_not_answer_hello_is_unreachable(self) -> None:
        self.server.greeting = lambda peer, hello: False
        with self.assertRaises(BridgeError) as raised:
            self.connect(limits=Limits(connect_timeout=0.05))
        self.assertEqual(raised.exception.code, "daemon.unreachable")

    def test_a_daemon_that_comes_later_may_be_waited_for(self) -> None:
        server = FakeServer(listening=False)
        self.addCleanup(server.close)
        with ThreadPoolExecutor(1) as pool:
            connecting = pool.submit(
                trestle_bridge.connect, server.path, reconnect=SOON, wait_for_daemon=True, limits=BRIEF)
            server.listen()
            connecting.result(TEST_TIMEOUT).close()

    def test_progress_that_the_daemon_does_not_read_is_not_taken_without_end(self) -> None:
        full = threading.Event()
        bridge, peer = self.connect(limits=Limits(max_queued_bytes=1 << 20, close_timeout=0.05))

        def handler(options: Any, call: IncomingCall) -> str:
            while call.report_progress("x" * 100_000):
                pass
            full.set()
            return "full"

        answering = threading.Thread(target=lambda: peer.answer(peer.read(), {}))
        answering.start()
        bridge.register("flood", handler)
        answering.join()
        peer.send({"task": "flood", "callbackId": 1, "progress": True})
        self.assertTrue(full.wait(TEST_TIMEOUT))
        taken = 0
        while "progress" in (message := peer.read()):
            taken += 1
        self.assertEqual(message["result"], "full")
        self.assertGreater(taken, 9)

    def test_close_does_not_wait_for_a_daemon_that_does_not_answer(self) -> None:
        bridge, _ = self.connect(limits=Limits(close_timeout=0.05))
        pending = bridge.submit("Echo")
        bridge.close()
        with self.assertRaises(BridgeError):
            pending.result(0)
