"""trestle fetch from an internet server, as described in docs/fetch.md and docs/operations.md."""

import json
import os
import subprocess

from machine import SERVICE, ServiceTest, run
from web import CA_FILE, NAME, Web

EXAMPLE = "/usr/share/doc/trestle/trestle-network.conf"
INSTALLED = f"/etc/systemd/system/{SERVICE}.d/network.conf"


def fetch(path, *words):
    """Runs `trestle fetch`; returns its status, the body, and its messages."""
    done = subprocess.run(["trestle", "fetch", f"https://{NAME}{path}", *words], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


class Fetching(ServiceTest):
    def setUp(self):
        super().setUp()
        self.web = Web(self)

    def open_network(self):
        """Opens the network as described in docs/operations.md."""
        run("install", "-D", "-m", "644", EXAMPLE, INSTALLED)
        self.addCleanup(self.close_network)
        run("systemctl", "daemon-reload")
        run("systemctl", "restart", SERVICE)

    def close_network(self):
        os.remove(INSTALLED)
        run("systemctl", "daemon-reload")

    def result(self, path, *words):
        """Returns the result of a successful fetch, as one line of JSON."""
        status, _, said = fetch(path, "--json", *words)
        self.assertEqual(status, 0, said)
        return json.loads(said)

    def test_closed(self):
        """Without the drop-in trestle fetch states what to do"""
        status, body, said = fetch("/")
        self.assertNotEqual(status, 0)
        self.assertEqual(body, "")
        self.assertIn("trestle-network.conf", said)

    def test_unknown_authority(self):
        """A server with an unknown CA is refused, with the reason"""
        self.open_network()
        status, _, said = fetch("/")
        self.assertNotEqual(status, 0)
        self.assertIn("http.tls", said)
        self.assertEqual(self.web.requests(), 0)

    def test_open(self):
        """With the drop-in and ca_file: HTTP/2, cookies over redirects, the cache, and offline"""
        self.change_configuration(f'[plugins.fetch]\nca_file = "{CA_FILE}"\n')
        self.open_network()
        self.assertEqual(fetch("/")[:2], (0, "welcome\n"))
        self.assertEqual(self.result("/")["protocol"], "h2")
        # The next requests contain the cookie that the server has set, also after a redirect.
        self.result("/login")
        self.assertEqual(fetch("/account")[1], "login=abc\n")
        self.assertEqual(fetch("/old")[1], "login=abc\n")
        # A fresh response is not requested again.
        self.assertEqual(self.result("/news")["from"], "network")
        count = self.web.requests()
        self.assertEqual((fetch("/news")[1], self.result("/news")["from"]), ("news\n", "cache"))
        self.assertEqual(self.web.requests(), count)
        # Without the server, and after a restart.
        self.web.stop()
        run("systemctl", "restart", SERVICE)
        self.assertEqual(fetch("/news", "--offline")[:2], (0, "news\n"))
        status, _, said = fetch("/never", "--offline")
        self.assertNotEqual(status, 0)
        self.assertIn("http.cache_miss", said)
        self.assertIn("http.connect", fetch("/")[2])
