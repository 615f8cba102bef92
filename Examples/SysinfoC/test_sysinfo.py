"""Tests of the plugin in a daemon from the folder TRESTLE_BIN, or from a build."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent.parent / "Clients/Python"))

import trestle_bridge  # noqa: E402
from tests.support import Daemon  # noqa: E402


class SysinfoTests(unittest.TestCase):
    bridge: trestle_bridge.Bridge

    @classmethod
    def setUpClass(cls) -> None:
        plugins = tempfile.TemporaryDirectory(prefix="trestle-sysinfo-")
        cls.addClassCleanup(plugins.cleanup)
        subprocess.run(["make", "--silent", "-C", FOLDER, f"OUT={plugins.name}"], check=True)
        daemon = Daemon(Path(plugins.name))
        cls.addClassCleanup(daemon.close)
        cls.bridge = trestle_bridge.connect(daemon.path)
        cls.addClassCleanup(cls.bridge.close)

    def fails(self, task: str, options: Any) -> str:
        with self.assertRaises(trestle_bridge.BridgeError) as raised:
            self.bridge.call(task, options)
        return raised.exception.code

    def test_memory_is_what_the_kernel_says(self) -> None:
        memory = self.bridge.call("sysinfo.memory")
        kernel = dict(line.split()[:2] for line in Path("/proc/meminfo").read_text("ascii").splitlines())
        self.assertEqual(memory["totalBytes"], int(kernel["MemTotal:"]) * 1024)
        self.assertEqual(memory["swapTotalBytes"], int(kernel["SwapTotal:"]) * 1024)
        self.assertTrue(0 < memory["availableBytes"] <= memory["totalBytes"])

    def test_load_and_uptime(self) -> None:
        load = self.bridge.call("sysinfo.load")
        self.assertEqual(load["processors"], os.cpu_count())
        self.assertTrue(all(load[name] >= 0 for name in ("one", "five", "fifteen")))
        before = float(Path("/proc/uptime").read_text("ascii").split()[0])
        self.assertGreaterEqual(self.bridge.call("sysinfo.uptime")["seconds"] + 1, before)

    def test_disk(self) -> None:
        found = os.statvfs("/")
        self.assertEqual(self.bridge.call("sysinfo.disk", {"path": "/"})["totalBytes"], found.f_blocks * found.f_frsize)
        pending = [self.bridge.submit("sysinfo.disk", {"path": "/proc"}) for _ in range(200)]
        self.assertEqual({call.result()["totalBytes"] for call in pending}, {0})

    def test_paths_of_every_kind(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            # Characters of two, three and four bytes in UTF-8, and all characters that JSON escapes.
            strange = Path(folder) / 'weiß 弹 😀 "\\ \b\f\n\r\t \x01'
            strange.mkdir()
            self.assertIn("totalBytes", self.bridge.call("sysinfo.disk", {"path": str(strange)}))
            self.assertEqual(self.fails("sysinfo.disk", {"path": f"{strange}x"}), "sysinfo.not_found")

    def test_what_is_no_path_is_refused(self) -> None:
        for path in ("", "tmp", "/tmp\0/x", "/" + "x" * 4096, 1, None):
            self.assertEqual(self.fails("sysinfo.disk", {"path": path}), "options.invalid", path)
        self.assertEqual(self.fails("sysinfo.disk", {"path": "/" + "x" * 4000}), "sysinfo.unavailable")
        self.assertEqual(self.fails("sysinfo.memory", {"a": 1}), "options.invalid")


if __name__ == "__main__":
    unittest.main()
