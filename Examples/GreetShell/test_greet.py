"""Tests of the worker, against the test's implementation of the daemon and with `trestle plugin check`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent.parent / "Clients/Python"))

from tests.fake_daemon import FakeDaemon, PluginError  # noqa: E402
from tests.support import daemon_folder  # noqa: E402

MANIFEST = FOLDER / "greet.plugin.toml"


@unittest.skipUnless(shutil.which("jq"), "jq is not installed")
class GreetTests(unittest.TestCase):
    def setUp(self) -> None:
        self.daemon = FakeDaemon.of_manifest(MANIFEST)
        self.addCleanup(self.daemon.close)
        self.assertIsNone(self.daemon.start())

    def test_it_greets(self) -> None:
        for who in ("World", "弹😀", 'a "quote" \\ and\na line', "%s $HOME `id`"):
            self.assertEqual(self.daemon.call("greet", {"who": who}), f"Hello, {who}")
        self.assertEqual(self.daemon.call("greet", {"who": "x" * 20_000}), "Hello, " + "x" * 20_000)

    def test_ids_are_whole_up_to_the_largest(self) -> None:
        self.daemon.send({"task": "greet", "options": {"who": "World"}, "callbackId": 2**53 - 1})
        self.assertEqual(self.daemon.read(), {"callbackId": 2**53 - 1, "result": "Hello, World"})

    def test_a_cancel_is_passed_over_and_an_unknown_task_answered(self) -> None:
        self.daemon.send({"cancel": 7})
        with self.assertRaises(PluginError) as raised:
            self.daemon.call("nope")
        self.assertEqual(raised.exception.code, "task.not_found")
        self.assertEqual(self.daemon.call("greet", {"who": "you"}), "Hello, you")

    def test_whatever_comes_is_answered(self) -> None:
        # Without a daemon the options are not checked; a call must be answered all the same.
        self.assertEqual(self.daemon.call("greet", {"who": 5}), "Hello, 5")
        self.assertEqual(self.daemon.call("greet", {}), "Hello, null")

    def test_it_ends_when_the_socket_is_closed(self) -> None:
        self.assertEqual(self.daemon.stop(), 0)

    def test_it_does_all_that_a_plugin_must_do(self) -> None:
        programs = daemon_folder()
        if programs is None:
            self.skipTest("there is no trestled: build it, or name its folder in TRESTLE_BIN")
        check = [programs / "trestle", "plugin", "check", MANIFEST, "--call", 'greet={"who": "World"}']
        done = subprocess.run(check, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
