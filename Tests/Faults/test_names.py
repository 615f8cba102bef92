"""Names with private addresses, from a resolver that answers like an attacker's. In a network of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from daemon import Daemon, Home
from report import FaultTest

PUBLIC = "1.2.3.4"
PUBLIC_6 = "2606:4700:1::4"
# An address of each kind of private network, also embedded in an address of IPv6.
PRIVATE = ["127.0.0.1", "10.1.2.3", "169.254.169.254", "0.0.0.0", "::1", "fd00::7", "::ffff:127.0.0.1",
           "64:ff9b::7f00:1", "::"]

# The number of parallel fetches of names that the resolver does not answer.
SILENT = 20


def records(*addresses: str) -> list[list[str]]:
    return [["AAAA" if ":" in address else "A", address] for address in addresses]


class Names(FaultTest):
    def setUp(self) -> None:
        self.home = Home(configuration="[plugins.fetch]\n")
        self.addCleanup(self.home.remove)
        self.network = subprocess.Popen(
            ["unshare", "--net", "--mount", "--propagation", "private", sys.executable, "-B",
             str(Path(__file__).with_name("names.py")), str(self.home.folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end_network)
        self.answer()
        self.home.runner = ["nsenter", "--target", str(self.network.pid), "--net", "--mount", "--"]
        self.daemon = Daemon.ready(self.home)
        self.addCleanup(self.daemon.stop)

    def end_network(self) -> None:
        self.network.communicate()

    def answer(self) -> Any:
        assert self.network.stdout is not None
        line = self.network.stdout.readline()
        if not line:
            if "TEST_FAULTS_REQUIRED" in os.environ:
                self.fail("no network could be made")
            self.skipTest("no network can be made here")
        return json.loads(line)

    def send(self, **command: Any) -> Any:
        assert self.network.stdin is not None
        self.network.stdin.write(json.dumps(command) + "\n")
        self.network.stdin.flush()
        return self.answer()

    def lead(self, name: str, *addresses: str, ttl: int = 0) -> None:
        self.send(names={name: records(*addresses)}, ttl=ttl)

    def fetch(self, url: str) -> Any:
        """Returns the address that answered, or the error."""
        with self.daemon.connect() as bridge:
            message = bridge.call("http.fetch", {"url": url, "as": "text", "cache": "no-store"})
        return message["result"]["body"]["text"] if "result" in message else message["error"]

    def expect_refusal(self, url: str, address: str | None = None) -> None:
        error = self.fetch(url)
        self.assertIsInstance(error, dict, f"{url} was answered by {error}")
        self.assertEqual(error["code"], "http.refused", error)
        self.assertEqual(error["data"]["reason"], "private_address", error)
        if address:
            self.assertEqual(error["data"]["address"], address)

    def servers(self) -> set[str]:
        """Returns the addresses that have received a request since the last call."""
        return {address for address, _ in self.send(seen=True)["requests"]}

    def test_private(self) -> None:
        """a name with a private address is refused, of either family and in each form"""
        for number, address in enumerate(PRIVATE):
            self.lead(f"p{number}.example", address)
            self.expect_refusal(f"http://p{number}.example/")
        self.assertEqual(self.servers(), set())
        self.row("names that resolve to private addresses", f"{len(PRIVATE)} addresses of both families",
                 "`http.refused` with `private_address`", "as promised; no server there got a request")

    def test_rebinding(self) -> None:
        """a name with a public address and later a private one is refused, also with a TTL of 0"""
        rounds = 0
        for ttl in [0, 1, 3600]:
            for private in ["127.0.0.1", "10.1.2.3", "::1", "fd00::7"]:
                name = f"r{rounds}.example"
                self.lead(name, PUBLIC, ttl=ttl)
                self.assertEqual(self.fetch(f"http://{name}/"), PUBLIC)
                self.lead(name, private, ttl=ttl)
                # Another port of the name requires another connection, for which it is resolved again.
                self.expect_refusal(f"http://{name}:8080/", private)
                # The answer on the existing connection is from the public address.
                self.assertEqual(self.fetch(f"http://{name}/"), PUBLIC)
                rounds += 1
        self.assertEqual(self.servers(), {PUBLIC})
        self.row("a name that resolves to a public address first, and then to a private one (DNS rebinding)",
                 f"{rounds} times, TTL 0, 1 and 3,600 s", "`http.refused` with `private_address`",
                 "as promised; a request on the first connection went to the public address")

    def test_mixed(self) -> None:
        """of public and private addresses of one name, in any order, only the public ones get a request"""
        mixed = [(PUBLIC, "127.0.0.1"), ("127.0.0.1", PUBLIC), ("::1", PUBLIC), ("fd00::7", PUBLIC, "10.1.2.3"),
                 ("10.1.2.3", PUBLIC_6), ("::ffff:127.0.0.1", PUBLIC_6), ("169.254.169.254", "::1", PUBLIC)]
        for number, addresses in enumerate(mixed):
            self.lead(f"m{number}.example", *addresses)
            for _ in range(3):
                answer = self.fetch(f"http://m{number}.example/")
                if isinstance(answer, dict):
                    self.assertEqual(answer["data"]["reason"], "private_address", answer)
                else:
                    self.assertIn(answer, [PUBLIC, PUBLIC_6])
        self.assertLessEqual(self.servers(), {PUBLIC, PUBLIC_6})
        # Private addresses only, of both families, in any order of attempts.
        self.lead("both.example", "::1", "127.0.0.1")
        self.expect_refusal("http://both.example/")
        self.assertEqual(self.servers(), set())
        self.row("names that resolve to public and private addresses at once, AAAA first among them",
                 f"{len(mixed)} mixtures, 3 requests each", "no private address gets a request",
                 "none did; names of private addresses alone were refused")

    def test_reused_connection(self) -> None:
        """an open connection gets no further request once its address is this machine's own, or closed"""
        self.lead("own.example", PUBLIC)
        self.assertEqual(self.fetch("http://own.example/"), PUBLIC)
        self.send(own=PUBLIC)
        self.expect_refusal("http://own.example/", PUBLIC)
        self.assertEqual(self.send(seen=True)["requests"], [[PUBLIC, "/"]])
        self.configure('private_networks = ["10.1.2.0/24"]')
        self.lead("inner.example", "10.1.2.3")
        self.assertEqual(self.fetch("http://inner.example/"), "10.1.2.3")
        self.configure("")
        self.expect_refusal("http://inner.example/", "10.1.2.3")
        self.assertEqual(self.servers(), {"10.1.2.3"})
        self.row("an address that is closed while a connection to it is open",
                 "2 ways: it becomes this machine's own; `private_networks` is changed",
                 "the next request is `http.refused` with `private_address`", "as promised")

    def test_silent(self) -> None:
        """a name that the resolver does not answer ends by its time limit; the user's other fetches continue"""
        self.lead("loud.example", PUBLIC)
        self.send(silent=".silent.example")
        # The resolver's library waits for 10 s in all.
        cases: list[tuple[dict[str, Any], int, str]] = [({}, 1_000, "call.timeout"),
                                                        ({"connectMs": 1_000}, 20_000, "http.timeout")]
        for number, (options, timeout, code) in enumerate(cases):
            with self.daemon.connect() as bridge:
                silent = {
                    bridge.send("http.fetch", {"url": f"http://n{number}-{one}.silent.example/", **options},
                                timeout=timeout) for one in range(SILENT)}
                loud = bridge.send("http.fetch", {"url": "http://loud.example/", "as": "text", "cache": "no-store"})
                first = bridge.receive()
                self.assertEqual((first["callbackId"], first["result"]["body"]["text"]), (loud, PUBLIC), first)
                for _ in range(SILENT):
                    message = bridge.receive()
                    silent.remove(message["callbackId"])
                    self.assertEqual(message["error"]["code"], code, message)
                    self.assertEqual(message["error"]["data"], {"phase": "resolving", "started": False}, message)
            # Those queries are still open.
            began = time.monotonic()
            self.assertEqual(self.fetch("http://loud.example/"), PUBLIC)
            self.assertLess(time.monotonic() - began, 5)
        self.assertEqual(self.servers(), {PUBLIC})
        self.row("a resolver that does not answer for a name",
                 f"{SILENT} fetches at once, with `timeout`; with `connectMs`",
                 "`call.timeout`, `http.timeout` in the phase `resolving`; the user's other fetches go on",
                 "as promised; a fetch of another name was answered meanwhile, and another directly afterwards")

    def configure(self, settings: str) -> None:
        """Makes the daemon load another section of Fetch."""
        (self.home.folder / "trestled.toml").write_text(f"[plugins.fetch]\n{settings}\n")
        self.daemon.result("bridge.reload")
