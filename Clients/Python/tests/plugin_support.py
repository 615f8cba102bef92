"""Common helpers for the tests of plugins: a sample plugin, and the daemon's side, which the tests play."""

from __future__ import annotations

import importlib.util
import sys
import unittest
from typing import Any

from .support import PACKAGE_FOLDER

if importlib.util.find_spec("tomllib") is None:
    raise unittest.SkipTest("manifests are read with tomllib, which came with Python 3.11")

from .fake_daemon import FakeDaemon, PluginError

SAMPLE = PACKAGE_FOLDER / "tests/sample_plugin.py"


class SampleTestCase(unittest.TestCase):
    """Tests that each have a sample plugin."""

    def setUp(self) -> None:
        self.daemon = FakeDaemon(
            [sys.executable, "-W", "error", str(SAMPLE)], PACKAGE_FOLDER,
            environment={"PYTHONPATH": str(PACKAGE_FOLDER)},
        )
        self.addCleanup(self.daemon.close)
        self.said = self.daemon.start({"a": 1}, "/state")

    def fails(self, task: str, options: Any = None) -> dict[str, Any]:
        with self.assertRaises(PluginError) as raised:
            self.daemon.call(task, options)
        return raised.exception.error
