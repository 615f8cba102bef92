"""Tests of the plugin in a daemon from the folder TRESTLE_BIN, or from a build: in the daemon's process and in its
own."""

from __future__ import annotations

import codecs
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent.parent / "Clients/Python"))

import trestle_bridge  # noqa: E402
from tests.support import Daemon  # noqa: E402

TEXT = "Never cut, never late: 'Ädler' 0123.\n" * 30_000


class Rot13Tests(unittest.TestCase):
    plugins: str

    @classmethod
    def setUpClass(cls) -> None:
        plugins = tempfile.TemporaryDirectory(prefix="trestle-rot13-")
        cls.addClassCleanup(plugins.cleanup)
        subprocess.run(["make", "--silent", "-C", FOLDER, f"OUT={plugins.name}"], check=True)
        cls.plugins = plugins.name

    def bridges(self) -> list[trestle_bridge.Bridge]:
        """Returns a client of a daemon that runs the plugin in its process, and one of a daemon that does not."""
        bridges = []
        for isolation in ("none", "process"):
            daemon = Daemon(Path(self.plugins), f'[plugins.rot13]\nisolation = "{isolation}"\n')
            self.addCleanup(daemon.close)
            bridge = trestle_bridge.connect(daemon.path)
            self.addCleanup(bridge.close)
            bridges.append(bridge)
        return bridges

    def test_a_text_is_turned(self) -> None:
        for bridge in self.bridges():
            for text in ("", "a", TEXT):
                result = bridge.call("rot13.turn", {"text": trestle_bridge.Stream(text.encode())})
                with bridge.read_stream(result["text"]) as turned:
                    self.assertEqual(turned.read().decode(), codecs.encode(text, "rot13"))
            self.assertEqual(bridge.call("bridge.status")["streams"], 0)

    def test_letters_are_counted(self) -> None:
        for bridge in self.bridges():
            counted = bridge.call("rot13.count", {"text": trestle_bridge.Stream(TEXT.encode())})
            letters = sum(c.isascii() and c.isalpha() for c in TEXT)
            self.assertEqual(counted, {"bytes": len(TEXT.encode()), "letters": letters})

    def test_what_is_not_complete_is_an_error(self) -> None:
        def broken():
            yield b"begun"
            raise OSError("the disk is gone")

        for bridge in self.bridges():
            with self.assertRaises(trestle_bridge.BridgeError) as raised:
                bridge.call("rot13.count", {"text": trestle_bridge.Stream(broken())})
            self.assertEqual(raised.exception.code, "stream.closed")
            result = bridge.call("rot13.turn", {"text": trestle_bridge.Stream(broken())})
            with self.assertRaises(trestle_bridge.BridgeError) as raised:
                with bridge.read_stream(result["text"]) as turned:
                    turned.read()
            self.assertEqual(raised.exception.code, "stream.closed")
            self.assertEqual(bridge.call("bridge.status")["streams"], 0)

    def test_what_is_no_stream_is_refused(self) -> None:
        for bridge in self.bridges():
            for text in ("x", "stream:" + "0" * 32, "stream:" + "0" * 64):
                with self.assertRaises(trestle_bridge.BridgeError) as raised:
                    bridge.call("rot13.count", {"text": text})
                self.assertIn(raised.exception.code, ("stream.not_found", "options.invalid"))


if __name__ == "__main__":
    unittest.main()
