"""Each hostile plugin process has the declared fault and is correct otherwise: run `python3 -m unittest` here."""

from __future__ import annotations

import os
import re
import signal
import sys
import unittest
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent.parent / "Clients/Python"))

from tests.fake_daemon import LINE_BYTES, BadLine, FakeDaemon, PluginEnded, read_manifest  # noqa: E402

MANIFESTS = {path.name.removesuffix(".plugin.toml"): path for path in FOLDER.glob("*.plugin.toml")}


class HostileTestCase(unittest.TestCase):
    """Tests that start hostile plugin processes."""

    def begin(self, behaviour: str, **settings: Any) -> FakeDaemon:
        daemon = FakeDaemon.of_manifest(MANIFESTS[behaviour], **settings)
        self.addCleanup(daemon.close)
        return daemon

    def ready(self, behaviour: str, **settings: Any) -> FakeDaemon:
        daemon = self.begin(behaviour, **settings)
        daemon.start()
        self.assertEqual(daemon.call(f"hostile.{behaviour}.good", {"a": 1}), {"a": 1})
        return daemon

    def misbehave(self, daemon: FakeDaemon, behaviour: str, options: Any = None) -> int:
        return daemon.start_call(f"hostile.{behaviour}", options)


class CrashTests(HostileTestCase):
    def test_before_hello_and_at_the_start(self) -> None:
        self.assertEqual(self.begin("crash-at-load").wait_end(), 3)
        daemon = self.begin("crash-at-start")
        with self.assertRaises(PluginEnded):
            daemon.start()
        self.assertEqual(daemon.wait_end(), -signal.SIGSEGV)

    def test_in_a_call_and_at_the_stop(self) -> None:
        for behaviour, end in (("crash-in-call", -signal.SIGSEGV), ("exit-in-call", 3)):
            daemon = self.ready(behaviour)
            self.misbehave(daemon, behaviour)
            self.assertEqual(daemon.wait_end(), end)
        daemon = self.ready("crash-at-stop")
        daemon.start_call("plugin.stop")
        self.assertEqual(daemon.wait_end(), -signal.SIGSEGV)

    def test_a_child_stays_and_holds_the_socket(self) -> None:
        for leave in (False, True):
            daemon = self.ready("forks-and-exits")
            self.misbehave(daemon, "forks-and-exits", {"leave": leave})
            said = daemon.next(task="plugin.log")["options"]["message"]
            child = int(said.removeprefix("child "))
            self.assertEqual(daemon.process.wait(20), 0)
            os.kill(child, 0)
            daemon.socket.settimeout(0)
            with self.assertRaises(BlockingIOError):
                daemon.socket.recv(1)
            # Killed here, so that it does not affect other tests.
            os.kill(child, signal.SIGKILL)


class AnswerTests(HostileTestCase):
    def test_none(self) -> None:
        daemon = self.ready("never-answers")
        call = self.misbehave(daemon, "never-answers")
        self.assertEqual(daemon.call("plugin.ping"), {})
        self.assertEqual(daemon._seen, [])
        daemon.send({"cancel": call})
        self.assertEqual(daemon.next(callbackId=call)["error"]["code"], "call.cancelled")

    def test_none_to_hello(self) -> None:
        daemon = self.begin("never-hello")
        daemon.start_call("plugin.hello")
        self.assertEqual(daemon.call("plugin.ping"), {})
        self.assertEqual(daemon._seen, [])

    def test_none_to_cancel_and_stop(self) -> None:
        for behaviour in ("ignores-cancel", "never-stops"):
            daemon = self.ready(behaviour)
            daemon.start_call("plugin.stop")
            if behaviour == "ignores-cancel":
                daemon.send({"cancel": self.misbehave(daemon, behaviour)})
            self.assertEqual(daemon.call("plugin.ping"), {})
            self.assertEqual(daemon._seen, [])

    def test_several(self) -> None:
        daemon = self.ready("answers-twice")
        call = self.misbehave(daemon, "answers-twice")
        answers = [daemon.next(callbackId=call) for _ in range(3)]
        self.assertEqual([answer.get("result") for answer in answers], ["first", "second", None])

    def test_to_nobody(self) -> None:
        daemon = self.ready("answers-unknown")
        self.assertEqual(daemon.result(self.misbehave(daemon, "answers-unknown")), "asked")
        self.assertEqual([m["callbackId"] for m in daemon._seen if "result" in m], [
            0, -1, 2**53, 10**40, "7", "no such call", None,
        ])


class HelloTests(HostileTestCase):
    def test_what_is_wrong_with_it(self) -> None:
        self.assertEqual(self.begin("wrong-version").hello()["protocol"]["version"], "99.0")
        self.assertEqual(self.begin("garbage-hello").hello()["events"], "many")
        self.assertEqual(self.begin("other-name").hello()["name"], "Persistence")

    def test_the_name_of_anothers_task(self) -> None:
        self.assertEqual(read_manifest(MANIFESTS["takes-echo"])["tasks"][0]["name"], "Echo")
        self.assertEqual(self.ready("takes-echo").call("Echo", [1]), [1])


