"""The messages that plugins send: calls, events, log lines, metrics."""

from __future__ import annotations

from .plugin_support import SampleTestCase  # first: it skips the tests if there is no tomllib
from .fake_daemon import PluginError


class OwnCallTests(SampleTestCase):
    def test_calls_are_made_on_behalf_of_a_call_or_of_none(self) -> None:
        call = self.daemon.start_call("both", {"x": 1})
        other = self.daemon.next(task="other")
        self.assertEqual((other["caller"], other["options"], other["timeout"]), (call, {"x": 1}, 1500))
        self.daemon.send({"callbackId": other["callbackId"], "result": "first"})
        other = self.daemon.next(task="other")
        self.assertEqual((other["session"], "caller" in other, "options" in other), (9, False, False))
        self.assertEqual(other["timeout"], 366 * 24 * 3600 * 1000)
        self.daemon.send({"callbackId": other["callbackId"], "error": {"code": "c", "message": "m"}})
        with self.assertRaises(PluginError) as raised:
            self.daemon.result(call)
        self.assertEqual(raised.exception.error, {"code": "c", "message": "m"})

    def test_several_calls_of_a_thread_run_at_once(self) -> None:
        call = self.daemon.start_call("both.submitted")
        others = [self.daemon.next(task="other") for _ in range(2)]
        self.assertEqual([other.get("caller") for other in others], [call, None])
        for other in reversed(others):
            self.daemon.send({"callbackId": other["callbackId"], "result": other["options"] * 10})
        self.assertEqual(self.daemon.result(call), [10, 20])

    def test_a_call_that_would_stop_the_event_loop_is_refused(self) -> None:
        self.assertIn("would stop the event loop", self.fails("fail.async", "waits")["message"])

    def test_coroutines_call_too(self) -> None:
        call = self.daemon.start_call("both.async")
        for other in [self.daemon.next(task="other") for _ in range(2)]:
            self.daemon.send({"callbackId": other["callbackId"], "result": other["options"] * 10})
        self.assertEqual(self.daemon.result(call), [10, 20])

    def test_a_coroutine_that_exits_ends_its_own_call_alone(self) -> None:
        for options, status in [("at once", 3), ("within", 4)]:
            self.assertEqual(self.fails("fail.async", options), {
                "code": "internal", "message": f"fail.async failed: SystemExit: {status}", "unforeseen": True,
            })
        call = self.daemon.start_call("both.async")
        for other in [self.daemon.next(task="other") for _ in range(2)]:
            self.daemon.send({"callbackId": other["callbackId"], "result": other["options"]})
        self.assertEqual(self.daemon.result(call), [1, 2])

    def test_a_cancelled_coroutine_cancels_its_calls_cleans_up_and_answers(self) -> None:
        call = self.daemon.start_call("wait.async", progress=True)
        other = self.daemon.next(task="other")
        self.daemon.send({"cancel": call})
        self.daemon.next(cancel=other["callbackId"])
        self.assertEqual(self.daemon.next(task="plugin.publish")["options"], {
            "event": "sample.done", "data": {"cleaned": "up"}, "sessions": [1, 2], "direct": True,
        })
        with self.assertRaises(PluginError) as raised:
            self.daemon.result(call)
        self.assertEqual(raised.exception.code, "call.cancelled")

    def test_an_event_is_retained_for_all_subscribers_until_it_is_forgotten(self) -> None:
        self.assertIsNone(self.daemon.call("keep", 1))
        self.assertEqual([message["options"] for message in self.daemon._seen], [
            {"event": "sample.done", "data": 1, "retain": True}, {"event": "sample.done", "forget": True},
            {"level": "notice", "message": "what is retained goes to all subscribers: leave out to or retain"},
        ])

    def test_events_lines_metrics_and_one_way_calls_are_sent_without_an_id(self) -> None:
        self.assertIsNone(self.daemon.call("send"))
        messages = self.daemon._seen
        self.assertEqual([message["task"] for message in messages], [
            "plugin.publish", "plugin.log", "plugin.metrics", "other", "plugin.log",
        ])
        self.assertFalse(any("callbackId" in message for message in messages))
        options = [message["options"] for message in messages]
        self.assertEqual(options[0], {"event": "sample.done", "data": 1})
        self.assertEqual(options[1], {"level": "warning", "message": "a line\\udcff"})
        self.assertEqual(options[2], {
            "metrics": [{"name": "things", "kind": "counter", "help": "Things.", "value": 4}],
        })
        self.assertEqual(options[3], {"a": 1})
        self.assertEqual(options[4], {"level": "notice", "message": "message.too_large"})
        self.daemon.log_until("printed")

    def test_records_of_the_standard_library_go_to_the_log(self) -> None:
        call = self.daemon.start_call("log")
        lines = [self.daemon.next(task="plugin.log")["options"] for _ in range(5)]
        self.assertEqual(lines[:4], [
            {"level": "debug", "message": "a detail"}, {"level": "info", "message": "normal", "call": call},
            {"level": "notice", "message": "noticed"}, {"level": "error", "message": "at an end"},
        ])
        self.assertEqual(lines[4]["level"], "error")
        self.assertRegex(lines[4]["message"], r"(?s)failed.*Traceback.*KeyError: 'cause'")

    def test_to_a_daemon_that_does_not_read_only_so_much_is_said(self) -> None:
        call = self.daemon.start_call("flood")
        # The test does not read the socket meanwhile.
        self.daemon.log_until("full")
        self.assertEqual(self.daemon.result(call), 1)
        sizes = sum(len(message["options"]["data"]) for message in self.daemon._seen)
        self.assertLess(sizes, 6 << 20)
