"""Plugins, with a daemon's side that the tests play."""

from __future__ import annotations

import sys
import unittest

from .plugin_support import SAMPLE, SampleTestCase  # first: it skips the tests if there is no tomllib
from .fake_daemon import CALLER, FakeDaemon, PluginEnded, PluginError
from .support import PACKAGE_FOLDER


class HelloTests(SampleTestCase):
    def test_it_says_what_was_declared_and_nothing_else(self) -> None:
        tasks = {task.pop("name"): task for task in self.said["tasks"]}
        self.assertEqual(tasks["greet"], {
            "summary": "Greets somebody by name.", "permission": "greeting", "timeout": 2500, "concurrency": 3,
            "private": True, "public": True, "optionPermissions": {"space": "store"}, "optionBytes": 1000,
            "options": {"type": "object", "required": ["who"]}, "result": {"type": "string"},
        })
        self.assertEqual(tasks["who"], {"summary": "Returns the caller.", "concurrency": 16})
        self.assertEqual(tasks["both.async"], {"summary": "both.async"})
        self.assertEqual(tasks["wait"], {"summary": "wait", "concurrency": 16, "timeout": None})
        del self.said["tasks"]
        self.assertEqual(self.said, {
            "protocol": {"name": "trestle-plugin", "version": "1.0"},
            "version": "1.2.3", "events": [{"name": "sample.done", "summary": "Something is done.", "public": True}],
            "launchWorkers": [{"name": "warm", "phase": "afterListening", "after": ["store"], "required": True}],
            "interceptors": [
                {"name": "look", "summary": "Looks.", "onFailure": "pass", "tasks": ["greet", "se*"]},
                {"name": "late", "summary": "Is for tasks that its configuration names.", "tasks": []},
            ],
            "configuration": {"type": "object"}, "reloadable": True, "sessions": True, "ping": "always",
        })

    def test_configuration_start_and_launch_come_to_its_functions(self) -> None:
        launch = {"arguments": ["a"], "environment": {"B": "c"}}
        options = {"worker": "warm", "stateDirectory": "/state", "launch": launch}
        self.assertEqual(self.daemon.call("plugin.launch", options), {})
        self.assertEqual(self.fails("plugin.launch", {"worker": "cold"})["code"], "task.not_found")
        self.assertEqual(self.fails("plugin.configure", {"bad": 1})["data"], {"path": "bad"})
        self.assertEqual(
            self.daemon.call("plugin.reconfigure", {"b": 2}), {"interceptors": {"look": ["greet", "se*"], "late": []}})
        self.assertEqual(
            self.daemon.call("seen")["configuration"],
            {"a": 1, "state": "/state", "arguments": [], "launched": ["/state", {"B": "c"}], "b": 2})

    def test_another_section_is_checked_and_not_taken(self) -> None:
        self.assertEqual(self.daemon.call("plugin.check", {"b": 2}), {})
        self.assertEqual(self.fails("plugin.check", {"bad": 1})["data"], {"path": "bad"})
        self.assertNotIn("b", self.daemon.call("seen")["configuration"])

    def test_what_is_known_of_sessions_is_saved_and_restored(self) -> None:
        saved = self.daemon.call("plugin.save_sessions", {"sessions": [1, 2, 3]})
        self.assertEqual(saved, {"states": {"1": {"known": 1}, "2": {"known": 2}}})
        self.assertEqual(self.daemon.call("plugin.restore_sessions", saved), {"lost": [2]})
        self.assertEqual(self.daemon.call("seen")["saved"], saved["states"])

    def test_a_process_of_a_pool_is_cleaned(self) -> None:
        self.assertEqual(self.daemon.call("plugin.clean"), {})
        self.assertEqual(self.daemon.call("seen")["configuration"], {})

    def test_what_it_does_not_know_it_says(self) -> None:
        for task in ("plugin.describe", "plugin.other", "nope"):
            self.assertEqual(self.fails(task)["code"], "task.not_found")

    def test_sessions_are_told_in_their_order(self) -> None:
        for change in ("opened", "closed"):
            self.daemon.send({"event": "plugin.session", "data": {"change": change, "caller": {"session": 5}}})
        for change in ("opened", "closed"):
            said = self.daemon.next(task="plugin.log")["options"]
            self.assertEqual(said, {"level": "notice", "message": f"session {change}"})
        self.assertEqual(self.daemon.call("seen")["sessions"], [["opened", 5], ["closed", 5]])


