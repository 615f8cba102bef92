"""The daemon is killed at random moments while an offline package is installed. Fetch runs in its process here."""

from __future__ import annotations

import base64
import json
import random
import subprocess
import threading
import time
from pathlib import Path

from daemon import BUILT, Daemon, Home
from report import FaultTest
from settings import INSTALL_KILLS, SEED

BASE = "https://notes.example/app/"
FILES = 60
FILE_BYTES = 20_000
VERSIONS = ["1.0", "2.0"]
CONFIGURATION = """
[plugins.fetch]
isolation = "none"
package_keys = ["{key}"]
"""


def trestle(*words: str) -> None:
    subprocess.run([str(BUILT / "trestle"), *words], check=True, capture_output=True)


def content(version: str, number: int) -> bytes:
    return random.Random(f"{version} {number}").randbytes(FILE_BYTES)


class InstallKilled(FaultTest):
    def setUp(self) -> None:
        self.home = Home()
        self.addCleanup(self.home.remove)
        self.random = random.Random(SEED)
        key = self.home.folder / "key"
        trestle("package", "key", str(key))
        public = (self.home.folder / "key.pub").read_text().strip()
        (self.home.folder / "trestled.toml").write_text(CONFIGURATION.format(key=public))
        self.packages = {version: self.make(version, key) for version in VERSIONS}

    def make(self, version: str, key: Path) -> Path:
        folder = self.home.folder / version
        (folder / "files").mkdir(parents=True)
        (folder / "manifest.json").write_text(json.dumps({"id": "notes", "version": version, "base": BASE}))
        for number in range(FILES):
            (folder / "files" / f"{number}.bin").write_bytes(content(version, number))
        package = self.home.folder / f"{version}.tar.zst"
        trestle("package", "make", str(folder), "--key", str(key), "--output", str(package))
        return package

    def install(self, version: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [str(BUILT / "trestle"), "--socket", self.home.socket, "call", "http.packages.install",
             f"package=@{self.packages[version]}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def check(self, daemon: Daemon) -> str:
        """Returns the installed version, after a check that each file is unchanged."""
        packages = daemon.result("http.packages.list")["packages"]
        self.assertEqual(len(packages), 1, packages)
        version = packages[0]["version"]
        with daemon.connect() as bridge:
            files = {bridge.send("http.fetch", {"url": f"{BASE}{number}.bin", "as": "base64"}): number
                     for number in range(FILES)}
            for _ in range(FILES):
                message = bridge.receive()
                result = message["result"]
                self.assertEqual(result["from"], "package")
                wanted = content(version, files.pop(message["callbackId"]))
                self.assertEqual(base64.b64decode(result["body"]["base64"]), wanted, version)
        return version

    def folders(self) -> int:
        """Returns the number of versions in the state directory, complete or not."""
        return sum(1 for path in self.home.state.rglob("manifest.sig"))

    def test_in_mid_install(self) -> None:
        """kill -9 at a random moment of an installation: the previous version is complete, or the new one is"""
        daemon = Daemon.ready(self.home)
        start = time.monotonic()
        self.assertEqual(self.install(VERSIONS[0]).wait(), 0)
        longest = 1.5 * (time.monotonic() - start)
        installed, changes = VERSIONS[0], 0
        for _ in range(INSTALL_KILLS):
            other = VERSIONS[1 - VERSIONS.index(installed)]
            process = self.install(other)
            # From before the first byte to after the last one: a random time, and no condition.
            threading.Event().wait(self.random.uniform(0, longest))
            daemon.kill()
            process.wait()
            daemon = Daemon.ready(self.home)
            version = self.check(daemon)
            changes += version != installed
            installed = version
            # Opening the store has removed all other versions.
            self.assertIn(self.folders(), [1, 2])
        daemon.kill()
        self.row("kill -9 while an offline package is installed", f"{INSTALL_KILLS} kills",
                 "the previous version, or the new one, with all its files; nothing else is left",
                 f"the version before {INSTALL_KILLS - changes} times, the new one {changes} times")
