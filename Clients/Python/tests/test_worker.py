"""Workers, against a daemon's side that the tests speak."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from trestle_bridge import BridgeError, connect
from trestle_bridge.worker import Worker

from .support import PACKAGE_FOLDER, Daemon

if sys.version_info < (3, 11):
    raise unittest.SkipTest("manifests are read with tomllib, which came with Python 3.11")

from .fake_daemon import FakeDaemon, WorkerEnded, WorkerError

SAMPLE = PACKAGE_FOLDER / "tests/sample_worker.py"


class SampleTestCase(unittest.TestCase):
    """Tests with a sample worker each."""

    def setUp(self) -> None:
        self.daemon = FakeDaemon(
            [sys.executable, "-W", "error", str(SAMPLE)], PACKAGE_FOLDER,
            environment={"PYTHONPATH": str(PACKAGE_FOLDER)},
        )
        self.addCleanup(self.daemon.close)
        self.said = self.daemon.start({"a": 1}, "/state")

    def fails(self, task: str, options: Any = None) -> dict[str, Any]:
        with self.assertRaises(WorkerError) as raised:
            self.daemon.call(task, options)
        return raised.exception.error


class HelloTests(SampleTestCase):
    def test_it_says_what_was_declared_and_nothing_else(self) -> None:
        tasks = {task.pop("name"): task for task in self.said["tasks"]}
        self.assertEqual(tasks["greet"], {
            "summary": "Greets somebody by name.", "permission": "greeting", "timeout": 2500, "concurrency": 3,
            "private": True, "public": True, "optionPermissions": {"space": "store"},
            "options": {"type": "object", "required": ["who"]}, "result": {"type": "string"},
        })
        self.assertEqual(tasks["who"], {"summary": "Tells who calls.", "concurrency": 16})
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
        self.assertEqual(self.daemon.call("plugin.launch", {"worker": "warm"}), {})
        self.assertEqual(self.fails("plugin.configure", {"bad": 1})["data"], {"path": "bad"})
        self.assertEqual(
            self.daemon.call("plugin.reconfigure", {"b": 2}), {"interceptors": {"look": ["greet", "se*"], "late": []}})
        self.assertEqual(
            self.daemon.call("seen")["configuration"], {"a": 1, "state": "/state", "launched": "warm", "b": 2})

    def test_what_it_does_not_know_it_says(self) -> None:
        for task in ("plugin.check", "plugin.describe", "plugin.save_sessions", "nope"):
            self.assertEqual(self.fails(task)["code"], "task.not_found")

    def test_sessions_are_told_in_their_order(self) -> None:
        for change in ("opened", "closed"):
            self.daemon.send({"event": "plugin.session", "data": {"change": change, "caller": {}}})
        for change in ("opened", "closed"):
            said = self.daemon.next(task="plugin.log")["options"]
            self.assertEqual(said, {"level": "notice", "message": f"session {change}"})


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
            "code": "sample.failed", "message": "It failed.", "data": {"why": "asked for"}, "transient": True,
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
        self.assertEqual(self.daemon.result(call), 3)
        call = self.daemon.start_call("steps", 3)
        self.assertEqual(self.daemon.next(callbackId=call)["result"], 3)

    def test_a_cancelled_call_ends_and_a_ping_is_answered_meanwhile(self) -> None:
        call = self.daemon.start_call("wait", progress=True)
        self.assertEqual(self.daemon.next(callbackId=call)["progress"], "waiting")
        self.assertEqual(self.daemon.call("plugin.ping"), {})
        self.daemon.send({"cancel": call})
        with self.assertRaises(WorkerError) as raised:
            self.daemon.result(call)
        self.assertEqual(raised.exception.code, "call.cancelled")
        log = self.daemon.next(task="plugin.log")
        self.assertEqual(log["options"], {"level": "info", "message": "nobody waits", "call": call})
        self.assertNotIn("callbackId", log)

    def test_more_than_256_calls_are_refused(self) -> None:
        calls = [self.daemon.start_call("wait", progress=True) for _ in range(256)]
        for call in calls:
            self.daemon.next(callbackId=call, progress="waiting")
        self.assertEqual(self.fails("greet", {"who": "X"})["code"], "busy")
        self.assertEqual(self.daemon.call("plugin.ping"), {})
        self.daemon.call("plugin.reconfigure", {})
        self.daemon.send({"cancel": calls[0]})
        self.daemon.next(callbackId=calls[0], error=...)
        self.assertEqual(self.daemon.call("greet", {"who": "X"}), "Hello, X")


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
                with self.assertRaises(WorkerError) as raised:
                    daemon.result(call)
                codes.add(raised.exception.code)
        self.assertEqual(codes, {"busy", "call.cancelled"})
        self.assertEqual(daemon.call("greet", {"who": "World"}), "Hello, World")


class OwnCallTests(SampleTestCase):
    def test_calls_are_made_on_behalf_of_a_call_or_of_none(self) -> None:
        call = self.daemon.start_call("both", {"x": 1})
        other = self.daemon.next(task="other")
        self.assertEqual((other["caller"], other["options"], other["timeout"]), (call, {"x": 1}, 1500))
        self.daemon.send({"callbackId": other["callbackId"], "result": "first"})
        other = self.daemon.next(task="other")
        self.assertEqual((other["session"], "caller" in other, "options" in other), (9, False, False))
        self.daemon.send({"callbackId": other["callbackId"], "error": {"code": "c", "message": "m"}})
        with self.assertRaises(WorkerError) as raised:
            self.daemon.result(call)
        self.assertEqual(raised.exception.error, {"code": "c", "message": "m"})

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
        with self.assertRaises(WorkerError) as raised:
            self.daemon.result(call)
        self.assertEqual(raised.exception.code, "call.cancelled")

    def test_events_lines_and_figures_are_sent_without_an_id(self) -> None:
        self.assertIsNone(self.daemon.call("tell"))
        messages = self.daemon._seen
        self.assertEqual([message["task"] for message in messages], [
            "plugin.publish", "plugin.log", "plugin.metrics", "plugin.log",
        ])
        self.assertFalse(any("callbackId" in message for message in messages))
        options = [message["options"] for message in messages]
        self.assertEqual(options[0], {"event": "sample.done", "data": 1})
        self.assertEqual(options[1], {"level": "warning", "message": "a line\\udcff"})
        self.assertEqual(options[2], {
            "metrics": [{"name": "things", "kind": "counter", "help": "Things.", "value": 4}],
        })
        self.assertEqual(options[3]["message"], "message.too_large")
        self.daemon.log_until("printed")

    def test_to_a_daemon_that_does_not_read_only_so_much_is_said(self) -> None:
        call = self.daemon.start_call("flood")
        # Nobody reads the socket meanwhile.
        self.daemon.log_until("full")
        self.assertEqual(self.daemon.result(call), 1)
        sizes = sum(len(message["options"]["data"]) for message in self.daemon._seen)
        self.assertLess(sizes, 6 << 20)


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
        refused = {"error": {"code": "plugin.unavailable", "message": "Meant so.", "transient": True}}
        self.assertEqual(self.ask("refuse"), refused)
        self.assertEqual(self.ask("refuse", "late"), {"error": {"code": "late.refused", "message": "No."}})
        for what in ("fail", "nothing"):
            with self.assertRaises(WorkerError) as raised:
                self.ask(what)
            self.assertEqual(raised.exception.code, "internal")
        with self.assertRaises(WorkerError) as raised:
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
        with self.assertRaises(WorkerError) as raised:
            self.daemon.result(call)
        self.assertEqual(raised.exception.code, "call.cancelled")

    def test_tasks_that_come_from_the_configuration_are_told_at_the_start(self) -> None:
        self.assertEqual(self.daemon.call("plugin.configure", {"late": ["a", "b*"]}), {})
        started = self.daemon.call("plugin.start", {"stateDirectory": "/state"})
        self.assertEqual(started, {"interceptors": {"look": ["greet", "se*"], "late": ["a", "b*"]}})


class RealDaemonTests(unittest.TestCase):
    PROGRAM = """
