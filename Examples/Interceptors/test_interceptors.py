"""Executes the README.md, with the daemon and the command line of the folder TRESTLE_BIN, or of a build."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
REPOSITORY = FOLDER.parent.parent
# The build of all examples' packages: their common dependencies are built once.
BUILD = REPOSITORY / ".build/examples"
sys.path.insert(0, str(REPOSITORY / "Clients/Python"))

import trestle_bridge  # noqa: E402
from tests.support import TEST_TIMEOUT, daemon_folder  # noqa: E402

PAGE = (FOLDER / "README.md").read_text("utf-8")


def block(language: str) -> str:
    """Returns the page's code block in a language."""
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None, language
    return found[1]


class PageTests(unittest.TestCase):
    binaries: Path
    socket_path: str
    configuration: Path
    bridge: trestle_bridge.Bridge

    @classmethod
    def setUpClass(cls) -> None:
        binaries = daemon_folder()
        if binaries is None:
            raise unittest.SkipTest("there is no trestled: build it, or name its folder in TRESTLE_BIN")
        arguments = ["--package-path", FOLDER, "--scratch-path", BUILD]
        subprocess.run(["swift", "build", *arguments], check=True, stdout=subprocess.DEVNULL)
        temporary = tempfile.TemporaryDirectory(prefix="trestle-interceptors-")
        cls.addClassCleanup(temporary.cleanup)
        folder = Path(temporary.name)
        plugins = folder / "plugins"
        plugins.mkdir()
        for name in ("Cache", "Filter", "HTTPMock", "HTTPRedirect", "Mock", "Redirect"):
            shutil.copy(BUILD / f"debug/lib{name}Plugin.so", plugins)
        (folder / "answers.json").write_text(block("json"), "utf-8")
        (folder / "responses.json").write_text(block("text"), "utf-8")
        toml = block("toml").replace("/tmp/interceptors", temporary.name)
        (folder / "trestled.toml").write_text(toml, "utf-8")
        cls.binaries, cls.socket_path, cls.configuration = binaries, f"{folder}/s", folder / "trestled.toml"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify, open(folder / "log", "wb") as log:
            notify.bind(f"{folder}/notify")
            notify.settimeout(TEST_TIMEOUT)
            daemon = subprocess.Popen(
                [
                    binaries / "trestled", "--config", folder / "trestled.toml", "--socket", cls.socket_path,
                    "--state-dir", folder / "state", "--plugin-dir", binaries, "--plugin-dir", plugins,
                ],
                env={"NOTIFY_SOCKET": f"{folder}/notify"}, stdin=subprocess.DEVNULL, stderr=log,
            )
            cls.addClassCleanup(daemon.wait, TEST_TIMEOUT)
            cls.addClassCleanup(daemon.terminate)
            while b"READY=1" not in notify.recv(4096):
                pass
        cls.bridge = trestle_bridge.connect(cls.socket_path)
        cls.addClassCleanup(cls.bridge.close)

    def fails(self, task: str, options: Any) -> tuple[str, str]:
        with self.assertRaises(trestle_bridge.BridgeError) as raised:
            self.bridge.call(task, options)
        return raised.exception.code, raised.exception.message

    def test_the_commands_of_the_page_answer_what_it_says(self) -> None:
        commands = re.findall(r"^trestle --socket \S+ (.*?) +# (.*)$", block("sh"), re.MULTILINE)
        self.assertEqual(len(commands), 6)
        for command, expected in commands:
            ran = subprocess.run(
                [self.binaries / "trestle", "--socket", self.socket_path, *command.split()],
                capture_output=True, text=True, timeout=TEST_TIMEOUT,
            )
            self.assertEqual((ran.returncode, ran.stderr), (0, ""), command)
            if command.startswith("call http.fetch"):
                self.assertEqual(json.loads(ran.stdout)["body"]["text"], "mocked")
            elif command.startswith("call"):
                self.assertEqual(json.loads(ran.stdout), json.loads(expected.partition(", and again")[0]), command)

    def test_a_request_for_one_site_is_answered_for_the_other(self) -> None:
        result = self.bridge.call("http.fetch", {"url": "https://old.example/hello"})
        self.assertEqual(result["url"], "https://new.example/hello")
        self.assertEqual(result["redirects"], [{"status": 307, "url": "https://old.example/hello"}])
        self.assertEqual((result["from"], result["body"]["text"]), ("httpmock", "mocked"))
        options = {"url": "https://old.example/hello", "method": "POST", "body": {"text": "a"}}
        self.assertEqual(self.bridge.call("http.fetch", options)["status"], 404)

    def test_all_are_there_each_for_its_tasks(self) -> None:
        reports = self.bridge.call("bridge.status")["interceptors"]
        self.assertEqual({report["name"]: report["tasks"] for report in reports}, {
            "cache.results": ["persistence.query"], "filter.rules": ["persistence.*", "Echo"],
            "httpmock.responses": ["http.load"], "httpredirect.sites": ["http.load"], "mock.answers": ["Echo"],
            "redirect.routes": ["counter.count"],
        })
        asked = self.bridge.call("bridge.describe", {"task": "Echo"})["interceptors"]
        self.assertEqual([one["name"] for one in asked], ["mock.answers", "filter.rules"])

    def test_a_reload_changes_what_they_are_for(self) -> None:
        before = self.configuration.read_text("utf-8")
        self.addCleanup(self.bridge.call, "bridge.reload")
        self.addCleanup(self.configuration.write_text, before, "utf-8")
        self.configuration.write_text(before.replace('"counter.count"', '"cache.forget"'), "utf-8")
        applied = self.bridge.call("bridge.reload")["applied"]
        self.assertEqual(applied, ["plugins.redirect.tasks"])
        reports = self.bridge.call("bridge.status")["interceptors"]
        self.assertEqual([one["tasks"] for one in reports if one["plugin"] == "redirect"], [["cache.forget"]])
        self.assertIsInstance(self.bridge.call("cache.forget", 0), int)

    def test_what_the_mock_and_the_filter_refuse(self) -> None:
        self.assertEqual(self.fails("Echo", {"say": "bad"}), ("echo.rude", "One does not say that."))
        self.assertEqual(self.fails("Echo", "x" * 100)[0], "filter.refused")
        self.assertEqual(self.bridge.call("Echo", "x" * 98), "x" * 98)
        with trestle_bridge.connect(self.socket_path, origin="https://example.org") as page:
            with self.assertRaises(trestle_bridge.BridgeError) as raised:
                page.call("persistence.query", {"table": "notes"})
        self.assertEqual(raised.exception.message, "This page may not look at records.")

    def test_the_cache_gives_the_same_until_it_forgets(self) -> None:
        self.bridge.call("cache.forget")
        before = self.bridge.call("persistence.query", {"table": "notes"})
        self.bridge.call("persistence.create", {"table": "notes", "key": "a", "record": {"n": 1}})
        self.assertEqual(self.bridge.call("persistence.query", {"table": "notes"}), before)
        self.assertEqual(self.bridge.call("cache.forget"), {"forgotten": 1})
        self.assertNotEqual(self.bridge.call("persistence.query", {"table": "notes"}), before)


if __name__ == "__main__":
    unittest.main()
