"""Tests of the plugin in a daemon, from the folder TRESTLE_BIN or from a build, on a virtual screen."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, Callable

FOLDER = Path(__file__).resolve().parent
REPOSITORY = FOLDER.parent.parent
sys.path.insert(0, str(REPOSITORY / "Clients/Python"))

for program, package in (("Xvfb", "xvfb"), ("xclip", "xclip"), ("swift", "Swift")):
    if shutil.which(program) is None:
        raise unittest.SkipTest(f"there is no {program}: {package}")

import trestle_bridge  # noqa: E402
from tests.support import TEST_TIMEOUT, Daemon, daemon_folder  # noqa: E402

BUILD = REPOSITORY / ".build/examples"
"""The build folder of all examples in Swift, which share their dependencies."""


class Screen:
    """An X server of the test. It chooses a free display number."""

    def __init__(self) -> None:
        ours, theirs = os.pipe()
        # Without it, the server resets whenever its last client disconnects, and refuses connections meanwhile.
        flags = ["-noreset", "-screen", "0", "64x64x24", "-nolisten", "tcp"]
        self._process = subprocess.Popen(
            ["Xvfb", "-displayfd", str(theirs), *flags], pass_fds=[theirs],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        with open(ours, "rb") as output:
            self.name = f":{output.readline().decode().strip()}"

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(TEST_TIMEOUT)

    def copy(self, data: bytes, selection: str = "clipboard", target: str = "UTF8_STRING") -> subprocess.Popen[bytes]:
        """Copies like a user; returns the process that keeps the selection."""
        arguments = ["-quiet", "-in", "-selection", selection, "-target", target]
        owner = subprocess.Popen(
            ["xclip", *arguments], env=self._environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert owner.stdin is not None
        owner.stdin.write(data)
        owner.stdin.close()
        until(lambda: self.paste(selection, target) == data)
        return owner

    def paste(self, selection: str = "clipboard", target: str = "UTF8_STRING") -> bytes | None:
        """Returns what a user would paste; None if there is nothing."""
        done = subprocess.run(
            ["xclip", "-out", "-selection", selection, "-target", target], env=self._environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=TEST_TIMEOUT,
        )
        return done.stdout if done.returncode == 0 else None

    def start_pasting(self) -> subprocess.Popen[bytes]:
        """Starts a program that pastes."""
        return subprocess.Popen(
            ["xclip", "-out", "-selection", "clipboard", "-target", "UTF8_STRING"], env=self._environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, "DISPLAY": self.name}


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + TEST_TIMEOUT
    while not is_so():
        assert time.monotonic() < end, "it did not come to be"
        time.sleep(0.005)


def xclips(display: str) -> list[int]:
    """Returns the xclip processes that keep a selection of the display, and those that have ended and were not waited
    for."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "comm").read_text("utf-8").strip() != "xclip":
                continue
            arguments = (folder / "cmdline").read_bytes().split(b"\0")
            environment = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if environment == [b""] or (b"-in" in arguments and f"DISPLAY={display}".encode() in environment):
            found.append(int(folder.name))
    return found


