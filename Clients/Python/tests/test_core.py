"""The core without a socket and without a clock: the ends of calls in all states of the connection."""

from __future__ import annotations

import math
from typing import Any

from trestle_bridge import Limits
from trestle_bridge._core.jsontext import encode
from trestle_bridge._core.state import State

from .core_support import CoreTestCase


class CallTests(CoreTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.greet()

    def test_callbacks_are_matched_by_id_in_any_order(self) -> None:
        sinks = [self.make()[1] for _ in range(3)]
        ids = [message["callbackId"] for message in self.written()]
        for number in (2, 0, 1):
            self.feed({"callbackId": ids[number], "result": number})
        self.assertEqual([sink.result for sink in sinks], [0, 1, 2])

    def test_what_matches_nothing_changes_nothing(self) -> None:
        _, sink = self.make()
        [message] = self.written()
        own = message["callbackId"]
        others = [own + 1, str(own), float(own), True, None, [own], {"a": own}]
        self.feed(*({"callbackId": other, "result": 0} for other in others))
        self.feed({"callbackId": None, "error": {"code": "call.duplicate", "message": "m"}})
        self.feed({"event": "x"}, {"what": 1}, 3, [], {"cancel": 9}, {"callbackId": own, "progress": 1})
        self.core.received(b"\xff\xfe\nnot json\n{\"half\":\n")
        self.assertEqual(sink.ends, [])
        self.feed({"callbackId": own, "result": 1}, {"callbackId": own, "result": 2})
        self.feed({"callbackId": own, "error": {"code": "c", "message": "m"}})
        self.assertEqual(sink.result, 1)

    def test_progress_comes_in_order_without_duplicates_and_never_after_the_end(self) -> None:
        _, sink = self.make(wants_progress=True)
        [message] = self.written()
        own = message["callbackId"]
        for sequence in (0, 1, 1, 0, 5):
            self.feed({"callbackId": own, "progress": sequence, "sequence": sequence})
        self.feed({"callbackId": own, "result": None}, {"callbackId": own, "progress": 6, "sequence": 6})
        self.assertEqual((sink.values, sink.result), ([0, 1, 5], None))

    def test_a_callback_that_makes_no_sense_ends_its_call(self) -> None:
        bad: list[dict[str, Any]] = [{}, {"result": 1, "error": {}}, {"error": "x"}, {"error": {"code": "c"}}]
        for members in bad:
            _, sink = self.make()
            [message] = self.written()
            self.feed({"callbackId": message["callbackId"], **members})
            self.assertEqual(sink.error.code, "reply.invalid")

    def test_the_loss_of_the_connection_tells_what_was_written(self) -> None:
        sinks = [self.make(options=b'"0123456789"')[1] for _ in range(3)]
        first_bytes = len(self.core.output.buffers()[0])
        self.written(first_bytes + 10)
        self.core.lost("gone")
        self.assertEqual([sink.error.code for sink in sinks], ["session.closed"] * 3)
        self.assertEqual([sink.error.started for sink in sinks], [True, True, False])
        self.assertTrue(all(sink.error.transient for sink in sinks))

    def test_a_call_is_sent_with_what_is_left_of_its_timeout(self) -> None:
        self.core.lost("gone")
        self.make(timeout=5.0)
        self.after(2)
        self.greet()
        [message] = self.written()
        self.assertEqual(message["timeout"], 3000)

    def test_calls_wait_for_a_connection_only_for_their_timeout(self) -> None:
        self.core.lost("gone")
        _, timed = self.make(timeout=5.0)
        _, patient = self.make()
        self.after(5)
        self.assertEqual((timed.error.code, timed.error.started), ("call.timeout", False))
        self.after(55)
        self.assertEqual((patient.error.code, patient.error.started), ("daemon.unreachable", False))

    def test_a_daemon_that_is_silent_cannot_hang_a_call_with_a_timeout(self) -> None:
        _, sink = self.make(timeout=5.0)
        [message] = self.written()
        self.after(6.9)
        self.assertEqual(sink.ends, [])
        self.after(0.2)
        self.assertEqual((sink.error.code, sink.error.started), ("call.timeout", None))
        self.assertEqual(self.written(), [{"cancel": message["callbackId"]}])

    def test_a_call_that_was_never_written_is_taken_back(self) -> None:
        _, timed = self.make(timeout=1.0)
        call, cancelled = self.make()
        self.core.calls.cancel(call)
        self.after(3)
        self.assertEqual((timed.error.code, timed.error.started), ("call.timeout", False))
        self.assertEqual((cancelled.error.code, cancelled.error.started), ("call.cancelled", False))
        self.assertEqual(self.written(), [])

    def test_a_cancelled_call_ends_with_the_daemons_word(self) -> None:
        call, sink = self.make()
        [message] = self.written()
        self.core.calls.cancel(call)
        self.assertEqual(self.written(), [{"cancel": message["callbackId"]}])
        self.assertEqual(sink.ends, [])
        error = {"code": "call.cancelled", "message": "m", "data": {"started": True}}
        self.feed({"callbackId": message["callbackId"], "error": error})
        self.assertIs(sink.error.started, True)

    def test_a_cancelled_call_ends_without_the_daemons_word_after_a_while(self) -> None:
        call, sink = self.make()
        self.written()
        self.core.calls.cancel(call)
        self.after(2)
        self.assertEqual((sink.error.code, sink.error.started), ("call.cancelled", None))

    def test_an_abandoned_call_ends_at_once(self) -> None:
        call, sink = self.make()
        [message] = self.written()
        self.core.calls.abandon(call)
        self.core.calls.abandon(call)
        self.assertEqual(sink.error.code, "call.cancelled")
        self.assertEqual(self.written(), [{"cancel": message["callbackId"]}])

    def test_a_message_that_the_daemon_would_not_take_is_not_sent(self) -> None:
        _, sink = self.make(options=encode("x" * 1000))
        self.assertEqual((sink.error.code, sink.error.started), ("message.too_large", False))
        self.assertEqual(self.written(), [])

    def test_a_line_beyond_the_bound_ends_the_connection(self) -> None:
        _, sink = self.make()
        self.written()
        self.core._splitter._longest_bytes = 100
        self.core.received(b"x" * 101)
        self.assertEqual((sink.error.code, self.core.has_connection), ("session.closed", False))

    def test_a_one_way_call_ends_when_it_is_queued(self) -> None:
        _, sink = self.make(one_way=True)
        self.assertIsNone(sink.result)
        self.assertEqual(self.written(), [{"task": "Echo"}])


class NoTimeoutTests(CoreTestCase):
    def test_a_call_without_a_timeout_says_so_to_the_daemon_and_waits_without_end(self) -> None:
        self.greet()
        _, sink = self.make(timeout=math.inf)
        [message] = self.written()
        self.assertEqual(message["timeout"], 366 * 24 * 3600 * 1000)
        self.core.lost("gone")
        self.assertEqual(sink.error.code, "session.closed")
        _, waiting = self.make(timeout=math.inf)
        self.after(10_000)
        self.assertEqual(waiting.ends, [])


class BoundTests(CoreTestCase):
    limits = Limits(max_queued_bytes=150, max_waiting_calls=2)

    def test_calls_beyond_the_bound_are_refused_until_some_was_written(self) -> None:
        self.greet()
        sinks = [self.make(options=encode("x" * 60))[1] for _ in range(2)]
        self.assertEqual(sinks[0].ends, [])
        error = sinks[1].error
        self.assertEqual((error.code, error.started, error.transient), ("busy", False, True))
        self.written()
        self.assertEqual(self.make(options=encode("x" * 60))[1].ends, [])

    def test_calls_that_wait_for_a_connection_are_bounded_too(self) -> None:
        sinks = [self.make()[1] for _ in range(3)]
        self.assertEqual([len(sink.ends) for sink in sinks], [0, 0, 1])
        self.assertEqual(sinks[2].error.code, "busy")
        self.greet()
        self.assertEqual(len(self.written()), 2)


class ClosingTests(CoreTestCase):
    def test_closing_ends_everything_and_still_writes_what_is_queued(self) -> None:
        self.greet()
        _, flying = self.make()
        [message] = self.written()
        self.make(one_way=True)
        _, unwritten = self.make()
        self.core.close()
        self.assertEqual((flying.error.code, flying.error.started), ("session.closed", True))
        self.assertEqual((unwritten.error.code, unwritten.error.started), ("session.closed", False))
        self.assertEqual(self.written(), [{"task": "Echo"}, {"cancel": message["callbackId"]}])
        self.core.lost("it ended its output")
        self.assertEqual((len(self.closes), self.core.state), (1, State.CLOSED))

    def test_closing_waits_no_longer_than_it_is_told(self) -> None:
        self.greet()
        self.core.close()
        self.after(1)
        self.assertEqual(self.core.state, State.CLOSED)

    def test_a_call_of_a_closed_client_ends_at_once(self) -> None:
        self.core.close()
        _, sink = self.make()
        self.assertEqual((sink.error.code, sink.error.started), ("session.closed", False))

    def test_closing_while_calls_wait_for_a_connection_ends_them(self) -> None:
        self.greet()
        self.core.lost("gone")
        _, sink = self.make()
        self.core.close()
        self.assertEqual((sink.error.code, len(self.closes)), ("session.closed", 1))
