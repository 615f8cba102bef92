"""Streams with a daemon that has the shortest message limit."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from trestle_bridge import BridgeError, Stream, connect

from .aio_support import AsyncTestCase
from .support import PACKAGE_FOLDER, TEST_TIMEOUT, Daemon
from .sync_support import SyncTestCase

SETTINGS = '[limits]\nmessage_bytes = "1KiB"\n'

DATA = os.urandom(60_000)
"""Data that is short enough to be sent in messages instead of a pipe."""

LONG_REASON = '"\n\U0001f600' * 3_000

PLUGIN = """
from trestle_bridge import Plugin, Stream

plugin = Plugin(version="1.0")

@plugin.task("short.copy", public=True)
def copy(options, call):
    with call.read_stream(options["photo"]) as photo:
        data = photo.readall()
    return {"photo": Stream(data, None, len(data))}

@plugin.task("short.copy.async", public=True)
async def copy_async(options, call):
    async with call.read_stream(options["photo"]) as photo:
        data = await photo.read()
    return {"photo": Stream(data, None, len(data))}

plugin.run()
"""

MANIFEST = f"""
command = ["{sys.executable}", "short.py"]
environment = {{ PYTHONPATH = "{PACKAGE_FOLDER}" }}
"""


class ShortMessageTests(SyncTestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.daemon = Daemon(configuration=SETTINGS)
        cls.addClassCleanup(cls.daemon.close)

    def test_a_writer_sends_pieces_that_the_daemon_takes(self) -> None:
        name = self.bridge.send_stream(DATA)
        with self.connect().read_stream(name) as reader:
            self.assertEqual(reader.readall(), DATA)

    def test_a_writer_that_did_not_make_the_stream_does_so_too(self) -> None:
        reader = self.connect().make_stream_to_read()

        def write() -> None:
            with self.bridge.write_stream(reader.name) as writer:
                writer.write(DATA)

        thread = threading.Thread(target=write)
        thread.start()
        self.assertEqual(reader.readall(), DATA)
        thread.join(TEST_TIMEOUT)

    def test_an_error_whose_text_is_too_long_ends_the_stream_with_the_beginning_of_it(self) -> None:
        for error in (BridgeError("album.full", LONG_REASON), ValueError(LONG_REASON)):
            with self.subTest(type(error).__name__):
                writer = self.bridge.make_stream()
                reader = self.connect().read_stream(writer.name)
                writer.abort(error)
                with self.assertRaises(BridgeError) as raised:
                    reader.readall()
                reason = raised.exception.data["error"]["message"].removeprefix("ValueError: ")
                self.assertTrue(len(reason) > 100 and LONG_REASON.startswith(reason.removesuffix("…")), reason)


class AsyncShortMessageTests(AsyncTestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.daemon = Daemon(configuration=SETTINGS)
        cls.addClassCleanup(cls.daemon.close)

    async def test_a_writer_sends_pieces_that_the_daemon_takes(self) -> None:
        name = await self.bridge.send_stream(DATA)
        async with (await self.connect()).read_stream(name) as reader:
            self.assertEqual(await reader.read(), DATA)


class PluginShortMessageTests(unittest.TestCase):
    def test_a_plugin_sends_pieces_that_the_daemon_takes(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="trestle-python-")
        self.addCleanup(folder.cleanup)
        Path(folder.name, "short.py").write_text(PLUGIN, "utf-8")
        Path(folder.name, "short.plugin.toml").write_text(MANIFEST, "utf-8")
        daemon = Daemon(Path(folder.name), SETTINGS)
        self.addCleanup(daemon.close)
        bridge = connect(daemon.path)
        self.addCleanup(bridge.close)
        for task in ("short.copy", "short.copy.async"):
            with self.subTest(task):
                result = bridge.call(task, {"photo": Stream(DATA)}, timeout=TEST_TIMEOUT)
                with bridge.read_stream(result["photo"]) as reader:
                    self.assertEqual(reader.readall(), DATA)
