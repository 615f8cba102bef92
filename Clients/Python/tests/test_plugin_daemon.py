"""Plugins in a real daemon."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Iterator

from trestle_bridge import BridgeError, ByteWriter, Stream, connect

from .support import PACKAGE_FOLDER, TEST_TIMEOUT, Daemon

PROGRAM = """
import logging
from trestle_bridge import BridgeError, Decision, Plugin, PluginLogHandler, Stream

plugin = Plugin(version="1.0")
logging.getLogger().addHandler(PluginLogHandler(plugin))
known = {}

@plugin.task("greet", public=True)
def greet(options, call):
    return f"Hello, {options['who']}"

@plugin.interceptor("greet.polite", tasks=lambda: ["greet"])
def polite(asked):
    who = asked.options["who"]
    if who == "nobody":
        raise BridgeError("greet.nobody", "there is nobody")
    if who == "twice":
        return Decision.answer([asked.proceed(), asked.proceed()])
    return Decision.rewrite({"who": who.title()})

@plugin.task("greet.fail", public=True)
def fail(options, call):
    raise KeyError("a secret")

@plugin.task("greet.remember")
async def remember(options, call):
    known[call.caller.session] = options
    return await call.call("greet", {"who": options})

@plugin.task("greet.recall")
def recall(options, call):
    return known.get(call.caller.session)

@plugin.task("greet.publish")
def publish(options, call):
    plugin.publish("greet.done", options["data"], to=[call.caller.session], direct=True)
    logging.getLogger().error("published")

@plugin.task("greet.turn")
def turn(options, call):
    with call.read_stream(options["photo"]) as photo:
        data = photo.readall()
    return call.send_stream([data[::-1]], type="image/png")

@plugin.task("greet.turn.async")
async def turn_async(options, call):
    async with call.read_stream(options["photo"]) as photo:
        data = await photo.read()
    return await call.send_stream(data[::-1])

@plugin.task("greet.copy")
def copy(options, call):
    return call.send_stream(call.read_stream(options["photo"]))

@plugin.task("greet.half")
def half(options, call):
    def parts():
        yield b"half"
        raise KeyError("paper")
    return call.send_stream(parts())

PHOTO = {"type": "object", "properties": {"photo": {"type": "string", "format": "trestle-stream"}}}

@plugin.task("greet.value", options=PHOTO)
def value(options, call):
    data = options["photo"].readall()
    return {"photo": Stream([data[::-1]], "image/png", len(data))}

@plugin.task("greet.value.async", options=PHOTO)
async def value_async(options, call):
    data = await options["photo"].read()

    async def parts():
        yield data[:0:-1]
        yield data[:1]

    return {"photo": Stream(parts())}

TURNED = {"type": "object", "properties": {"photo": {"type": "string", "format": "trestle-stream"}}}

@plugin.task("greet.via", options=PHOTO)
def via(options, call):
    data = options["photo"].readall()
    result = call.call("greet.value", {"photo": Stream([data])}, result_schema=TURNED)
    own = plugin.call("greet.value", {"photo": Stream([data])}, result_schema=TURNED)
    future = call.submit("greet.value", {"photo": Stream([data])})
    with call.read_stream(future.result()["photo"]) as submitted:
        return [len(result["photo"].readall()), len(own["photo"].readall()), len(submitted.readall())]

@plugin.task("greet.via.async", options=PHOTO)
async def via_async(options, call):
    data = await options["photo"].read()
    result = await call.call("greet.value", {"photo": Stream(data)}, result_schema=TURNED)
    try:
        plugin.submit("greet.value", {"photo": Stream(data)})
    except RuntimeError as error:
        return [await result["photo"].read() == data[::-1], str(error)]

@plugin.task("greet.via.fail")
def via_fail(options, call):
    def parts():
        yield b"half"
        raise KeyError("paper")
    try:
        call.call("greet.value", {"photo": Stream(parts())})
    except BridgeError as error:
        return repr(error.__cause__)

@plugin.task("greet.count", options=PHOTO)
def count(options, call):
    plugin.publish("greet.done", len(options["photo"].readall()))

@plugin.task("greet.via.notify")
def via_notify(options, call):
    plugin.notify("greet.count", {"photo": Stream(b"seven b")})

@plugin.task("greet.value.half")
def value_half(options, call):
    def parts():
        yield b"half"
        raise KeyError("paper")
    return Stream(parts())

@plugin.task("greet.value.fail", options=PHOTO)
async def value_fail(options, call):
    await anext(options["photo"])
    return [Stream(b"abc"), object()]

@plugin.on_start
def start():
    (plugin.state_directory / "started").write_text("yes")

@plugin.save_sessions
def save(sessions):
    return {session: known[session] for session in sessions if session in known}

@plugin.restore_sessions
def restore(states):
    known.update(states)