class ByteTests(HostileTestCase):
    def test_half_a_line_and_silence(self) -> None:
        daemon = self.ready("half-line")
        half = b'{"callbackId":%d,"resu' % self.misbehave(daemon, "half-line")
        self.assertEqual(daemon._lines.read(len(half)), half)
        daemon.socket.setblocking(False)
        with self.assertRaises(BlockingIOError):
            daemon.socket.recv(1)

    def test_a_line_without_end(self) -> None:
        daemon = self.ready("long-line")
        self.misbehave(daemon, "long-line")
        with self.assertRaisesRegex(BadLine, "too long"):
            daemon.read()
        # The line continues.
        self.assertEqual(daemon._lines.read(LINE_BYTES), b"x" * LINE_BYTES)

    def test_bytes_that_are_no_text(self) -> None:
        daemon = self.ready("garbage-bytes")
        self.misbehave(daemon, "garbage-bytes")
        with self.assertRaises(BadLine):
            daemon.read()


class FloodTests(HostileTestCase):
    def test_of_progress_and_of_the_log(self) -> None:
        for behaviour in ("floods-progress", "floods-log"):
            daemon = self.ready(behaviour)
            call = self.misbehave(daemon, behaviour, {"count": 1000})
            messages = []
            while "result" not in (message := daemon.read()):
                messages.append(message)
            self.assertEqual((len(messages), message["result"], message["callbackId"]), (1000, "flooded", call))

    def test_of_output(self) -> None:
        daemon = self.ready("floods-output")
        self.assertEqual(daemon.result(self.misbehave(daemon, "floods-output", {"count": 1000})), "flooded")
        self.assertIn("line 500 ", daemon.log_until("line 999 "))

    def test_of_calls(self) -> None:
        daemon = self.ready("floods-calls")
        call = self.misbehave(daemon, "floods-calls", {"count": 100})
        for number in range(100):
            other = daemon.next(task="Echo")
            self.assertEqual((other["callbackId"], other["caller"]), (number, call))
        # The plugin chooses its own ids: one may equal an id of the daemon.
        self.assertEqual(daemon.call("plugin.ping"), {})
        for number in range(100):
            end = {"result": 1} if number < 60 else {"error": {"code": "busy", "message": "m"}}
            daemon.send({"callbackId": number, **end})
        self.assertEqual(daemon.result(call), {"result": 60, "busy": 40})


class ResourceTests(HostileTestCase):
    def test_descriptors(self) -> None:
        most = read_manifest(MANIFESTS["leaks-descriptors"])["limits"]["descriptors"]
        daemon = self.ready("leaks-descriptors", descriptors=most)
        opened = daemon.result(self.misbehave(daemon, "leaks-descriptors"))["opened"]
        self.assertTrue(0 < opened < most, opened)

    def test_memory(self) -> None:
        self.assertEqual(read_manifest(MANIFESTS["eats-memory"])["limits"]["memory"], "256MiB")
        daemon = self.ready("eats-memory", memory_bytes=256 << 20)
        self.misbehave(daemon, "eats-memory")
        self.assertEqual(daemon.wait_end(), 1)
        daemon.log_until("MemoryError")


class SilenceTests(HostileTestCase):
    def test_it_reads_no_more(self) -> None:
        daemon = self.ready("stops-reading")
        daemon.result(self.misbehave(daemon, "stops-reading"))
        self.assertIsSilent(daemon)

    def test_it_computes_for_ever(self) -> None:
        daemon = self.ready("busy-loop")
        self.misbehave(daemon, "busy-loop")
        self.assertIsSilent(daemon)

    def assertIsSilent(self, daemon: FakeDaemon) -> None:
        """Asserts that the process reads nothing: the socket fills up. It writes nothing and still runs."""
        daemon.socket.setblocking(False)
        ping = b'{"task":"plugin.ping","callbackId":1}\n' * 1000
        with self.assertRaises(BlockingIOError):
            while True:
                daemon.socket.send(ping)
        with self.assertRaises(BlockingIOError):
            daemon.socket.recv(1)
        self.assertIsNone(daemon.process.poll())


class CompletenessTests(unittest.TestCase):
    def test_manifests_behaviours_and_the_table_are_the_same(self) -> None:
        table = (FOLDER / "README.md").read_text("utf-8").partition("## Libraries")[0]
        self.assertEqual(set(re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)), set(MANIFESTS))
        behaviours = set(re.findall(r'@at\("\w+", "([a-z-]+)"\)', (FOLDER / "hostile.py").read_text("utf-8")))
        self.assertEqual(behaviours, set(MANIFESTS))
        for name, path in MANIFESTS.items():
            self.assertEqual(read_manifest(path)["command"], ["./hostile.py", name])

    def test_libraries_and_their_table_are_the_same(self) -> None:
        table = (FOLDER / "README.md").read_text("utf-8").partition("## Libraries")[2]
        makefile = (FOLDER / "libraries/Makefile").read_text("utf-8")
        source = (FOLDER / "libraries/hostile.c").read_text("utf-8")
        listed = re.search(r"^BEHAVIOURS = ((?:.*\\\n)*.*)$", makefile, re.MULTILINE)
        names = set(listed[1].replace("\\", "").split()) if listed else set()
        self.assertEqual(set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)), names)
        self.assertEqual(set(re.findall(r"BEHAVIOUR_(\w+)", source)), names)
