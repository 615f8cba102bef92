"""The effect of a lost connection on calls, as docs/clients.md specifies for every client."""

from __future__ import annotations

from typing import Any

from trestle_bridge import Limits
from trestle_bridge._core.jsontext import encode

from .core_support import CoreTestCase, Recorder

REFUSAL = {"code": "daemon.stopping", "message": "m", "data": {"started": False}, "transient": True}


def outcome(sink: Recorder) -> tuple[Any, ...]:
    return sink.error.code, sink.error.message, sink.error.data, sink.error.transient


class LostTests(CoreTestCase):
    def test_a_call_tells_whether_a_byte_of_it_was_written(self) -> None:
        self.greet()
        sinks = [self.make(options=b'"0123456789"')[1] for _ in range(3)]
        self.written(len(self.core.output.buffers()[0]) + 1)
        self.core.lost("gone")
        lost = "the connection to the daemon was lost (gone); the call of Echo "
        begun = ("session.closed", f"{lost}may have had its effect", {"started": True}, True)
        kept = ("session.closed", f"{lost}had not been sent", {"started": False}, True)
        self.assertEqual([outcome(sink) for sink in sinks], [begun, begun, kept])
        self.after(1)
        self.greet()
        self.assertEqual(self.written(), [])

    def test_a_call_that_waited_belongs_to_the_connection_that_comes(self) -> None:
        self.greet()
        self.core.lost("gone")
        _, sink = self.make()
        self.after(1)
        self.greet()
        self.core.lost("gone again")
        self.assertEqual((sink.error.code, sink.error.started), ("session.closed", False))

    def test_by_default_1024_calls_wait_each_for_its_timeout_or_a_minute(self) -> None:
        self.greet()
        self.core.lost("gone")
        sinks = [self.make()[1] for _ in range(1024)]
        _, beyond = self.make()
        self.assertEqual(beyond.error.code, "busy")
        self.after(59.9)
        self.assertEqual(sinks[0].ends, [])
        self.after(0.1)
        text = "no daemon at /s: the connection was lost and not restored for 60 s"
        data = {"path": "/s", "started": False}
        expected = ("daemon.unreachable", f"{text}; the call of Echo had not been sent", data, True)
        self.assertEqual([outcome(sink) for sink in sinks], [expected] * 1024)
        _, timed = self.make(timeout=1.0)
        self.after(1)
        text = "there was no connection to the daemon before the deadline of the call of Echo"
        self.assertEqual(outcome(timed), ("call.timeout", text, {"started": False}, True))


class BoundTests(CoreTestCase):
    limits = Limits(max_waiting_calls=2, max_waiting_bytes=500)

    def setUp(self) -> None:
        super().setUp()
        self.greet()
        self.core.lost("gone")

    def test_only_so_many_calls_wait(self) -> None:
        first, _ = self.make()
        self.make()
        _, beyond = self.make()
        _, one_way = self.make(one_way=True)
        for sink in (beyond, one_way):
            self.assertRegex(sink.error.message, r"^2 calls with \d+ bytes wait for a connection to the daemon")
            self.assertEqual(
                (sink.error.code, sink.error.data, sink.error.transient, sink.error.retry_after),
                ("busy", {"started": False}, True, 1.0))
        # A call that has ended makes room.
        self.core.calls.cancel(first)
        self.assertEqual(self.make()[1].ends, [])

    def test_calls_are_only_so_long_together(self) -> None:
        self.assertEqual(self.make(options=encode("x" * 500))[1].error.code, "busy")
        self.assertEqual(self.make(options=encode("x" * 300))[1].ends, [])
        self.assertEqual(self.make(options=encode("x" * 100))[1].error.code, "busy")

    def test_the_bound_is_no_more_when_there_is_a_connection(self) -> None:
        self.make()
        self.make()
        self.after(1)
        self.greet()
        self.assertEqual(self.make()[1].ends, [])
        self.assertEqual(len(self.written()), 3)


class StoppingDaemonTests(CoreTestCase):
    limits = Limits(max_waiting_calls=2)

    def setUp(self) -> None:
        super().setUp()
        self.greet()

    def refuse(self) -> None:
        for message in self.written():
            self.feed({"callbackId": message["callbackId"], "error": REFUSAL})

    def test_what_it_refuses_goes_over_the_next_connection_with_what_is_left_of_its_timeout(self) -> None:
        _, sink = self.make(timeout=5.0)
        self.refuse()
        _, younger = self.make()
        self.assertEqual((sink.ends, younger.ends, self.written()), ([], [], []))
        self.core.lost("gone")
        self.after(2)
        self.greet()
        messages = self.written()
        self.assertEqual([message.get("timeout") for message in messages], [3000, None])
        self.feed(*({"callbackId": message["callbackId"], "result": 1} for message in messages))
        self.assertEqual((sink.result, younger.result), (1, 1))

    def test_one_that_hands_its_sessions_on_is_asked_again_over_the_same_connection(self) -> None:
        _, sink = self.make()
        self.refuse()
        self.after(0.9)
        self.assertEqual(self.written(), [])
        self.after(0.1)
        [message] = self.written()
        self.feed({"callbackId": message["callbackId"], "result": 1})
        self.assertEqual(sink.result, 1)

    def test_what_it_refuses_waits_only_where_there_is_room(self) -> None:
        sinks = [self.make()[1] for _ in range(3)]
        self.refuse()
        self.assertEqual([len(sink.ends) for sink in sinks], [0, 0, 1])
        self.assertEqual(sinks[2].error.code, "daemon.stopping")

    def test_a_call_waits_for_a_minute_from_when_it_was_made(self) -> None:
        _, sink = self.make()
        self.after(40)
        self.refuse()
        self.core.lost("gone")
        self.core.wants_connection = False
        self.after(20)
        self.assertEqual((sink.error.code, sink.error.started), ("daemon.unreachable", False))

    def test_a_call_that_is_being_cancelled_is_not_sent_again(self) -> None:
        call, sink = self.make()
        messages = self.written()
        self.core.calls.cancel(call)
        self.written()
        self.feed({"callbackId": messages[0]["callbackId"], "error": REFUSAL})
        self.assertEqual(sink.error.code, "daemon.stopping")

    def test_a_call_that_may_have_begun_is_not_sent_again(self) -> None:
        _, sink = self.make()
        [message] = self.written()
        self.feed({"callbackId": message["callbackId"], "error": {**REFUSAL, "data": {"started": True}}})
        self.assertEqual((sink.error.code, sink.error.started), ("daemon.stopping", True))

    def test_who_hears_that_it_drains_need_not_be_refused(self) -> None:
        self.feed({"event": "daemon.draining", "data": {}})
        _, sink = self.make()
        self.assertEqual((sink.ends, self.written()), ([], []))


class PartlyWrittenTests(CoreTestCase):
    def test_a_call_of_which_some_was_written_may_still_begin_when_it_is_abandoned(self) -> None:
        self.greet()
        call, sink = self.make()
        self.written(5)
        self.core.calls.abandon(call)
        self.assertEqual((sink.error.code, sink.error.started), ("call.cancelled", None))