plugin.event("greet.done", "Done.", public=True)
plugin.run()
"""

MANIFEST = f"""
command = ["{sys.executable}", "greet.py"]
environment = {{ PYTHONPATH = "{PACKAGE_FOLDER}" }}
"""


class PluginDaemonTests(unittest.TestCase):
    daemon: Daemon

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="trestle-python-")
        cls.addClassCleanup(folder.cleanup)
        (Path(folder.name) / "greet.py").write_text(PROGRAM, "utf-8")
        (Path(folder.name) / "greet.plugin.toml").write_text(MANIFEST, "utf-8")
        cls.daemon = Daemon(Path(folder.name))
        cls.addClassCleanup(cls.daemon.close)

    def setUp(self) -> None:
        self.bridge = connect(self.daemon.path)
        self.addCleanup(self.bridge.close)

    def test_an_interceptor_stands_before_a_task(self) -> None:
        self.assertEqual(self.bridge.call("greet", {"who": "ann"}), "Hello, Ann")
        self.assertEqual(self.bridge.call("greet", {"who": "twice"}), ["Hello, twice"] * 2)
        with self.assertRaises(BridgeError) as raised:
            self.bridge.call("greet", {"who": "nobody"})
        self.assertEqual(raised.exception.code, "greet.nobody")
        report = self.bridge.call("bridge.status")["interceptors"][0]
        self.assertEqual((report["asked"], report["tasks"]), (3, ["greet"]))

    def test_only_trusted_callers_get_the_text_of_an_exception(self) -> None:
        with self.assertRaises(BridgeError) as raised:
            self.bridge.call("greet.fail")
        self.assertIn("a secret", raised.exception.message)
        with connect(self.daemon.path, origin="https://example.org") as page:
            with self.assertRaises(BridgeError) as raised:
                page.call("greet.fail")
        error = raised.exception
        self.assertEqual((error.code, "secret" in f"{error.message} {error.data}"), ("internal", False))

    def test_an_event_goes_directly_to_a_session_that_did_not_subscribe(self) -> None:
        with self.bridge.subscribe("greet.*", local=True) as events:
            self.bridge.call("greet.publish", {"data": 5})
            self.assertEqual(events.get(TEST_TIMEOUT).data, 5)

    def test_streams_go_to_a_task_and_back_from_it(self) -> None:
        data = os.urandom(1_000_001)
        for task in ("greet.turn", "greet.turn.async"):
            with self.subTest(task):
                photo = self.bridge.send_stream(io.BytesIO(data))
                with self.bridge.read_stream(self.bridge.call(task, {"photo": photo})) as turned:
                    self.assertEqual(turned.readall(), data[::-1])

    def test_the_calls_of_a_plugin_have_streams_in_options_and_results(self) -> None:
        data = os.urandom(200_001)
        self.assertEqual(self.bridge.call("greet.via", {"photo": Stream(data)}), [len(data)] * 3)
        is_turned, refusal = self.bridge.call("greet.via.async", {"photo": Stream(data)})
        self.assertTrue(is_turned)
        self.assertIn("would stop the event loop", refusal)
        self.assertEqual(self.bridge.call("greet.via.fail"), "KeyError('paper')")
        with self.bridge.subscribe("greet.done") as events:
            self.bridge.call("greet.via.notify")
            self.assertEqual(events.get(TEST_TIMEOUT).data, 7)

    def test_a_stream_is_read_after_the_call_that_it_came_with_has_ended(self) -> None:
        data = os.urandom(1_000_001)
        for _ in range(20):
            writer = self.bridge.make_stream()
            name = self.bridge.call("greet.copy", {"photo": writer.name})

            def write(stream: ByteWriter = writer) -> None:
                with stream:
                    stream.write(data)

            thread = threading.Thread(target=write)
            thread.start()
            with self.bridge.read_stream(name) as copied:
                self.assertEqual(copied.readall(), data)
            thread.join(TEST_TIMEOUT)

    def test_a_source_that_raises_leaves_no_stream_that_looks_complete(self) -> None:
        for task in ("greet.half", "greet.value.half"):
            with self.subTest(task), self.bridge.read_stream(self.bridge.call(task)) as reader:
                with self.assertRaises(BridgeError) as raised:
                    reader.readall()
                self.assertEqual(raised.exception.code, "stream.closed")
                self.assertIn("paper", raised.exception.message)

    def test_options_have_readers_where_the_schema_says_so_and_results_have_streams(self) -> None:
        data = os.urandom(1_000_001)
        for task in ("greet.value", "greet.value.async"):
            with self.subTest(task):
                result = self.bridge.call(task, {"photo": Stream(io.BytesIO(data))})
                with self.bridge.read_stream(result["photo"]) as turned:
                    self.assertEqual(turned.readall(), data[::-1])

    def test_a_task_whose_result_has_no_json_ends_its_callers_streams(self) -> None:
        closed = threading.Event()

        def parts() -> Iterator[bytes]:
            try:
                while True:
                    yield b"more" * 10_000
            finally:
                closed.set()

        with self.assertRaises(BridgeError) as raised:
            self.bridge.call("greet.value.fail", {"photo": Stream(parts())})
        self.assertIn("object of the class object", raised.exception.message)
        self.assertTrue(closed.wait(TEST_TIMEOUT))

    def test_what_is_known_of_sessions_goes_on_in_the_next_process(self) -> None:
        self.assertEqual(self.bridge.call("greet.remember", "ann"), "Hello, Ann")
        self.bridge.call("bridge.plugin.reload", {"name": "greet"}, timeout=TEST_TIMEOUT)
        self.assertEqual(self.bridge.call("greet.recall"), "ann")