class CallTests(SampleTestCase):
    def test_a_call_is_answered_once(self) -> None:
        calls = [self.daemon.start_call("greet", {"who": n}) for n in range(50)]
        self.assertEqual([self.daemon.result(one) for one in calls], [f"Hello, {n}" for n in range(50)])
        self.daemon.call("plugin.ping")
        self.assertEqual(self.daemon._seen, [])

    def test_the_caller_and_the_deadline_are_known(self) -> None:
        expected = {"uid": 1000, "trusted": False, "pid": 4711}
        self.assertEqual(self.daemon.call("who"), {**expected, "deadline": False})
        self.assertEqual(self.daemon.call("who", timeout=50), {**expected, "deadline": True})

    def test_errors_are_the_callers_and_faults_are_in_the_log(self) -> None:
        self.assertEqual(self.fails("fail", "bridge"), {
            "code": "sample.failed", "message": "it failed", "data": {"why": "asked for"}, "transient": True,
            "retryAfter": 500,
        })
        self.assertEqual(self.fails("fail"), {
            "code": "internal", "message": "fail failed: KeyError: 'no such thing'", "unforeseen": True,
        })
        self.assertIn("Traceback", self.daemon.log_until("KeyError: 'no such thing'"))
        self.assertEqual(self.fails("fail", "exit")["code"], "internal")

    def test_results_without_json_or_beyond_the_bound_are_errors(self) -> None:
        self.assertEqual(self.fails("return", "nan")["code"], "internal")
        self.assertEqual(self.fails("return", "long")["code"], "result.too_large")
        self.assertIsNone(self.daemon.call("return", "none"))

    def test_progress_comes_in_order_to_whom_it_is_wanted_by(self) -> None:
        call = self.daemon.start_call("steps", 3, progress=True)
        for step in range(3):
            self.assertEqual(self.daemon.next(callbackId=call)["progress"], step)
        self.assertEqual(self.daemon.result(call), [True] * 3)
        call = self.daemon.start_call("steps", 3)
        self.assertEqual(self.daemon.next(callbackId=call)["result"], [False] * 3)

    def test_a_cancelled_call_ends_and_a_ping_is_answered_meanwhile(self) -> None:
        call = self.daemon.start_call("wait", progress=True)
        self.assertEqual(self.daemon.next(callbackId=call)["progress"], "waiting")
        self.assertEqual(self.daemon.call("plugin.ping"), {})
        self.daemon.send({"cancel": call})
        with self.assertRaises(PluginError) as raised:
            self.daemon.result(call)
        self.assertEqual(raised.exception.code, "call.cancelled")
        log = self.daemon.next(task="plugin.log")
        self.assertEqual(log["options"], {"level": "info", "message": "nobody waits", "call": call})
        self.assertNotIn("callbackId", log)

    def test_beyond_256_calls_more_wait_and_the_daemon_is_answered_meanwhile(self) -> None:
        calls = [self.daemon.start_call("wait", progress=True) for _ in range(256)]
        for call in calls:
            self.daemon.next(callbackId=call, progress="waiting")
        greetings = [
            self.daemon.start_call("greet", {"who": uid}, caller={**CALLER, "uid": uid}) for uid in (1000, 1000, 2000)]
        self.assertEqual(self.daemon.call("plugin.ping"), {})
        self.daemon.call("plugin.reconfigure", {})
        self.daemon.send({"cancel": greetings[0]})
        self.assertEqual(self.daemon.next(callbackId=greetings[0])["error"]["data"], {"started": False})
        self.assertFalse([message for message in self.daemon._seen if message.get("callbackId") in greetings])
        self.daemon.send({"cancel": calls[0]})
        results = [self.daemon.result(greeting) for greeting in greetings[1:]]
        self.assertEqual(results, ["Hello, 1000", "Hello, 2000"])


class BoundedTests(unittest.TestCase):
    def test_where_there_can_be_no_more_threads_calls_are_refused(self) -> None:
        daemon = FakeDaemon(
            [sys.executable, str(SAMPLE)], PACKAGE_FOLDER, environment={"PYTHONPATH": str(PACKAGE_FOLDER)},
            memory_bytes=512 << 20,
        )
        self.addCleanup(daemon.close)
        daemon.start()
        calls = [daemon.start_call("wait", progress=True) for _ in range(200)]
        refused = daemon.next(error=...)
        self.assertEqual(refused["error"]["code"], "busy")
        self.assertIn("no thread", refused["error"]["message"])
        self.assertEqual(daemon.call("plugin.ping"), {})
        daemon.send(*({"cancel": call} for call in calls if call != refused["callbackId"]))
        codes = set()
        for call in calls:
            if call != refused["callbackId"]:
                with self.assertRaises(PluginError) as raised:
                    daemon.result(call)
                codes.add(raised.exception.code)
        self.assertEqual(codes, {"busy", "call.cancelled"})
        self.assertEqual(daemon.call("greet", {"who": "World"}), "Hello, World")


class EndTests(SampleTestCase):
    def test_it_stops_when_it_is_told_with_a_call_in_flight(self) -> None:
        self.daemon.start_call("wait")
        self.assertEqual(self.daemon.call("plugin.stop"), {})
        self.daemon.log_until("stopping")
        self.assertEqual(self.daemon.wait_end(), 0)

    def test_it_ends_with_the_daemon(self) -> None:
        self.daemon.start_call("wait")
        self.daemon.socket.shutdown(1)
        self.assertEqual(self.daemon.wait_end(), 1)

    def test_lines_that_are_no_messages_are_passed_over(self) -> None:
        self.daemon.send(b"nonsense\n", [1], {"what": 1}, {"callbackId": 99, "result": 1})
        self.assertEqual(self.daemon.call("greet", {"who": "X"}), "Hello, X")
        self.daemon.log_until("a message of no known kind")
        with self.assertRaises(PluginEnded):
            self.daemon.call("plugin.stop")
            self.daemon.read()


class ReadmeTests(unittest.TestCase):
    def test_the_plugin_of_the_page_works(self) -> None:
        page = (PACKAGE_FOLDER / "README.md").read_text("utf-8").partition("\n## Plugins\n")[2]
        code = page.partition("```py\n")[2].partition("```")[0]
        environment = {"PYTHONPATH": str(PACKAGE_FOLDER)}
        daemon = FakeDaemon([sys.executable, "-c", code], PACKAGE_FOLDER, environment=environment)
        self.addCleanup(daemon.close)
        self.assertEqual([task["name"] for task in daemon.start()["tasks"]], ["greet"])
        self.assertEqual(daemon.call("greet", {"who": "World"}), "Hello, World")
        self.assertEqual(daemon.stop(), 0)