class ClipboardTests(unittest.TestCase):
    plugins: Path

    @classmethod
    def setUpClass(cls) -> None:
        if daemon_folder() is None:
            raise unittest.SkipTest("there is no trestled: build it, or name its folder in TRESTLE_BIN")
        arguments = ["--package-path", FOLDER, "--scratch-path", BUILD, "--product", "ClipboardPlugin"]
        subprocess.run(["swift", "build", *arguments], check=True, stdout=subprocess.DEVNULL)
        folder = tempfile.TemporaryDirectory(prefix="trestle-clipboard-")
        cls.addClassCleanup(folder.cleanup)
        cls.plugins = Path(folder.name)
        shutil.copy(BUILD / "debug/libClipboardPlugin.so", cls.plugins)

    def setUp(self) -> None:
        self.screen = Screen()
        self.addCleanup(self.screen.close)
        self.daemon, self.bridge = self.start(f'display = "{self.screen.name}"')

    def start(self, section: str) -> tuple[Daemon, trestle_bridge.Bridge]:
        daemon = Daemon(self.plugins, f"[plugins.clipboard]\n{section}\n")
        self.addCleanup(daemon.close)
        bridge = trestle_bridge.connect(daemon.path)
        self.addCleanup(bridge.close)
        return daemon, bridge

    def copied(self, *arguments: Any) -> subprocess.Popen[bytes]:
        owner = self.screen.copy(*arguments)
        self.addCleanup(owner.wait, TEST_TIMEOUT)
        self.addCleanup(owner.kill)
        return owner

    def fails(self, task: str, options: Any = None) -> trestle_bridge.BridgeError:
        with self.assertRaises(trestle_bridge.BridgeError) as raised:
            self.bridge.call(task, options or {})
        return raised.exception

    def test_what_is_written_others_paste(self) -> None:
        for selection in ("clipboard", "primary"):
            text = f"{selection}: héllo 弹 🎛\n"
            self.assertEqual(self.bridge.call("clipboard.write", {"text": text, "selection": selection}), {})
            self.assertEqual(self.screen.paste(selection), text.encode())
        self.assertEqual(self.screen.paste("clipboard"), "clipboard: héllo 弹 🎛\n".encode())

    def test_what_others_copy_is_read(self) -> None:
        for selection in ("clipboard", "primary"):
            self.copied(f"{selection} é".encode(), selection)
        for selection in ("clipboard", "primary"):
            self.assertEqual(self.bridge.call("clipboard.read", {"selection": selection}), {"text": f"{selection} é"})

    def test_a_hundred_writes_at_once_end_with_the_last_and_one_process(self) -> None:
        calls = [self.bridge.submit("clipboard.write", {"text": str(number)}) for number in range(100)]
        for call in calls:
            call.result()
        self.assertEqual(self.screen.paste(), b"99")
        until(lambda: len(xclips(self.screen.name)) == 1)

    def test_a_long_text_goes_both_ways(self) -> None:
        text = "é" * 131_072
        self.bridge.call("clipboard.write", {"text": text})
        self.assertEqual(self.bridge.call("clipboard.read"), {"text": text})
        self.assertEqual(self.fails("clipboard.write", {"text": f"{text}x"}).code, "clipboard.too_large")
        self.copied(b"x" * 5_000_000)
        self.assertEqual(self.fails("clipboard.read").code, "clipboard.too_large")

    def test_nothing_and_a_picture_are_told_apart(self) -> None:
        self.assertEqual(self.fails("clipboard.read").code, "clipboard.empty")
        self.copied(b"\x89PNG", "clipboard", "image/png")
        # This owner provides its data in any form that is requested; its bytes are not text.
        error = self.fails("clipboard.read")
        self.assertEqual(error.code, "clipboard.not_text")

    def test_clearing_takes_what_others_copied_too(self) -> None:
        self.copied(b"secret")
        self.assertEqual(self.bridge.call("clipboard.clear"), {})
        self.assertEqual(self.fails("clipboard.read").code, "clipboard.empty")
        self.assertIsNone(self.screen.paste())
        self.assertEqual(xclips(self.screen.name), [])

    def test_whoever_copies_next_takes_over_and_nothing_is_left(self) -> None:
        self.bridge.call("clipboard.write", {"text": "ours"})
        self.copied(b"theirs")
        self.assertEqual(self.bridge.call("clipboard.read"), {"text": "theirs"})
        until(lambda: len(xclips(self.screen.name)) == 1)

    def test_who_reads_and_ends_too_soon_takes_nothing_away(self) -> None:
        self.bridge.call("clipboard.write", {"text": "x" * 200_000})
        first = xclips(self.screen.name)
        end = time.monotonic() + 2
        while xclips(self.screen.name) == first and time.monotonic() < end:
            reader = self.screen.start_pasting()
            time.sleep(random.uniform(0.001, 0.006))
            reader.kill()
            reader.wait(TEST_TIMEOUT)
        until(lambda: self.screen.paste() == b"x" * 200_000)
        # In case no reader was ended at such a moment.
        for pid in xclips(self.screen.name):
            os.kill(pid, signal.SIGTERM)
        until(lambda: self.screen.paste() == b"x" * 200_000)
        self.copied(b"theirs")
        self.assertEqual(self.bridge.call("clipboard.read"), {"text": "theirs"})

    def test_the_daemon_leaves_no_process(self) -> None:
        self.bridge.call("clipboard.write", {"text": "a"})
        self.assertEqual(len(xclips(self.screen.name)), 1)
        self.bridge.close()
        self.daemon.stop()
        until(lambda: not xclips(self.screen.name))

    def test_an_owner_that_does_not_answer_is_given_up(self) -> None:
        _, self.bridge = self.start(f'display = "{self.screen.name}"\ntimeout_ms = 200')
        self.copied(b"a").send_signal(signal.SIGSTOP)
        error = self.fails("clipboard.read")
        self.assertEqual((error.code, error.transient), ("clipboard.no_answer", True))

    def test_a_write_takes_over_from_whoever_was_there_before(self) -> None:
        silent = self.copied(b"a")
        silent.send_signal(signal.SIGSTOP)
        self.assertEqual(self.bridge.call("clipboard.write", {"text": "after silence"}), {})
        self.assertEqual(self.screen.paste(), b"after silence")
        self.copied(b"x" * 5_000_000)
        self.assertEqual(self.bridge.call("clipboard.write", {"text": "after much"}), {})
        self.assertEqual(self.screen.paste(), b"after much")

    def test_without_a_display_it_says_so(self) -> None:
        self.screen.close()
        for task in ("clipboard.read", "clipboard.clear"):
            error = self.fails(task)
            self.assertEqual(error.code, "clipboard.unavailable")
            self.assertIn(self.screen.name, str(error))


if __name__ == "__main__":
    unittest.main()
