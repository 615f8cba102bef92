"""Streams whose bytes find no room on a disk."""

from __future__ import annotations

import os
import random
import shutil
import subprocess

from daemon import BUILT, FILES_PLUGIN, LIMIT, Daemon, Home
from disks import MemoryDisk
from report import FaultTest
from settings import ROUNDS, SEED

FILE_BYTES = 2_000_000


class FullDisk(FaultTest):
    """Examples/Files, in the daemon and in a process of its own, and the command line, with a tmpfs of 16 MiB."""

    def setUp(self) -> None:
        self.home = Home()
        self.addCleanup(self.home.remove)
        self.disk = MemoryDisk(self.home.folder / "disk")
        self.addCleanup(self.disk.remove)
        self.random = random.Random(SEED)
        self.bytes = self.random.randbytes(FILE_BYTES)
        (self.home.folder / "sent").write_bytes(self.bytes)

    def start(self, isolation: str, folder: str) -> None:
        settings = f'[plugins.files]\nisolation = "{isolation}"\nfolder = "{folder}"\n'
        (self.home.folder / "trestled.toml").write_text(settings)
        plugins = self.home.folder / "plugins"
        plugins.mkdir(exist_ok=True)
        shutil.copy(FILES_PLUGIN, plugins)
        self.daemon = Daemon.ready(self.home, ("--plugin-dir", str(plugins)))
        self.addCleanup(self.daemon.kill)

    def trestle(self, *arguments: str, output: str = os.devnull) -> subprocess.CompletedProcess[str]:
        with open(output, "wb") as file:
            return subprocess.run(
                [BUILT / "trestle", "--socket", self.home.socket, "call", *arguments], stdin=subprocess.DEVNULL,
                stdout=file, stderr=subprocess.PIPE, text=True, timeout=LIMIT)

    def check_nothing_left(self) -> None:
        with self.daemon.connect() as bridge:
            self.daemon.ask_until(
                "no stream is left", bridge,
                lambda status: not status["streams"] and not status["streamBytes"] and status["sessions"] == 1
                and status["callsInFlight"] == 1)

    def test_command(self) -> None:
        """`trestle call files.read > FILE` on a full disk ends with status 1 and an error"""
        folder = self.home.folder / "files"
        folder.mkdir()
        shutil.move(self.home.folder / "sent", folder)
        for isolation in ("none", "process"):
            self.start(isolation, str(folder))
            for _ in range(ROUNDS):
                self.disk.fill(self.random.randrange(FILE_BYTES))
                copy = self.disk.folder / "copy"
                run = self.trestle("files.read", "name=sent", output=str(copy))
                self.assertEqual(run.returncode, 1, run.stderr)
                self.assertIn("no space left on device", run.stderr)
                written = copy.read_bytes()
                self.assertTrue(self.bytes.startswith(written) and len(written) < FILE_BYTES)
                copy.unlink()
                self.check_nothing_left()
                self.disk.make_room()
                self.assertEqual(self.trestle("files.read", "name=sent").returncode, 0)
            self.daemon.kill()
        self.row("the disk is full behind a reader: `trestle call files.read > FILE`",
                 f"{ROUNDS * 2} times, with different amounts of free space, the plugin in the daemon and in a process",
                 "status 1, and the error states that there is no space; the plugin's stream ends, nothing is left in "
                 "the daemon", "as promised, each time")

    def test_files(self) -> None:
        """A write of Files to a full disk is refused with an error, keeps the previous file, and leaves no partial
        one"""
        folder = self.disk.folder / "files"
        folder.mkdir()
        (folder / "kept").write_bytes(b"before")
        for isolation in ("none", "process"):
            self.start(isolation, str(folder))
            for _ in range(ROUNDS):
                self.disk.fill(self.random.randrange(FILE_BYTES))
                run = self.trestle("files.write", "name=kept", f"file=@{self.home.folder}/sent")
                # As for every transient error.
                self.assertEqual(run.returncode, 75, run.stderr)
                self.assertIn("there is no room on the disk (files.full)", run.stderr)
                self.check_nothing_left()
                self.assertEqual(os.listdir(folder), ["kept"])
                self.assertEqual((folder / "kept").read_bytes(), b"before")
                self.disk.make_room()
                run = self.trestle("files.write", "name=new", f"file=@{self.home.folder}/sent")
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertEqual((folder / "new").read_bytes(), self.bytes)
                (folder / "new").unlink()
            self.daemon.kill()
        self.row("the disk is full behind a writer: `files.write` of `Examples/Files`",
                 f"{ROUNDS * 2} times, with different amounts of free space, the plugin in the daemon and in a process",
                 "`files.full`, status 75; the file of that name is unchanged, no part of the new one is left; "
                 "nothing is left in the daemon; with free space it is written", "as promised, each time")
