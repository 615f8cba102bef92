"""Tasks that the synchronous interface provides, with a real daemon."""

from __future__ import annotations

import os
import threading
from typing import Any

import trestle_bridge
from trestle_bridge import BridgeError, IncomingCall

from .support import TEST_TIMEOUT
from .sync_support import SyncTestCase


class ProvidingTests(SyncTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.other = self.connect()

    def test_a_handler_gets_options_and_caller_and_its_result_comes_back(self) -> None:
        def handler(options: Any, call: IncomingCall) -> Any:
            caller = call.caller
            return [options, call.task, caller.session, caller.uid, call.time_remaining, call.wants_progress]

        self.bridge.register("who", handler)
        answer = self.other.call("who", {"a": 1}, timeout=300.0)
        self.assertEqual(answer[:4], [{"a": 1}, "who", self.other.session, os.geteuid()])
        self.assertLessEqual(answer[4], 300.0)
        self.assertIs(answer[5], False)

    def test_exceptions_of_handlers_become_errors(self) -> None:
        def handler(options: Any, call: IncomingCall) -> Any:
            if options == "own":
                raise BridgeError("scan.blurred", "Blurred.", {"n": 1}, transient=True, retry_after=0.25)
            if options == "exit":
                raise SystemExit(3)
            return {"x": float("nan")} if options == "nan" else [][1]

        self.bridge.register("fail", handler)
        errors = {}
        for options in ("own", "exit", "nan", "bug"):
            with self.assertRaises(BridgeError) as raised:
                self.other.call("fail", options)
            errors[options] = raised.exception
        own = errors.pop("own")
        self.assertEqual((own.code, own.message, own.data), ("scan.blurred", "Blurred.", {"n": 1}))
        self.assertEqual((own.transient, own.retry_after), (True, 0.25))
        self.assertEqual({error.code for error in errors.values()}, {"internal"})
        self.assertIn("list index out of range", errors["bug"].message)

    def test_names_that_are_taken_are_refused_and_an_earlier_handler_stays(self) -> None:
        with self.assertRaises(BridgeError) as raised:
            self.bridge.register("Echo", lambda options, call: 1)
        self.assertEqual(raised.exception.code, "task.exists")
        with self.assertRaises(ValueError):
            self.bridge.register("x", lambda options, call: 1, scope="world")  # type: ignore[arg-type]

    def test_a_task_that_is_unregistered_is_not_found(self) -> None:
        with self.bridge.register("short", lambda options, call: 1):
            self.assertEqual(self.other.call("short"), 1)
        with self.assertRaises(BridgeError) as raised:
            self.other.call("short")
        self.assertEqual(raised.exception.code, "task.not_found")

    def test_a_task_of_session_scope_is_called_by_those_who_name_the_session(self) -> None:
        self.bridge.register("own", lambda options, call: "mine", scope="session")
        with self.assertRaises(BridgeError):
            self.other.call("own")
        self.assertEqual(self.other.call("own", session=self.bridge.session), "mine")

    def test_the_daemon_checks_options_by_the_description_of_a_task(self) -> None:
        description = trestle_bridge.TaskDescription("Scans a code.", options={"type": "object", "required": ["kind"]})
        self.bridge.register("described", lambda options, call: options["kind"], description=description)
        self.assertEqual(self.other.call("described", {"kind": "ean"}), "ean")
        with self.assertRaises(BridgeError) as raised:
            self.other.call("described", {})
        self.assertEqual(raised.exception.code, "options.invalid")
        self.assertEqual(self.other.call("bridge.describe", {"task": "described"})["summary"], "Scans a code.")

    def test_a_registration_that_was_replaced_may_be_closed(self) -> None:
        first = self.bridge.register("again", lambda options, call: 1)
        second = self.bridge.register("again", lambda options, call: 2)
        first.close()
        self.assertEqual(self.other.call("again"), 2)
        second.close()
        second.close()
        with self.assertRaises(BridgeError):
            self.other.call("again")

    def test_a_handler_learns_whether_its_progress_was_taken(self) -> None:
        taken: dict[bool, bool] = {}

        def handler(options: Any, call: IncomingCall) -> None:
            taken[call.wants_progress] = call.report_progress(1)

        self.bridge.register("asks", handler)
        self.other.call("asks")
        self.other.call("asks", on_progress=lambda value: None)
        self.assertEqual(taken, {False: False, True: True})

    def test_a_handler_may_call_through_its_own_bridge(self) -> None:
        self.bridge.register("outer", lambda options, call: self.bridge.call("Echo", options))
        self.assertEqual(self.other.call("outer", 5, timeout=TEST_TIMEOUT), 5)

    def test_a_call_that_is_cancelled_before_its_turn_is_never_begun(self) -> None:
        single = self.connect(handler_threads=1)
        begun, release, seen = threading.Event(), threading.Event(), []

        def handler(options: Any, call: IncomingCall) -> None:
            seen.append(options)
            begun.set()
            release.wait(TEST_TIMEOUT)

        single.register("queue", handler)
        first = self.other.submit("queue", 1)
        self.assertTrue(begun.wait(TEST_TIMEOUT))
        second = self.other.submit("queue", 2)
        second.cancel()
        with self.assertRaises(BridgeError):
            second.result(TEST_TIMEOUT)
        # Its callback follows the cancel on the provider's connection: when it arrives, so has the cancel.
        single.call("Echo")
        third = self.other.submit("queue", 3)
        release.set()
        first.result(TEST_TIMEOUT)
        third.result(TEST_TIMEOUT)
        self.assertEqual(seen, [1, 3])
