#!/usr/bin/env python3
"""odd_server.py FOLDER: a server of unusual responses, over HTTP and over HTTPS with an untrusted certificate.

It writes both ports to standard output, in one line, and ends with its standard input. /asks requires the name `me` and
the password `secret`, /waits never answers, /file sends a file whose name leads out of its folder, /headers returns the
request, /cookie sets a cookie that scripts cannot read, /moved sets one and redirects to /headers.
"""

import base64
import http.server
import ssl
import subprocess
import sys
import threading

PAGE = b"<!doctype html><title>odd</title><p>odd"
ended = threading.Event()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def send(self, status, body, **headers):
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path = self.path.partition("?")[0]
        if path == "/waits":
            ended.wait()
        elif path == "/asks":
            given = self.headers.get("Authorization", "")
            if given == "Basic " + base64.b64encode(b"me:secret").decode():
                self.send(200, PAGE.replace(b"odd", b"let in"))
            else:
                self.send(401, b"", WWW_Authenticate='Basic realm="the realm"')
        elif path == "/file":
            self.send(200, b"0123456789" * 1000, Content_Disposition='attachment; filename="..%2F.x/evil.txt"')
        elif path == "/cookie":
            self.send(200, PAGE, Set_Cookie="server=1; HttpOnly")
        elif path == "/moved":
            self.send(302, b"", Set_Cookie="moved=3", Location="/headers")
        elif path == "/headers":
            text = f"{self.path}\n{self.headers}"
            self.send(200, b"<!doctype html><title>headers</title><pre>" + text.encode() + b"</pre>")
        else:
            self.send(200, PAGE)

    def log_message(self, *_):
        pass


folder = sys.argv[1]
subprocess.run(
    ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
     "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", f"{folder}/key.pem",
     "-out", f"{folder}/cert.pem"],
    check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) for _ in range(2)]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(f"{folder}/cert.pem", f"{folder}/key.pem")
servers[1].socket = context.wrap_socket(servers[1].socket, server_side=True)
for server in servers:
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
print(*(server.server_port for server in servers), flush=True)
sys.stdin.read()
ended.set()
