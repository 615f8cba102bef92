"""Streams of plugins with a daemon that passes descriptors, and with one that does not."""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from . import plugin_support as _  # first: it skips the tests if there is no tomllib
from .fake_daemon import FakeDaemon, PluginError
from .support import PACKAGE_FOLDER

PLUGIN = """
from trestle_bridge import Plugin

plugin = Plugin()


@plugin.task("read")
def read(options, call):
    return call.read_stream(options).readall().decode()


@plugin.task("read.async")
async def read_async(options, call):
    return (await call.read_stream(options).read()).decode()


@plugin.task("write")
def write(options, call):
    with call.make_stream() as writer:
        writer.write(b"abc")


plugin.run()
"""

REFUSAL = {"code": "stream.invalid", "message": "this caller cannot receive a descriptor"}


class PluginPipeTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        script = Path(folder.name, "plugin.py")
        script.write_text(PLUGIN, "utf-8")
        self.daemon = FakeDaemon(
            [sys.executable, "-W", "error", str(script)], PACKAGE_FOLDER,
            environment={"PYTHONPATH": str(PACKAGE_FOLDER)},
        )
        self.addCleanup(self.daemon.close)
        self.daemon.start()

    def about(self, task: str) -> dict[str, Any]:
        """Returns the plugin's next call of a task about streams."""
        return self.daemon.next(task=f"bridge.stream.{task}")

    def answer(self, call: dict[str, Any], result: Any) -> None:
        self.daemon.send({"callbackId": call["callbackId"], "result": result})

    def refuse(self, call: dict[str, Any]) -> None:
        self.daemon.send({"callbackId": call["callbackId"], "error": REFUSAL})

    def pass_end(self, call: dict[str, Any], descriptor: int, result: Any = None) -> None:
        """Answers with a result and the end of a pipe."""
        line = json.dumps({"callbackId": call["callbackId"], "result": result or {}}).encode() + b"\n"
        socket.send_fds(self.daemon.socket, [line], [descriptor])
        os.close(descriptor)

    def test_a_reader_takes_a_pipe_where_there_is_one(self) -> None:
        for task in ("read", "read.async"):
            with self.subTest(task):
                call_id = self.daemon.start_call(task, "stream:1")
                attach, read = self.about("attach"), self.about("read")
                options = {"stream": "stream:1", "side": "read"}
                self.assertEqual((attach["options"], attach["caller"]), (options, call_id))
                reader, writer = os.pipe()
                self.pass_end(attach, reader)
                os.write(writer, b"abc")
                os.close(writer)
                self.answer(read, {"end": True, "bytes": 3})
                close = self.about("close")
                self.assertEqual(close["options"], {"stream": "stream:1", "side": "read", "bytes": 3})
                self.answer(close, {"bytes": 3, "complete": True})
                self.assertEqual(self.daemon.result(call_id), "abc")

    def test_a_reader_whose_first_read_ended_with_the_call_reads_on_in_its_own_name(self) -> None:
        call_id = self.daemon.start_call("read", "stream:1")
        attach, read = self.about("attach"), self.about("read")
        reader, writer = os.pipe()
        self.pass_end(attach, reader)
        self.daemon.send({"callbackId": read["callbackId"], "error": {"code": "call.cancelled", "message": "m"}})
        read = self.about("read")
        self.assertNotIn("caller", read)
        os.write(writer, b"abc")
        os.close(writer)
        self.answer(read, {"end": True, "bytes": 3})
        self.answer(self.about("close"), {"bytes": 3, "complete": True})
        self.assertEqual(self.daemon.result(call_id), "abc")

    def test_a_reader_uses_messages_where_there_is_no_pipe_and_takes_the_end_for_the_call(self) -> None:
        for task in ("read", "read.async"):
            with self.subTest(task):
                call_id = self.daemon.start_call(task, "stream:1")
                attach, read = self.about("attach"), self.about("read")
                self.assertEqual((attach["caller"], read["caller"]), (call_id, call_id))
                self.refuse(attach)
                self.answer(read, {"base64": "YWJj"})
                self.answer(self.about("read"), {"end": True, "bytes": 3})
                self.assertEqual(self.daemon.result(call_id), "abc")

    def test_a_writer_gets_its_pipe_with_the_stream(self) -> None:
        call_id = self.daemon.start_call("write")
        new = self.about("new")
        self.assertEqual((new["options"], new["caller"]), ({"side": "write", "attach": True}, call_id))
        reader, writer = os.pipe()
        self.pass_end(new, writer, {"stream": "stream:1", "room": 1000, "attached": True})
        leaving, close = self.about("write"), self.about("close")
        self.assertEqual(leaving["options"], {"stream": "stream:1", "base64": ""})
        self.assertEqual((close["options"]["bytes"], os.read(reader, 10), os.read(reader, 10)), (3, b"abc", b""))
        os.close(reader)
        self.answer(close, {"bytes": 3, "complete": True})
        self.assertIsNone(self.daemon.result(call_id))

    def test_a_writer_whose_daemon_makes_no_pipe_with_the_stream_attaches(self) -> None:
        call_id = self.daemon.start_call("write")
        self.answer(self.about("new"), {"stream": "stream:1", "room": 1000})
        attach, leaving = self.about("attach"), self.about("write")
        self.assertEqual(leaving["options"], {"stream": "stream:1", "base64": ""})
        reader, writer = os.pipe()
        self.pass_end(attach, writer)
        close = self.about("close")
        self.assertEqual((close["options"]["bytes"], os.read(reader, 10), os.read(reader, 10)), (3, b"abc", b""))
        os.close(reader)
        self.answer(close, {"bytes": 3, "complete": True})
        self.assertIsNone(self.daemon.result(call_id))

    def test_a_writer_uses_messages_where_there_is_no_pipe(self) -> None:
        call_id = self.daemon.start_call("write")
        self.answer(self.about("new"), {"stream": "stream:1", "room": 1000})
        attach, empty = self.about("attach"), self.about("write")
        self.refuse(attach)
        self.answer(empty, {"room": 1000})
        write = self.about("write")
        self.assertEqual(write["options"]["base64"], "YWJj")
        self.answer(write, {"room": 997})
        self.answer(self.about("close"), {"bytes": 3, "complete": True})
        self.assertIsNone(self.daemon.result(call_id))

    def test_a_descriptor_that_the_system_could_not_pass_ends_the_stream(self) -> None:
        call_id = self.daemon.start_call("read", "stream:1")
        self.answer(self.about("attach"), {})
        close = self.about("close")
        self.assertEqual(close["options"]["error"]["code"], "stream.closed")
        with self.assertRaises(PluginError) as raised:
            self.daemon.result(call_id)
        self.assertEqual(raised.exception.code, "stream.closed")
