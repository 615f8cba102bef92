"""The cookies of WebKitGTK as a copy of a profile: in both directions, between a real daemon and a real jar."""

from __future__ import annotations

import http.server
import json
import os
import random
import shutil
import subprocess
import tempfile
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Optional

import trestle_bridge
from trestle_bridge import BridgeError

from .cookie_pool import random_cookie, random_key
from .support import TEST_TIMEOUT, DaemonTestCase

CONTAINER = Path(__file__).with_name("cookie_container.py")
CHANGES = int(os.environ.get("COOKIE_CHANGES", 1_000))
"""The number of random changes, half of them on each side."""
SEED = int(os.environ.get("COOKIE_SEED", time.time_ns() % 1_000_000))
PAGE = "<script>document.cookie = 'script=1'; fetch('/set')</script>"


def python_with_web_view() -> Optional[str]:
    """Returns a Python with Debian's modules. The first one on the PATH may not have them."""
    for python in ("python3", "/usr/bin/python3"):
        modules = "import gi; gi.require_version('WebKit2', '4.1'); from gi.repository import WebKit2"
        if subprocess.run([python, "-c", modules], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


class Screen:
    """A virtual screen with a free number."""

    def __init__(self) -> None:
        reading, writing = os.pipe()
        flags = ["-displayfd", str(writing), "-screen", "0", "640x480x24", "-nolisten", "tcp"]
        self.process = subprocess.Popen(["Xvfb", *flags], pass_fds=[writing], stderr=subprocess.DEVNULL)
        os.close(writing)
        with open(reading, encoding="ascii") as numbers:
            self.name = f":{numbers.readline().strip()}"

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(TEST_TIMEOUT)


class Container:
    """The program with the web view."""

    def __init__(self, python: str, socket: str, screen: Screen, home: str) -> None:
        folders = {name: home for name in (
            "HOME", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")}
        self.errors = open(f"{home}/errors", "w+b")
        self.process = subprocess.Popen(
            [python, str(CONTAINER), socket], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
            text=True, env={**os.environ, **folders, "DISPLAY": screen.name, "GDK_BACKEND": "x11",
                            "GSETTINGS_BACKEND": "memory", "GIO_USE_VFS": "local", "NO_AT_BRIDGE": "1",
                            "LIBGL_ALWAYS_SOFTWARE": "1"})
        self.answer()

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self.errors.seek(0)
            raise AssertionError(f"the container ended:\n{self.errors.read().decode()}")
        value: dict[str, Any] = json.loads(line)
        return value

    def send(self, **command: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self) -> None:
        self.process.communicate()
        self.errors.close()


class Server(http.server.ThreadingHTTPServer):
    """Records the Cookie header of each request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[tuple[str, str]] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Server)
        self.server.requests.append((self.path, self.headers.get("Cookie", "")))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        if self.path == "/set":
            self.send_header("Set-Cookie", "server=1; HttpOnly")
        self.end_headers()
        self.wfile.write(PAGE.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


def comparable(cookies: list[dict[str, Any]]) -> dict[Any, Any]:
    """Returns the properties that must be equal on both sides. WebKit treats a cookie without SameSite as Lax."""
    result = {}
    for cookie in cookies:
        key = (cookie["name"], cookie["host"], cookie["hostOnly"], cookie["path"])
        same_site = "lax" if cookie["sameSite"] == "unset" else cookie["sameSite"]
        result[key] = (cookie["value"], cookie["secure"], cookie["httpOnly"], same_site, cookie.get("expires"))
    return result


@unittest.skipUnless(shutil.which("Xvfb"), "there is no Xvfb")
class CookieReplicaTests(DaemonTestCase):
    def setUp(self) -> None:
        python = python_with_web_view()
        if python is None:
            self.skipTest("there is no WebKitGTK 4.1 for Python (gir1.2-webkit2-4.1, python3-gi)")
        self.python = python
        self.bridge = trestle_bridge.connect(self.daemon.path)
        self.addCleanup(self.bridge.close)
        home = tempfile.TemporaryDirectory(prefix="trestle-web-")
        self.addCleanup(home.cleanup)
        self.home = home.name
        self.screen = Screen()
        self.addCleanup(self.screen.close)

    def container(self) -> Container:
        container = Container(self.python, self.daemon.path, self.screen, self.home)
        self.addCleanup(container.close)
        return container

    def tearDown(self) -> None:
        self.bridge.call("cookies.delete", {"all": True})

    def test_the_first_request_has_the_cookies_and_what_the_page_and_its_server_set_comes_back(self) -> None:
        server = Server()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        for line in ("kept=1", "hidden=2; HttpOnly"):
            self.bridge.call("cookies.set", {"url": server.url, "line": line})
        changes = self.bridge.subscribe("cookies.changed", local=True)
        self.bridge.call("cookies.watch")
        container = self.container()
        container.send(load=server.url)
        come: dict[str, bool] = {}
        while len(come) < 2:
            for change in changes.get(TEST_TIMEOUT).data["changes"]:
                come[change["cookie"]["name"]] = change["cookie"]["httpOnly"]
        self.assertEqual(come, {"script": False, "server": True})
        path, cookies = server.requests[0]
        self.assertEqual((path, sorted(cookies.split("; "))), ("/", ["hidden=2", "kept=1"]))

    def test_changes_on_both_sides_end_equal_and_nothing_goes_in_circles(self) -> None:
        container = self.container()
        half = CHANGES // 2
        container.send(random=half, seed=SEED)
        generator = random.Random(SEED + 1)
        choices = [(random_key(generator), generator.random() < 0.3, generator) for _ in range(half)]
        cookies = [None if removes else random_cookie(generator, key) for key, removes, generator in choices]

        def change(index: int) -> None:
            cookie = cookies[index]
            try:
                if cookie:
                    self.bridge.call("cookies.set", {"cookie": cookie})
                else:
                    self.bridge.call("cookies.delete", {"key": choices[index][0]})
            except BridgeError as error:
                if error.code != "cookie.not_found":
                    raise

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(change, range(half)))
        end = container.send(settle=True)
        profile = self.bridge.call("cookies.get")["cookies"]
        self.assertEqual(comparable(end["cookies"]), comparable(profile), f"COOKIE_SEED={SEED}")
        self.assertGreater(len(profile), 0)
        # Each change is sent once, and not back to its origin. A refused change is sent one more time.
        self.assertLessEqual(end["sent"], half + end["refused"])
        self.assertLessEqual(end["got"], half)
        self.assertGreater(min(end["sent"], end["got"]), 0)
        again = container.send(settle=True)
        self.assertEqual(again, end)
