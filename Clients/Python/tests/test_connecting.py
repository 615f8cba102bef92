"""The core without a socket and without a clock: connecting."""

from __future__ import annotations

import unittest

from trestle_bridge import BridgeError
from trestle_bridge._core.driver import _connect_error
from trestle_bridge._core.events import Subscription
from trestle_bridge._core.state import State

from .core_support import CoreTestCase, Listener


class ConnectErrorTests(unittest.TestCase):
    def test_a_socket_that_this_user_may_not_open_is_another_error_than_none(self) -> None:
        denied = _connect_error("/s", PermissionError())
        absent = _connect_error("/s", FileNotFoundError(2, "none"))
        self.assertEqual((denied.code, denied.transient), ("connection.denied", False))
        self.assertEqual((absent.code, absent.message), ("daemon.unreachable", "no daemon at /s: none"))


class ConnectingTests(CoreTestCase):
    def test_a_daemon_that_is_not_there_ends_the_first_attempt(self) -> None:
        self.core.connect_failed(BridgeError("daemon.unreachable", "m"), again=False)
        self.assertEqual([error.code for error in self.closes], ["daemon.unreachable"])

    def test_a_daemon_without_room_is_tried_again_until_the_time_is_over(self) -> None:
        for _ in range(3):
            self.core.connect_failed(BridgeError("daemon.unreachable", "m"), again=True)
            self.assertFalse(self.core.wants_connection)
            self.after(0.02)
            self.assertTrue(self.core.wants_connection)
        self.after(10)
        self.assertEqual([error.code for error in self.closes], ["daemon.unreachable"])

    def test_a_daemon_that_does_not_answer_hello_is_unreachable(self) -> None:
        self.core.connected()
        self.after(10)
        self.assertEqual([error.code for error in self.closes], ["daemon.unreachable"])
        self.assertFalse(self.core.has_connection)

    def test_a_daemon_that_has_no_room_says_why(self) -> None:
        self.core.connected()
        self.feed({"callbackId": None, "error": {"code": "busy", "message": "too many sessions"}})
        self.core.lost("it ended its output")
        self.assertEqual([error.code for error in self.closes], ["busy"])

    def test_who_may_not_ask_who_it_is_may_still_call(self) -> None:
        self.core.connected()
        [hello] = self.written()
        self.feed({"callbackId": hello["callbackId"], "error": {"code": "permission.denied", "message": "m"}})
        self.assertEqual((self.opens, self.core.hello), ([True], None))

    def test_pauses_grow_until_a_connection_has_lasted(self) -> None:
        self.greet()
        for pause in (0.1, 0.2, 0.4):
            self.core.lost("gone")
            self.after(pause - 0.01)
            self.assertFalse(self.core.wants_connection)
            self.after(0.01)
            self.greet()
        self.after(0.4)
        self.core.lost("gone")
        self.after(0.1)
        self.assertTrue(self.core.wants_connection)
        self.assertEqual(self.opens, [True, False, False, False])

    def test_pauses_outgrow_connections_that_end_after_a_while(self) -> None:
        self.greet()
        for pause in (0.1, 0.1, 0.1):
            self.after(6)
            self.core.lost("gone")
            self.after(pause)
            self.assertTrue(self.core.wants_connection)
            self.greet()
        for pause in (0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 15.0):
            self.core.lost("gone")
            self.after(pause)
            self.assertTrue(self.core.wants_connection)
            self.greet()
        # A connection that is shorter than the last pause does not reset them.
        self.after(6)
        self.core.lost("gone")
        self.after(14.9)
        self.assertFalse(self.core.wants_connection)

    def test_a_session_that_close_web_ended_is_not_made_again(self) -> None:
        self.greet()
        _, sink = self.make()
        self.feed({"event": "web.close", "data": {"info": "bye"}})
        self.core.lost("it ended its output")
        self.assertEqual(self.core.state, State.CLOSED)
        self.assertEqual((self.closes[0].code, self.closes[0].data), ("session.closed", {"info": "bye"}))
        self.assertEqual(sink.error.code, "session.closed")

    def test_an_event_of_that_name_long_before_the_end_means_nothing(self) -> None:
        self.greet()
        self.feed({"event": "web.close", "data": {"info": None}})
        self.after(6)
        self.core.lost("it ended its output")
        self.assertEqual(self.core.state, State.APART)


class WaitingForDaemonTests(CoreTestCase):
    wait_for_daemon = 1.0

    def fail(self, code: str = "daemon.unreachable") -> None:  # type: ignore[override]
        self.core.connect_failed(BridgeError(code, "m"), again=False)

    def test_a_daemon_that_is_not_there_is_tried_again_for_as_long(self) -> None:
        for pause in (0.1, 0.2, 0.4):
            self.fail()
            self.assertEqual((self.closes, self.core.wants_connection), ([], False))
            self.after(pause)
            self.assertTrue(self.core.wants_connection)
        self.fail()
        self.after(0.31)
        self.fail()
        self.assertEqual([error.code for error in self.closes], ["daemon.unreachable"])

    def test_a_daemon_that_comes_in_time_is_connected_to(self) -> None:
        self.fail()
        self.after(0.1)
        self.greet()
        self.assertEqual((self.opens, self.closes), ([True], []))

    def test_a_socket_that_may_not_be_opened_is_not_waited_for(self) -> None:
        self.fail("connection.denied")
        self.assertEqual([error.code for error in self.closes], ["connection.denied"])


class ForGoodTests(CoreTestCase):
    backoff = None

    def test_without_reconnecting_a_loss_is_the_end(self) -> None:
        self.greet()
        listener = Listener()
        self.core.requests.listen(Subscription(["*"], listener, local=True))
        self.core.lost("gone")
        self.assertEqual([error.code for error in self.closes], ["session.closed"])
        self.assertEqual([error.code for error in listener.finishes if error], ["session.closed"])
        self.assertIs(self.make()[1].error.started, False)
