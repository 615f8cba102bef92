"""Fetches from servers that send random bytes."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import Any

from daemon import Daemon, Home
from fetch_random import RandomServer, random_options
from fetch_server import Callbacks, plugin_process
from report import FaultTest
from settings import FETCHES, SEED

CLIENTS = 3
AT_ONCE = 6
PATHS = 300
CONFIGURATION = """
[plugins.fetch]
isolation = "process"
private_networks = ["127.0.0.0/8"]
body_bytes = 2_000_000
idle_ms = 1500
connect_ms = 2000
cache_user_bytes = 8_000_000
cache_memory_bytes = 1_000_000
"""
# The error codes that a caller may get. Others, such as internal and plugin.crashed, are faults of the plugin.
CODES = ["options.invalid", "busy", "call.cancelled", "call.timeout", "permission.denied"]
MEMORY_MIB = 128


class RandomServers(FaultTest):
    def setUp(self) -> None:
        self.home = Home(configuration=CONFIGURATION)
        self.addCleanup(self.home.remove)
        self.server = RandomServer(SEED)
        self.addCleanup(self.server.close)
        self.daemon = Daemon.ready(self.home)
        self.addCleanup(lambda: self.daemon.kill())
        self.lock = threading.Lock()
        self.outcomes: dict[str, int] = {}
        self.faults: list[str] = []

    def note(self, options: Any, message: Any) -> None:
        """Counts the result of a fetch or of its stream."""
        code = message["error"]["code"] if "error" in message else "result"
        with self.lock:
            self.outcomes[code] = self.outcomes.get(code, 0) + 1
            if code != "result" and not code.startswith(("http.", "stream.")) and code not in CODES:
                self.faults.append(f"{options}: {message}")

    def read(self, client: Callbacks, generator: random.Random, options: Any, stream: str) -> None:
        """Reads a stream to its end, or closes it earlier."""
        pieces = generator.choice([0, 1, 10_000, 10_000])
        for _ in range(pieces):
            message = client.call("bridge.stream.read", {"stream": stream})
            if "error" in message or message["result"].get("end"):
                return self.note(options, message)
        client.call("bridge.stream.close", {"stream": stream})

    def round(self, client: Callbacks, generator: random.Random) -> None:
        fetches = [random_options(generator, self.server.base, PATHS) for _ in range(AT_ONCE)]
        numbers = [client.begin("http.fetch", options) for options in fetches]
        for number in numbers:
            if generator.random() < 0.05:
                client.bridge.socket.sendall(b'{"cancel":%d}\n' % number)
        for number, options in zip(numbers, fetches):
            message = client.outcome(number)
            self.note(options, message)
            body = message.get("result", {}).get("body")
            if body and "stream" in body:
                self.read(client, generator, options, body["stream"])
        for number in numbers:
            self.assertEqual(client.count(number), 1)
        client.forget()

    def fetch(self, seed: int) -> None:
        generator = random.Random(seed)
        try:
            client = Callbacks(self.daemon)
            for _ in range(FETCHES // (CLIENTS * AT_ONCE)):
                self.round(client, generator)
        except (OSError, AssertionError) as error:
            with self.lock:
                self.faults.append(f"client {seed}: {error!r}")

    def memory(self, process: int) -> int:
        """Returns the peak memory of a process, in MiB."""
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) // 1024

    def test_random_servers(self) -> None:
        """Each fetch from a server of random bytes ends with one result or error, and the plugin process survives"""
        process = plugin_process(self.daemon, "fetch")
        threads = [threading.Thread(target=self.fetch, args=(SEED + client,)) for client in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.faults, [], self.home.log)
        self.assertEqual(plugin_process(self.daemon, "fetch"), process)
        fine = self.daemon.result("http.fetch", {"url": self.server.base + "/fine", "as": "text"})
        self.assertEqual(fine["body"]["text"], "fine")
        memory = self.memory(process)
        self.assertLessEqual(memory, MEMORY_MIB)
        outcomes = sorted(self.outcomes.items(), key=lambda item: -item[1])
        seen = ", ".join(f"{count} `{code}`" for code, count in outcomes)
        self.row("servers that send random bytes: cut, redirected, coded, with floods of fields",
                 f"{FETCHES} fetches, {CLIENTS * AT_ONCE} at once",
                 "each ends with one result or an error of its own; the process goes on, within "
                 f"{MEMORY_MIB} MiB", f"{seen}; {memory} MiB at most")
