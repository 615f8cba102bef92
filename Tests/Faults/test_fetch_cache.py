"""The daemon is killed at random moments while responses are stored. Fetch runs in its process here."""

from __future__ import annotations

import base64
import hashlib
import http.server
import random
import threading

from daemon import Daemon, Home
from report import FaultTest
from settings import KILLS, SEED

CLIENTS = 4
URLS = 40
CONFIGURATION = """
[plugins.fetch]
isolation = "none"
private_networks = ["127.0.0.0/8"]
inline_bytes = 700000
cache_user_bytes = 4000000
"""


def body_of(path: str) -> bytes:
    """Returns the only body of a path: a third of them fit into a row, the others are in files."""
    seed = hashlib.sha256(path.encode()).digest()
    length = [200, 20_000, 60_000, 300_000][seed[0] % 4] + seed[1]
    return (seed * (length // len(seed) + 1))[:length]


class Server(http.server.BaseHTTPRequestHandler):
    """Answers each path with its body, in pieces."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = body_of(self.path)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=3600")
        self.send_header("ETag", '"1"')
        self.end_headers()
        try:
            for start in range(0, len(body), 16_384):
                self.wfile.write(body[start:start + 16_384])
        except OSError:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        pass


class QuietServer(http.server.ThreadingHTTPServer):
    """Connections that end are expected in this test."""

    daemon_threads = True

    def handle_error(self, *arguments: object) -> None:
        pass


class CacheKilled(FaultTest):
    def setUp(self) -> None:
        self.home = Home(configuration=CONFIGURATION)
        self.addCleanup(self.home.remove)
        self.random = random.Random(SEED)
        self.server = QuietServer(("127.0.0.1", 0), Server)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.shutdown)
        self.base = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.hits = 0

    def fetch_until_gone(self, daemon: Daemon, seed: int) -> None:
        generator = random.Random(seed)
        try:
            with daemon.connect() as bridge:
                while True:
                    url = f"{self.base}/{generator.randrange(URLS)}"
                    bridge.call("http.fetch", {"url": url, "as": "base64", "cache": generator.choice(
                        ["default", "reload", "no-cache"])})
        except OSError:
            pass

    def check(self, daemon: Daemon) -> None:
        """Checks that each body in the cache is the server's."""
        with daemon.connect() as bridge:
            for number in range(URLS):
                path = f"/{number}"
                message = bridge.call("http.fetch", {"url": self.base + path, "as": "base64", "cache": "only-if-cached"})
                if "error" in message:
                    self.assertEqual(message["error"]["code"], "http.cache_miss", message)
                    continue
                self.hits += 1
                self.assertEqual(base64.b64decode(message["result"]["body"]["base64"]), body_of(path), path)

    def test_in_mid_store(self) -> None:
        """kill -9 at a random moment while responses are stored: no body in the cache is wrong later"""
        for number in range(KILLS):
            daemon = Daemon.ready(self.home)
            threads = [threading.Thread(target=self.fetch_until_gone, args=(daemon, SEED + number * CLIENTS + client))
                       for client in range(CLIENTS)]
            for thread in threads:
                thread.start()
            # From before the first body until many are in progress: a random time, and no condition.
            threading.Event().wait(self.random.uniform(0, 0.3))
            daemon.kill()
            for thread in threads:
                thread.join()
            daemon = Daemon.ready(self.home)
            self.check(daemon)
            daemon.kill()
        self.assertGreater(self.hits, 0)
        self.row("kill -9 while Fetch stores responses", f"{KILLS} kills, {CLIENTS} clients", "no wrong body comes from "
                 "the cache", f"{self.hits} bodies came from it, all right")
