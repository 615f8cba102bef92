"""The process of Fetch is killed in every phase of a request."""

from __future__ import annotations

import os
import signal
from typing import Any, Callable

from daemon import Daemon, Home
from fetch_server import CONFIGURATION, Callbacks, StoppingServer, plugin_process
from report import FaultTest
from settings import PLUGIN_CUTS

PHASES = ["queued", "securing", "sending", "waiting", "receiving"]


class FetchKilled(FaultTest):
    def setUp(self) -> None:
        self.home = Home(configuration=CONFIGURATION)
        self.addCleanup(self.home.remove)
        self.server = StoppingServer()
        self.addCleanup(self.server.close)
        self.daemon = Daemon.ready(self.home)
        self.addCleanup(lambda: self.daemon.kill())
        self.rounds = max(1, PLUGIN_CUTS // 10)

    def begin(self, client: Callbacks, phase: str) -> list[int]:
        """Makes calls, the last of which reaches the phase and stays in it."""
        options: dict[str, Any] = {"url": self.server.url(phase)}
        if phase == "securing":
            options["url"] = self.server.url("", "https")
        elif phase == "sending":
            stream = client.call("bridge.stream.new")["result"]["stream"]
            options |= {"method": "PUT", "body": {"stream": stream}}
        # The maximum of transfers at once.
        held = [self.hold(client) for _ in range(2 if phase == "queued" else 0)]
        return held + [client.begin("http.fetch", options)]

    def hold(self, client: Callbacks) -> int:
        number = client.begin("http.fetch", {"url": self.server.url("waiting"), "cache": "no-store"})
        client.until_phase(number, "waiting")
        return number

    def kill(self, client: Callbacks, plugin: str) -> None:
        os.kill(plugin_process(self.daemon, plugin), signal.SIGKILL)

    def check_works(self, client: Callbacks) -> None:
        """Checks that fetches work. After five faults within a minute the daemon does not restart a plugin by
        itself."""
        for plugin in ("fetch", "cookies"):
            client.call("bridge.plugin.reload", {"name": plugin})
        message = client.call("http.fetch", {"url": self.server.url("short"), "as": "text"})
        self.assertEqual(message.get("result", {}).get("body", {}).get("text"), "ok", message)

    def each(self, check: Callable[[Callbacks, str], None], phases: list[str]) -> None:
        for _ in range(self.rounds):
            for phase in phases:
                with self.subTest(phase=phase):
                    client = Callbacks(self.daemon)
                    check(client, phase)
                    self.check_works(client)
                    client.bridge.__exit__()

    def test_in_every_phase(self) -> None:
        """A fetch whose plugin is killed in any phase gets one callback, plugin.crashed, and the next one works"""
        def check(client: Callbacks, phase: str) -> None:
            numbers = self.begin(client, phase)
            client.until_phase(numbers[-1], phase)
            self.kill(client, "fetch")
            for number in numbers:
                self.assertEqual(client.outcome(number)["error"]["code"], "plugin.crashed")
                self.assertEqual(client.count(number), 1)

        self.each(check, PHASES)
        self.row("the process of Fetch is killed (SIGKILL) while a fetch is " + ", ".join(PHASES),
                 f"{self.rounds} times each", "one callback, `plugin.crashed`; the next fetch works",
                 "as promised, each time")

    def test_behind_the_result(self) -> None:
        """A stream whose plugin is killed after the result ends with an error"""
        def check(client: Callbacks, phase: str) -> None:
            options = {"url": self.server.url(phase), "respond": "headers"}
            number = client.begin("http.fetch", options)
            stream = client.outcome(number)["result"]["body"]["stream"]
            client.call("bridge.stream.read", {"stream": stream})
            self.kill(client, "fetch")
            message = client.call("bridge.stream.read", {"stream": stream})
            while "error" not in message:
                self.assertFalse(message["result"].get("end"), message)
                message = client.call("bridge.stream.read", {"stream": stream})
            self.assertIn(message["error"]["code"], ["stream.closed", "stream.not_found", "plugin.crashed"])
            self.assertEqual(client.count(number), 1)

        self.each(check, ["streaming"])
        self.row("the same after the result, while its body is read", f"{self.rounds} times",
                 "the stream ends with an error", "as promised, each time")

    def test_cookies_killed(self) -> None:
        """A fetch during which the plugin Cookies is killed gets one callback"""
        def check(client: Callbacks, phase: str) -> None:
            numbers = self.begin(client, phase)
            client.until_phase(numbers[-1], phase)
            self.kill(client, "cookies")
            other = client.call("http.fetch", {"url": self.server.url("short"), "as": "text"})
            self.assertTrue("result" in other or other["error"].get("transient"), other)
            client.bridge.socket.sendall(b'{"cancel":%d}\n' % numbers[-1])
            client.outcome(numbers[-1])
            self.assertEqual(client.count(numbers[-1]), 1)

        self.each(check, ["waiting", "receiving"])
        self.row("the process of Cookies is killed while a fetch is waiting or receiving", f"{self.rounds} times each",
                 "one callback for each fetch; a later one works, or its error is transient",
                 "as promised, each time")
