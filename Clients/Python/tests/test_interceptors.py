"""Interceptors, against a daemon's side that the tests speak, and in a daemon."""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from trestle_bridge import BridgeError, connect

from .plugin_support import SampleTestCase  # first: it skips where there is no tomllib
from .fake_daemon import PluginError
from .support import PACKAGE_FOLDER, Daemon


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


class RealDaemonTests(unittest.TestCase):
    PROGRAM = """
from trestle_bridge import BridgeError, Decision, Plugin

plugin = Plugin()

@plugin.task("greet")
def greet(options, call):
    return f"Hello, {options['who']}"

@plugin.interceptor("greet.polite", tasks=lambda: ["greet"])
def polite(asked):
    who = asked.options["who"]
    if who == "nobody":
        raise BridgeError("greet.nobody", "there is nobody")
    if who == "twice":
        return Decision.answer([asked.proceed(), asked.proceed()])
    return Decision.rewrite({"who": who.title()})

plugin.run()
"""

    def test_an_interceptor_stands_before_a_task_in_a_daemon(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="trestle-python-")
        self.addCleanup(folder.cleanup)
        (Path(folder.name) / "greet.py").write_text(self.PROGRAM, "utf-8")
        manifest = f'command = ["{sys.executable}", "greet.py"]\nenvironment = {{ PYTHONPATH = "{PACKAGE_FOLDER}" }}\n'
        (Path(folder.name) / "greet.plugin.toml").write_text(manifest, "utf-8")
        daemon = Daemon(Path(folder.name))
        self.addCleanup(daemon.close)
        with connect(daemon.path) as bridge:
            self.assertEqual(bridge.call("greet", {"who": "ann"}), "Hello, Ann")
            self.assertEqual(bridge.call("greet", {"who": "twice"}), ["Hello, twice"] * 2)
            with self.assertRaises(BridgeError) as raised:
                bridge.call("greet", {"who": "nobody"})
            self.assertEqual(raised.exception.code, "greet.nobody")
            report = bridge.call("bridge.status")["interceptors"][0]
            self.assertEqual((report["asked"], report["tasks"]), (3, ["greet"]))
