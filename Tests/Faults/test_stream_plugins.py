"""Streams of plugins whose process is killed at any byte."""

from __future__ import annotations

import os
import random
import shutil
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

from daemon import FILES_PLUGIN, ROOT, Daemon, Home
from report import FaultTest
from settings import PLUGIN_CUTS, SEED
from stream_ends import GONE, MessageReader, MessageWriter, Side, trestle_bridge
from trestle_bridge import BridgeError

# The cut is after the plugin has taken its end, because this is more than a window and a pipe. The rest is more than
# these and the bytes that a process has read ahead.
CUTS = range(400_000, 4_000_000)
FILE_BYTES = 6_000_000
NAMES = ["files", "keeper"]
KILLED = ("the process of a plugin, in Swift (`Examples/Files`) or in Python, is killed (SIGKILL) while it {} a "
          "stream of 6 MB, at a random byte")
SETTINGS = '[plugins.files]\nisolation = "process"\nfolder = "{folder}"\n'


class Plugins(FaultTest):
    """Examples/Files in a process of its own, in Swift, and a plugin in Python."""

    def setUp(self) -> None:
        self.home = Home()
        self.addCleanup(self.home.remove)
        self.folder = self.home.folder / "files"
        self.folder.mkdir()
        (self.home.folder / "trestled.toml").write_text(SETTINGS.format(folder=self.folder))
        plugins = self.home.folder / "plugins"
        shutil.copytree(Path(__file__).parent / "plugins", plugins)
        shutil.copytree(ROOT / "Clients/Python/trestle_bridge", plugins / "trestle_bridge")
        shutil.copy(FILES_PLUGIN, plugins)
        self.random = random.Random(SEED)
        self.bytes = self.random.randbytes(FILE_BYTES)
        for folder in (plugins, self.folder):
            (folder / "kept").write_bytes(self.bytes)
        self.daemon = Daemon.ready(self.home, ("--plugin-dir", str(plugins)))
        self.addCleanup(lambda: self.daemon.kill())
        self.client = trestle_bridge.connect(self.home.socket)
        self.addCleanup(self.client.close)
        self.watcher = self.daemon.connect()
        self.addCleanup(self.watcher.__exit__)
        # As after each round. Earlier processes may not have ended yet: then the limit is a little higher.
        self.restart_all()
        self.descriptors = self.daemon.descriptors()

    def restart_all(self) -> None:
        """Restarts the plugins. After five faults within a minute the daemon would not restart them by itself."""
        for plugin in NAMES:
            self.client.call("bridge.plugin.reload", {"name": plugin})

    def process(self, plugin: str) -> int:
        plugins = self.watcher.call("bridge.plugins")["result"]["plugins"]
        return next(int(entry["pid"]) for entry in plugins if entry["name"] == plugin)

    def side(self, plugin: str) -> Side:
        """Returns the client's side, which kills the plugin at a random byte."""
        def kill() -> None:
            os.kill(self.process(plugin), signal.SIGKILL)

        return Side(self.random.choice(CUTS), kill, is_victim=False)

    def check_nothing_left(self, case: str) -> None:
        self.restart_all()
        self.daemon.ask_until(
            f"nothing is left of {case}", self.watcher,
            lambda status: not status["streams"] and not status["streamBytes"] and not status["queuedBytes"]
            and self.daemon.descriptors() <= self.descriptors and len(self.children()) == len(NAMES))

    def children(self) -> list[str]:
        found: list[str] = []
        for thread in Path(f"/proc/{self.daemon.pid}/task").iterdir():
            # A thread may end meanwhile.
            with suppress(FileNotFoundError):
                found += (thread / "children").read_text().split()
        return found

    def test_killed_while_it_writes(self) -> None:
        """A plugin whose process is killed while it writes a stream completes none, and leaves nothing"""
        for number in range(PLUGIN_CUTS):
            plugin, by_messages = self.random.choice(NAMES), self.random.random() < 0.5
            stream = self.client.call(f"{plugin}.read", {"name": "kept"})["file"]
            side = self.side(plugin)
            source: Any = MessageReader(self.client.call, stream) if by_messages else self.client.read_stream(stream)
            side.read(source)
            case = f"round {number}: {plugin}, {by_messages=}: {side.count} bytes, {side.end}"
            self.assertIn(side.end, GONE, case)
            self.assertTrue(self.bytes.startswith(b"".join(side.data)), case)
            self.check_nothing_left(case)
        self.row(KILLED.format("writes"), f"{PLUGIN_CUTS} times, its reader by messages and by a descriptor",
                 "the reader gets a prefix of the bytes, then an error; nothing is left in the daemon; the plugin "
                 "is started again", "as promised, each time")

    def test_killed_while_it_reads(self) -> None:
        """A plugin whose process is killed while it reads a stream: the writer gets an error, and nothing is left"""
        for number in range(PLUGIN_CUTS):
            plugin, by_messages = self.random.choice(NAMES), self.random.random() < 0.5
            side = self.side(plugin)
            output: Any
            if by_messages:
                stream = self.client.call("bridge.stream.new")["stream"]
                output = MessageWriter(self.client.call, stream)
            else:
                output = self.client.make_stream()
                stream = output.name
            pending = self.client.submit(f"{plugin}.write", {"name": "new", "file": stream})
            side.write(output, self.bytes)
            case = f"round {number}: {plugin}, {by_messages=}: {side.count} bytes, {side.end}"
            self.assertIn(side.end, GONE, case)
            with self.assertRaises(BridgeError) as raised:
                pending.result()
            self.assertEqual(raised.exception.code, "plugin.crashed", case)
            self.check_nothing_left(case)
            self.assertEqual(os.listdir(self.folder), ["kept"], case)
        self.row(KILLED.format("reads"), f"{PLUGIN_CUTS} times, its writer by messages and by a descriptor",
                 "the writer gets an error, the call `plugin.crashed`; nothing is left in the daemon, and no part of a "
                 "file in the folder of Files once it runs again", "as promised, each time")
