"""Interceptors, with a daemon's side that the tests play."""

from __future__ import annotations

from typing import Any

from .plugin_support import SampleTestCase  # first: it skips the tests if there is no tomllib
from .fake_daemon import PluginError


class InterceptorTests(SampleTestCase):
    def ask(self, options: Any, name: str = "look", **more: Any) -> Any:
        question = {"interceptor": name, "task": "greet", "options": options, **more}
        return self.daemon.call("plugin.intercept", question)

    def test_what_a_function_returns_is_the_decision(self) -> None:
        self.assertEqual(self.ask("anything"), {"pass": True})
        self.assertEqual(self.ask("redirect"), {"task": "other"})
        self.assertEqual(self.ask("redirect with"), {"task": "other", "options": None})
        self.assertEqual(self.ask("answer"), {"result": {"a": 1}})

    def test_it_knows_what_is_called_and_by_whom(self) -> None:
        question = {"interceptor": "look", "task": "second", "session": 9, "oneWay": True, "options": "rewrite"}
        caller = {"session": 3, "uid": 1000}
        decision = self.daemon.call("plugin.intercept", question, caller=caller, timeout=500)
        self.assertEqual(decision, {"options": ["second", 9, True, 1000, True]})

    def test_a_bridge_error_refuses_and_any_other_exception_is_a_failure(self) -> None:
        refused = {"error": {"code": "plugin.unavailable", "message": "meant so", "transient": True}}
        self.assertEqual(self.ask("refuse"), refused)
        self.assertEqual(self.ask("refuse", "late"), {"error": {"code": "late.refused", "message": "no"}})
        for what in ("fail", "nothing"):
            with self.assertRaises(PluginError) as raised:
                self.ask(what)
            self.assertEqual(raised.exception.code, "internal")
        with self.assertRaises(PluginError) as raised:
            self.ask("anything", "nobody")
        self.assertEqual(raised.exception.code, "task.not_found")

    def test_it_can_have_the_task_do_its_work_on_behalf_of_the_call(self) -> None:
        for name, result in (("look", [5]), ("late", 5)):
            question = {"interceptor": name, "task": "greet", "session": 4, "options": "proceed"}
            call = self.daemon.start_call("plugin.intercept", question, progress=True)
            made = self.daemon.next(task="greet")
            self.assertEqual((made["options"], made["caller"], made["session"]), ("proceed", call, 4))
            self.daemon.send({"callbackId": made["callbackId"], "result": 5})
            if name == "look":
                self.assertEqual(self.daemon.next(callbackId=call, progress=...)["progress"], "on the way")
            self.assertEqual(self.daemon.result(call), {"result": result})

    def test_a_cancelled_question_ends_what_was_called_for_it(self) -> None:
        question = {"interceptor": "late", "task": "greet", "options": "proceed"}
        call = self.daemon.start_call("plugin.intercept", question)
        made = self.daemon.next(task="greet")
        self.daemon.send({"cancel": call})
        self.daemon.next(cancel=made["callbackId"])
        with self.assertRaises(PluginError) as raised:
            self.daemon.result(call)
        self.assertEqual(raised.exception.code, "call.cancelled")

    def test_tasks_that_come_from_the_configuration_are_told_at_the_start(self) -> None:
        self.assertEqual(self.daemon.call("plugin.configure", {"late": ["a", "b*"]}), {})
        started = self.daemon.call("plugin.start", {"stateDirectory": "/state"})
        self.assertEqual(started, {"interceptors": {"look": ["greet", "se*"], "late": ["a", "b*"]}})
