"""Plugins without a daemon: valid and refused declarations."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import unittest
from typing import Any, Callable, cast

from trestle_bridge import BridgeError, Decision, Plugin, PluginCall

from .support import PACKAGE_FOLDER, TEST_TIMEOUT

SAMPLE = PACKAGE_FOLDER / "tests/sample_plugin.py"


class AloneTests(unittest.TestCase):
    def test_started_by_hand_it_says_what_it_is(self) -> None:
        end = subprocess.run(
            [sys.executable, str(SAMPLE)], cwd=PACKAGE_FOLDER, env={"PYTHONPATH": str(PACKAGE_FOLDER)},
            capture_output=True, text=True, timeout=TEST_TIMEOUT,
        )
        self.assertEqual((end.returncode, end.stdout), (1, ""))
        self.assertRegex(end.stderr, r"is a plugin, and no daemon has started it .*NAME\.plugin\.toml")

    def test_a_plugin_in_a_test_is_called_like_any_function(self) -> None:
        plugin = Plugin()

        @plugin.task("double")
        def double(options: int, call: PluginCall) -> int:
            return options * 2

        self.assertEqual(double(2, cast(PluginCall, None)), 4)

    def test_what_needs_a_daemon_says_so(self) -> None:
        plugin = Plugin()
        for use in (lambda: plugin.call("Echo"), lambda: plugin.publish("x"), lambda: plugin.metric("x", 1)):
            with self.assertRaises(BridgeError) as raised:
                use()
            self.assertEqual((raised.exception.code, raised.exception.started), ("session.closed", False))
        with self.assertRaisesRegex(RuntimeError, "on_start"):
            plugin.state_directory
        with contextlib.redirect_stderr(io.StringIO()) as printed:
            plugin.log.notice("alone")
        self.assertEqual(printed.getvalue(), "alone\n")

    def test_an_event_goes_directly_only_to_sessions_that_are_named(self) -> None:
        with self.assertRaisesRegex(ValueError, "to names"):
            Plugin().publish("x", direct=True)

    def test_two_functions_for_one_name_are_a_mistake(self) -> None:
        plugin = Plugin()
        plugin.task("a")(lambda options, call: 1)
        with self.assertRaisesRegex(ValueError, "two functions for a"):
            plugin.task("a")(lambda options, call: 2)
        with self.assertRaisesRegex(ValueError, "the daemon's"):
            plugin.task("plugin.mine")(lambda options, call: 2)
        plugin.interceptor("a", tasks=[])(lambda asked: Decision.PASS)
        with self.assertRaisesRegex(ValueError, "two interceptors a"):
            plugin.interceptor("a", tasks=[])(lambda asked: Decision.PASS)
        for declare in (plugin.on_start, plugin.on_stop, plugin.on_clean, plugin.launch_worker("w")):
            declare(lambda: None)
            with self.assertRaisesRegex(ValueError, "there are two"):
                declare(lambda: None)

    def test_a_function_that_cannot_be_called_so_is_a_mistake(self) -> None:
        plugin = Plugin()
        wrong: list[tuple[Callable[[Any], Any], Callable[..., Any]]] = [
            (plugin.task("a"), lambda options: 1), (plugin.on_start, lambda options, call: 1),
            (plugin.configuration(), lambda section, call: 1), (plugin.on_session, lambda change: 1),
            (plugin.interceptor("i", tasks=[]), lambda options, call: 1), (plugin.save_sessions, lambda: {}),
        ]
        for declare, function in wrong:
            with self.assertRaisesRegex(TypeError, "must take"):
                declare(function)

        async def later(*arguments: Any) -> None:
            pass

        with self.assertRaisesRegex(TypeError, "cannot be async"):
            plugin.on_session(later)
        with self.assertRaisesRegex(TypeError, "cannot be async"):
            plugin.configuration(check=later)  # type: ignore[arg-type]
        with self.assertRaisesRegex(ValueError, "a timeout is"):
            plugin.task("b", timeout=0)
