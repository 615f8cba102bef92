"""Tests that the README's code runs, that the types are right, and that modules import only those below them."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

from .support import PACKAGE_FOLDER, TEST_TIMEOUT, DaemonTestCase


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs Python in the package's folder."""
    return subprocess.run(
        [sys.executable, *arguments], cwd=PACKAGE_FOLDER, env={**os.environ, **environment},
        capture_output=True, text=True, timeout=TEST_TIMEOUT,
    )


class ReadmeTests(DaemonTestCase):
    def test_every_block_of_code_runs_as_it_stands(self) -> None:
        readme = (PACKAGE_FOLDER / "README.md").read_text("utf-8")
        blocks = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
        self.assertEqual(len([line for line in blocks[0].splitlines() if line]), 4)
        with ThreadPoolExecutor(4) as pool:
            socket = self.daemon.path
            codes = (("-W", "error", "-c", block) for block in blocks)
            ends = list(pool.map(lambda code: run(*code, TRESTLE_SOCKET=socket), codes))
        for block, end in zip(blocks, ends):
            with self.subTest(block.splitlines()[:4]):
                self.assertEqual((end.returncode, end.stderr), (0, ""), block)
                self.assertNotEqual(end.stdout, "")
        self.assertIn("{'hello': 'world'}", ends[0].stdout)


class TypingTests(unittest.TestCase):
    @unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
    def test_the_package_its_tests_and_a_program_are_strictly_typed(self) -> None:
        end = run("-m", "mypy", "--strict", "--cache-dir", os.devnull, "trestle_bridge", "tests")
        self.assertEqual(end.returncode, 0, end.stdout + end.stderr)


class LayeringTests(unittest.TestCase):
    """The order in which modules may import each other."""

    ORDER = [
        "errors", "wire", "jsontext", "framing", "output", "pipes", "timers", "backoff", "location", "settings",
        "connecting", "messages", "waiting", "description", "incoming", "backlog", "call", "calls", "providing",
        "events", "requests", "attempts", "state", "core", "driver", "retry", "stream_values", "streaming",
        "pipe_reading", "pipe_writing", "stream_reading", "stream_writing", "outgoing", "stream_places",
    ]

    def test_modules_of_the_core_import_only_those_below_them(self) -> None:
        folder = PACKAGE_FOLDER / "trestle_bridge/_core"
        self.assertEqual({path.stem for path in folder.glob("*.py")} - {"__init__"}, set(self.ORDER))
        for place, name in enumerate(self.ORDER):
            text = (folder / f"{name}.py").read_text("utf-8")
            imported = set(re.findall(r"^from \.(\w+) import", text, re.MULTILINE))
            for names in re.findall(r"^from \. import (.+)$", text, re.MULTILINE):
                imported.update(names.split(", "))
            self.assertLessEqual(imported, set(self.ORDER[:place]), name)

    def test_modules_of_plugins_import_only_those_below_them(self) -> None:
        order = [
            "wire", "launch", "log", "own_calls", "sending", "streams", "own_streams", "calls", "aio_calls",
            "interceptors", "declarations", "running", "connection", "declaring", "plugin",
        ]
        folder = PACKAGE_FOLDER / "trestle_bridge/_plugin"
        self.assertEqual({path.stem for path in folder.glob("*.py")} - {"__init__"}, set(order))
        for place, name in enumerate(order):
            text = (folder / f"{name}.py").read_text("utf-8")
            self.assertLessEqual(set(re.findall(r"^from \.(\w+) import", text, re.MULTILINE)), set(order[:place]), name)
            self.assertNotIn("from .._sync", text)

    def test_names_that_go_over_the_wire_stand_in_one_module(self) -> None:
        package = PACKAGE_FOLDER / "trestle_bridge"
        wire = [package / "_core/wire.py", package / "_plugin/wire.py"]
        texts = [path.read_text("utf-8") for path in wire]
        names = [name for text in texts for name in re.findall(r'^[A-Z_]+ = "(.+)"$', text, re.MULTILINE)]
        # The other names are also ordinary words.
        names = [name for name in names if re.search(r"[.A-Z-]", name) or name in ("open", "direct", "reloadable")]
        self.assertGreater(len(names), 30)
        for path in set(package.rglob("*.py")) - set(wire):
            text = re.sub(r'""".*?"""|#.*', "", path.read_text("utf-8"), flags=re.DOTALL)
            used = [name for name in names if f'"{name}"' in text]
            self.assertEqual(used, [], path.name)

    def test_the_faces_do_not_import_each_other(self) -> None:
        for face, other in (("_sync", "aio"), ("aio", "_sync")):
            for path in (PACKAGE_FOLDER / "trestle_bridge" / face).glob("*.py"):
                self.assertNotIn(f"from ..{other}", path.read_text("utf-8"), path.name)
