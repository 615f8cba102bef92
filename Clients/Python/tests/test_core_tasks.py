"""The core without a socket: tasks that are provided, events that are listened to, and new sessions."""

from __future__ import annotations

from typing import Any

from trestle_bridge import BridgeError, Limits
from trestle_bridge._core.events import Subscription
from trestle_bridge._core.jsontext import encode

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

    def test_registrations_and_subscriptions_are_told_anew_before_calls_that_waited(self) -> None:
        self.core.requests.register("t", "session", object(), Recorder())
        self.core.requests.subscribe(Subscription(["a", "b.*"], Listener()), Recorder())
        self.core.requests.subscribe(Subscription(["a"], Listener()), Recorder())
        self.confirm()
        self.core.lost("gone")
        self.make()
        self.after(1)
        self.greet()
        told = [(message["task"], message.get("options")) for message in self.written()]
        self.assertEqual(told, [
            ("bridge.register", {"tasks": ["t"], "scope": "session"}),
            ("bridge.subscribe", {"events": ["a", "b.*"]}),
            ("Echo", None),
        ])

    def test_what_the_daemon_refused_or_this_end_gave_up_is_not_told_anew(self) -> None:
        refused, kept = Recorder(), Listener()
        self.core.requests.register("Echo", "any", object(), refused)
        [message] = self.written()
        self.feed({"callbackId": message["callbackId"], "error": {"code": "task.exists", "message": "m"}})
        self.assertEqual(refused.error.code, "task.exists")
        self.core.requests.register("gone", "any", object(), Recorder())
        gone = Subscription(["gone", "kept"], Listener())
        self.core.requests.subscribe(gone, Recorder())
        self.core.requests.subscribe(Subscription(["kept"], kept), Recorder())
        self.confirm()
        self.core.requests.unregister("gone", Recorder())
        self.core.requests.unsubscribe(gone)
        unsubscribed = self.confirm()[1]
        self.assertEqual(unsubscribed["options"], {"events": ["gone"]})
        self.again()
        self.assertEqual([message["options"] for message in self.written()], [{"events": ["kept"]}])

    def test_unregistering_succeeds_where_the_session_ends_first(self) -> None:
        self.core.requests.register("t", "any", object(), Recorder())
        self.confirm()
        sink = Recorder()
        self.core.requests.unregister("t", sink)
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
    limits = Limits(running_calls=2)

    def setUp(self) -> None:
        super().setUp()
        self.greet()
        self.core.requests.register("t", "any", object(), Recorder())
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

    def test_progress_is_counted_and_ends_with_the_call(self) -> None:
        self.feed({"task": "t", "callbackId": 1, "progress": True}, {"task": "t", "callbackId": 2})
        wants, quiet = self.running
        for call in (wants, quiet, wants):
            call.progress("x")
        self.core.provided.answer(wants, b"1", None)
        wants.progress("late")
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
        self.assertEqual(self.written(), [])

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
        self.assertEqual((first.timeout, first.caller.user, first.caller.session), (1.5, "ada", 3))
        self.assertEqual((second.timeout, second.one_way, second.caller.uid), (None, True, None))