from trestle_bridge import BridgeError, worker

@worker.task("greet")
def greet(options, call):
    return f"Hello, {options['who']}"

@worker.interceptor("greet.polite", tasks=lambda: ["greet"])
def polite(call):
    who = call.options["who"]
    if who == "nobody":
        raise BridgeError("greet.nobody", "There is nobody.")
    if who == "twice":
        return worker.answer([call.proceed(), call.proceed()])
    return worker.rewrite({"who": who.title()})

worker.run()
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
        with self.assertRaises(WorkerEnded):
            self.daemon.call("plugin.stop")
            self.daemon.read()


class ReadmeTests(unittest.TestCase):
    def test_the_worker_of_the_page_works(self) -> None:
        page = (PACKAGE_FOLDER / "README.md").read_text("utf-8").partition("\n## Workers\n")[2]
        code = page.partition("```py\n")[2].partition("```")[0]
        environment = {"PYTHONPATH": str(PACKAGE_FOLDER)}
        daemon = FakeDaemon([sys.executable, "-c", code], PACKAGE_FOLDER, environment=environment)
        self.addCleanup(daemon.close)
        self.assertEqual([task["name"] for task in daemon.start()["tasks"]], ["greet"])
        self.assertEqual(daemon.call("greet", {"who": "World"}), "Hello, World")
        self.assertEqual(daemon.stop(), 0)


class AloneTests(unittest.TestCase):
    def test_started_by_hand_it_says_what_it_is(self) -> None:
        end = subprocess.run(
            [sys.executable, str(SAMPLE)], cwd=PACKAGE_FOLDER, env={"PYTHONPATH": str(PACKAGE_FOLDER)},
            capture_output=True, text=True, timeout=60,
        )
        self.assertEqual((end.returncode, end.stdout), (1, ""))
        self.assertRegex(end.stderr, r"is a worker, and no daemon has started it .*NAME\.plugin\.toml")

    def test_two_functions_for_one_name_are_a_mistake(self) -> None:
        worker = Worker()
        worker.task("a")(lambda options, call: 1)
        with self.assertRaisesRegex(ValueError, "two functions for a"):
            worker.task("a")(lambda options, call: 2)
        with self.assertRaisesRegex(ValueError, "the daemon's"):
            worker.task("plugin.mine")(lambda options, call: 2)
        worker.interceptor("a", tasks=[])(lambda call: 1)
        with self.assertRaisesRegex(ValueError, "two interceptors a"):
            worker.interceptor("a", tasks=[])(lambda call: 2)
