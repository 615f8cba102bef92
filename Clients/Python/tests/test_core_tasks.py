"""The core without a socket: provided tasks, subscribed events, and new sessions."""

from __future__ import annotations

from typing import Any

from trestle_bridge import BridgeError, IncomingCall, Limits, TaskDescription
from trestle_bridge._core.events import Subscription
from trestle_bridge._core.jsontext import encode
from trestle_bridge._core.providing import ProvidedTask

from .core_support import CoreTestCase, Listener, Recorder


class RestoringTests(CoreTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.greet()

    def confirm(self) -> list[dict[str, Any]]:
        messages = self.written()
        for message in messages:
            self.feed({"callbackId": message["callbackId"], "result": {}})
        return messages

    def again(self) -> None:
        self.core.lost("gone")
        self.after(1)
        self.greet()

    def test_registrations_and_subscriptions_are_written_again_before_calls_that_waited(self) -> None:
        self.core.requests.register(ProvidedTask("t", object(), "session"), Recorder())
        self.core.requests.subscribe(Subscription(["a", "b.*"], Listener()), Recorder())
        self.core.requests.subscribe(Subscription(["a"], Listener()), Recorder())
        self.confirm()
        self.core.lost("gone")
        self.make()
        self.after(1)
        self.greet()
        written = [(message["task"], message.get("options")) for message in self.written()]
        self.assertEqual(written, [
            ("bridge.register", {"tasks": ["t"], "scope": "session"}),
            ("bridge.subscribe", {"events": ["a", "b.*"]}),
            ("Echo", None),
        ])

    def test_a_registration_and_a_subscription_that_the_lost_session_did_not_answer_are_made_in_the_next(self) -> None:
        registered, subscribed = Recorder(), Recorder()
        self.core.requests.register(ProvidedTask("t", object()), registered)
        self.core.requests.subscribe(Subscription(["a"], Listener()), subscribed)
        first = self.written()
        self.again()
        self.assertEqual((registered.ends, subscribed.ends), ([], []))
        second = self.confirm()
        self.assertEqual([message["task"] for message in second], ["bridge.register", "bridge.subscribe"])
        self.assertEqual([message["options"] for message in second], [message["options"] for message in first])
        self.assertEqual((registered.result, subscribed.result), ({}, {}))
        self.assertTrue(self.core.provided.tasks["t"].confirmed)

    def test_a_registration_that_is_not_answered_ends_with_the_client(self) -> None:
        sink = Recorder()
        self.core.requests.register(ProvidedTask("t", object()), sink)
        self.written()
        self.core.lost("gone")
        self.core.close()
        self.assertEqual((sink.error.code, self.core.provided.tasks), ("session.closed", {}))

    def test_a_refusal_with_the_code_of_a_lost_session_is_not_asked_again(self) -> None:
        sink = Recorder()
        self.core.requests.register(ProvidedTask("t", object()), sink)
        [message] = self.written()
        error = {"code": "session.closed", "message": "m", "transient": True}
        self.feed({"callbackId": message["callbackId"], "error": error})
        self.assertEqual((sink.error.code, self.written()), ("session.closed", []))

    def test_what_the_daemon_refused_or_this_end_gave_up_is_not_written_again(self) -> None:
        refused, kept = Recorder(), Listener()
        self.core.requests.register(ProvidedTask("Echo", object()), refused)
        [message] = self.written()
        self.feed({"callbackId": message["callbackId"], "error": {"code": "task.exists", "message": "m"}})
        self.assertEqual(refused.error.code, "task.exists")
        provided = ProvidedTask("gone", object())
        self.core.requests.register(provided, Recorder())
        gone = Subscription(["gone", "kept"], Listener())
        self.core.requests.subscribe(gone, Recorder())
        self.core.requests.subscribe(Subscription(["kept"], kept), Recorder())
        self.confirm()
        self.core.requests.unregister(provided, Recorder())
        self.core.requests.unsubscribe(gone)
        unsubscribed = self.confirm()[1]
        self.assertEqual(unsubscribed["options"], {"events": ["gone"]})
        self.again()
        self.assertEqual([message["options"] for message in self.written()], [{"events": ["kept"]}])

    def test_unregistering_succeeds_where_the_session_ends_first(self) -> None:
        provided = ProvidedTask("t", object())
        self.core.requests.register(provided, Recorder())
        self.confirm()
        sink = Recorder()
        self.core.requests.unregister(provided, sink)
        self.written()
        self.again()
        self.assertEqual((sink.result, self.written()), (None, []))

    def test_events_go_to_everybody_whose_pattern_fits(self) -> None:
        listeners = {pattern: Listener() for pattern in ("door.*", "door.open", "x")}
        for pattern, listener in listeners.items():
            self.core.requests.subscribe(Subscription([pattern], listener), Recorder())
        self.feed({"event": "door.open", "data": 1}, {"event": "bridge.events_dropped", "data": {"count": 2}})
        names = [[event.name for event in listener.events] for listener in listeners.values()]
        dropped = "bridge.events_dropped"
        self.assertEqual(names, [["door.open", dropped], ["door.open", dropped], [dropped]])


class ProvidingTests(CoreTestCase):
    limits = Limits(max_running_calls=2)

    def setUp(self) -> None:
        super().setUp()
        self.greet()
        self.core.requests.register(ProvidedTask("t", object()), Recorder())
        self.written()

    def test_each_call_is_answered_once_with_its_id_as_it_came(self) -> None:
        self.feed({"task": "t", "callbackId": "5"}, {"task": "t", "callbackId": 5, "options": None})
        for call in self.running:
            self.core.provided.answer(call, b"1", None)
            self.core.provided.answer(call, b"2", None)
        self.assertEqual(self.written(), [{"callbackId": "5", "result": 1}, {"callbackId": 5, "result": 1}])
        self.assertEqual([call._options for call in self.running], [{}, None])

    def test_a_call_of_an_unknown_task_or_beyond_the_bound_is_refused(self) -> None:
        self.feed({"task": "other", "callbackId": 1})
        self.feed(*({"task": "t", "callbackId": number} for number in (2, 3, 4, 2)))
        codes = [(message["callbackId"], message["error"]["code"]) for message in self.written()]
        self.assertEqual(codes, [(1, "task.not_found"), (4, "busy")])
        self.assertEqual(len(self.running), 2)

    def test_a_user_at_the_bound_takes_nothing_from_another(self) -> None:
        for number, uid in enumerate([1000, 1000, 1000, 2000, 2000, 2000]):
            self.feed({"task": "t", "callbackId": number, "caller": {"uid": uid}})
        self.assertEqual([message["callbackId"] for message in self.written()], [2, 5])
        self.core.provided.answer(self.running[0], b"1", None)
        self.feed({"task": "t", "caller": {"uid": 1000}}, {"task": "t", "caller": {"uid": 1000}})
        self.assertEqual(len(self.running), 5)

    def test_progress_is_counted_and_ends_with_the_call(self) -> None:
        self.feed({"task": "t", "callbackId": 1, "progress": True}, {"task": "t", "callbackId": 2})
        wants, quiet = self.running
        for call in (wants, quiet, wants):
            call.report_progress("x")
        self.core.provided.answer(wants, b"1", None)
        wants.report_progress("late")
        progress = [{"callbackId": 1, "progress": "x", "sequence": number} for number in (0, 1)]
        self.assertEqual(self.written(), [*progress, {"callbackId": 1, "result": 1}])

    def test_a_cancel_reaches_the_handler_which_still_answers(self) -> None:
        self.feed({"task": "t", "callbackId": 1}, {"cancel": 1}, {"cancel": 7}, {"cancel": [1]})
        [call] = self.running
        self.assertEqual((self.cancelled, call.cancelled), ([call], True))
        self.core.provided.answer(call, None, BridgeError("call.cancelled", "m"))
        self.assertEqual(self.written()[0]["error"]["code"], "call.cancelled")

    def test_no_answer_goes_to_another_session(self) -> None:
        self.feed({"task": "t", "callbackId": 1}, {"task": "t"})
        self.core.lost("gone")
        self.assertEqual(len(self.cancelled), 2)
        self.after(1)
        self.greet()
        for call in self.running:
            self.core.provided.answer(call, b"1", None)
        self.assertEqual([message["task"] for message in self.written()], ["bridge.register"])

    def test_what_cannot_be_sent_becomes_an_error_that_can(self) -> None:
        self.feed({"task": "t", "callbackId": 1}, {"task": "t", "callbackId": 2})
        self.core.provided.answer(self.running[0], encode("x" * 1000), None)
        self.core.provided.answer(self.running[1], None, BridgeError("c", "m", {"n": float("nan")}))
        codes = [message["error"]["code"] for message in self.written()]
        self.assertEqual(codes, ["result.too_large", "internal"])

    def test_caller_and_timeout_are_what_the_daemon_says(self) -> None:
        caller = {"session": 3, "uid": 1000, "origin": "https://e.org", "user": "ada"}
        self.feed({"task": "t", "callbackId": 1, "timeout": 1500, "caller": caller}, {"task": "t"})
        first, second = self.running
        self.assertEqual((first.caller.user, first.caller.session, first.deadline is None), ("ada", 3, False))
        self.assertEqual((second.time_remaining, second.deadline), (None, None))
        self.assertEqual((second.one_way, second.caller.uid), (True, None))

    def test_the_time_that_remains_is_computed_when_it_is_read(self) -> None:
        now = [10.0]
        message = {"task": "t", "timeout": 1500}
        call = IncomingCall(message, 1, lambda call, value: True, clock=lambda: now[0])
        self.assertEqual((call.deadline, call.time_remaining), (11.5, 1.5))
        now[0] = 11.0
        self.assertEqual((call.deadline, call.time_remaining), (11.5, 0.5))
        now[0] = 20.0
        self.assertEqual(call.time_remaining, 0.0)

    def test_a_function_that_works_in_steps_ends_where_its_call_was_cancelled(self) -> None:
        self.feed({"task": "t", "callbackId": 1})
        [call] = self.running
        call.check_cancelled()
        self.feed({"cancel": 1})
        with self.assertRaises(BridgeError) as raised:
            call.check_cancelled()
        self.assertEqual((raised.exception.code, raised.exception.started), ("call.cancelled", True))

    def test_a_description_goes_with_the_registration_in_every_session(self) -> None:
        description = TaskDescription("Scans.", options={"type": "object"})
        self.core.requests.register(ProvidedTask("scan", object(), "any", description), Recorder())
        expected = {
            "tasks": ["scan"], "scope": "any",
            "descriptions": {"scan": {"summary": "Scans.", "options": {"type": "object"}}},
        }
        [message] = self.written()
        self.assertEqual(message["options"], expected)
        self.feed({"callbackId": message["callbackId"], "result": {}})
        self.core.lost("gone")
        self.after(1)
        self.greet()
        self.assertIn(expected, [message["options"] for message in self.written()])


class ProgressTests(CoreTestCase):
    limits = Limits(max_queued_bytes=200)

    def setUp(self) -> None:
        super().setUp()
        self.greet()
        self.core.requests.register(ProvidedTask("t", object()), Recorder())
        self.written()
        self.feed({"task": "t", "callbackId": 1, "progress": True}, {"task": "t", "callbackId": 2})
        self.wants, self.quiet = self.running

    def test_whether_progress_was_taken_is_returned(self) -> None:
        self.assertTrue(self.wants.report_progress(1))
        self.assertFalse(self.quiet.report_progress(1))
        with self.assertRaises(BridgeError):
            self.wants.report_progress(float("nan"))
        self.core.provided.answer(self.wants, b"1", None)
        self.assertFalse(self.wants.report_progress(2))
        self.assertEqual([message.get("progress") for message in self.written()], [1, None])

    def test_progress_is_not_taken_where_the_daemon_reads_too_slowly_or_it_is_too_long(self) -> None:
        self.assertFalse(self.wants.report_progress("x" * 1000))
        while self.wants.report_progress("x" * 50):
            pass
        self.assertGreater(len(self.written()), 1)
        self.assertTrue(self.wants.report_progress("x" * 50))

    def test_progress_of_a_cancelled_call_is_not_taken(self) -> None:
        self.feed({"cancel": 1})
        self.assertFalse(self.wants.report_progress(1))


class RegistrationTests(CoreTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.greet()
        self.first, self.second = ProvidedTask("t", object()), ProvidedTask("t", object())

    def register(self, provided: ProvidedTask) -> None:
        self.core.requests.register(provided, Recorder())
        [message] = self.written()
        self.feed({"callbackId": message["callbackId"], "result": {}})

    def test_closing_one_leaves_the_registration_that_took_its_place(self) -> None:
        self.register(self.first)
        self.register(self.second)
        sink = Recorder()
        self.core.requests.unregister(self.first, sink)
        self.assertEqual((sink.result, self.written()), (None, []))
        self.core.requests.unregister(self.second, Recorder())
        self.assertEqual([message["task"] for message in self.written()], ["bridge.unregister"])

    def test_without_a_session_a_task_is_unregistered_at_once(self) -> None:
        self.register(self.first)
        self.core.lost("gone")
        sink = Recorder()
        self.core.requests.unregister(self.first, sink)
        self.assertIsNone(sink.result)
        self.after(1)
        self.greet()
        self.assertEqual(self.written(), [])
