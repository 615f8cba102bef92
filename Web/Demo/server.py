#!/usr/bin/env python3
"""server.py FOLDER: serves a folder's files on a port of 127.0.0.1, which it writes to standard output.

/visit counts a browser's visits in a cookie that scripts do not see. /shown?TEXT is written as a line, too: the page
says so that it is complete.
"""

import functools
import http.cookies
import http.server
import json
import sys


class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path == "/visit":
            self.visit()
        elif path == "/shown":
            print(query, flush=True)
            self.answer({})
        else:
            super().do_GET()

    def visit(self):
        cookies = http.cookies.SimpleCookie(self.headers.get("Cookie", ""))
        text = cookies["visits"].value if "visits" in cookies else ""
        visits = int(text) + 1 if text.isdecimal() else 1
        self.answer({"visits": visits}, ("Set-Cookie", f"visits={visits}; HttpOnly; SameSite=Strict"))

    def answer(self, value, *fields):
        body = json.dumps(value).encode()
        self.send_response(200)
        for name, field in fields:
            self.send_header(name, field)
        self.send_header("Content-Type", "application/json")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=sys.argv[1]))
print(server.server_port, flush=True)
server.serve_forever()
