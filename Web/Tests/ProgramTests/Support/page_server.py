#!/usr/bin/env python3
"""page_server.py FOLDER: serves a folder's files over HTTP, on two ports of 127.0.0.1, which are two origins.

It writes both ports to standard output, in one line, and ends with its standard input. /redirect?URI redirects to URI;
/sandboxed/NAME is the file NAME with a policy that gives its document no origin, /unstored/NAME with one that forbids
storing it. /typed?TYPE has this content type and the first bytes of a PNG; /status?STATUS has this status.
"""

import functools
import http.server
import sys
import threading
import urllib.parse


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    field = None

    def end_headers(self):
        if self.field:
            self.send_header(*self.field)
            self.field = None
        super().end_headers()

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path.startswith("/sandboxed/"):
            self.path = path.removeprefix("/sandboxed")
            self.field = ("Content-Security-Policy", "sandbox allow-scripts")
        elif path.startswith("/unstored/"):
            self.path = path.removeprefix("/unstored")
            self.field = ("Cache-Control", "private, no-store")
        if path in ("/typed", "/status"):
            return self.send(path, urllib.parse.unquote(query))
        if path != "/redirect":
            return super().do_GET()
        self.send_response(302)
        self.send_header("Location", urllib.parse.unquote(query))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def send(self, path, value):
        body = b"\x89PNG\r\n\x1a\n" if path == "/typed" else b"<!doctype html><title>status</title>"
        self.send_response(int(value) if path == "/status" else 200)
        if path == "/status" or value:
            self.send_header("Content-Type", "text/html" if path == "/status" else value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


handler = functools.partial(Handler, directory=sys.argv[1])
servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) for _ in range(2)]
for server in servers:
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
print(*(server.server_port for server in servers), flush=True)
sys.stdin.read()
