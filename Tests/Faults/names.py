"""names.py FOLDER: a network of its own, in which a test sets the addresses of names, and each address has a server.

Must be started in a network and a mount namespace of its own. It has a resolver on 127.0.0.1, to which the file
/etc/resolv.conf of the namespace refers. It has HTTP servers on the ports 80 and 8080 of all addresses: those of
loopback, and public ones that belong to no interface. It executes lines of JSON on its standard input, and answers each
with one:

    {"names": {"a.example": [["A", "1.2.3.4"], ["AAAA", "::1"]]}, "ttl": 0}    sets the addresses of names
    {"silent": ".silent.example"}       leaves queries about names with this end unanswered
    {"own": "1.2.3.4"}                                                      makes an address this machine's
    {"seen": true}                                                          {"requests": [[address, path], …]}
"""

from __future__ import annotations

import http.server
import ipaddress
import json
import socket
import socketserver
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

PUBLIC = ["1.2.3.0/24", "2606:4700:1::/64"]
PRIVATE = ["10.1.2.0/24", "169.254.169.254/32", "fd00::/64"]
PORTS = [80, 8080]
TYPES = {"A": 1, "AAAA": 28}

names: dict[str, list[list[str]]] = {}
silent: str | None = None
time_to_live = 0
requests: list[list[str]] = []


class Resolver(socketserver.BaseRequestHandler):
    """Answers a query with the records of its name; for an unknown name it answers that it does not exist."""

    def handle(self) -> None:
        data, connection = self.request
        name, end = self.name(data)
        if silent and name.endswith(silent):
            return
        kind = struct.unpack_from("!H", data, end)[0]
        records = [ipaddress.ip_address(address) for type, address in names.get(name, []) if TYPES[type] == kind]
        code = 0x8180 if name in names else 0x8183
        answer = struct.pack("!6H", struct.unpack_from("!H", data)[0], code, 1, len(records), 0, 0) + data[12:end + 4]
        for address in records:
            answer += struct.pack("!HHHIH", 0xC00C, kind, 1, time_to_live, len(address.packed)) + address.packed
        connection.sendto(answer, self.client_address)

    @staticmethod
    def name(data: bytes) -> tuple[str, int]:
        labels, place = [], 12
        while data[place]:
            labels.append(data[place + 1:place + 1 + data[place]].decode())
            place += 1 + data[place]
        return ".".join(labels).lower(), place + 1


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers each request with the address at which it arrived, and keeps the connection."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = self.connection.getsockname()[0].removeprefix("::ffff:")
        requests.append([body, self.path])
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    """Listens on all addresses of both families."""

    address_family = socket.AF_INET6
    daemon_threads = True

    def server_bind(self) -> None:
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        socketserver.TCPServer.server_bind(self)


def prepare(folder: Path) -> None:
    ip("link", "set", "lo", "up")
    # If there is only loopback, a daemon has no network.
    ip("link", "add", "outside", "type", "veth", "peer", "name", "inside")
    ip("link", "set", "outside", "up")
    ip("link", "set", "inside", "up")
    for network in PUBLIC + PRIVATE:
        family = "-6" if ":" in network else "-4"
        # Packets to these addresses arrive here, although no interface has them.
        ip(family, "route", "add", "local", network, "dev", "lo")
    for file, text in [("resolv.conf", "nameserver 127.0.0.1\n"), ("nsswitch.conf", "hosts: dns\n")]:
        (folder / file).write_text(text)
        subprocess.run(["mount", "--bind", folder / file, f"/etc/{file}"], check=True)


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


def obey(command: dict[str, Any]) -> Any:
    global time_to_live, silent
    names.update(command.get("names", {}))
    time_to_live = command.get("ttl", time_to_live)
    silent = command.get("silent", silent)
    if "own" in command:
        ip("address", "add", command["own"], "dev", "lo")
    if "seen" not in command:
        return {}
    seen = {"requests": requests[:]}
    requests.clear()
    return seen


def main() -> None:
    prepare(Path(sys.argv[1]))
    servers: list[Any] = [socketserver.ThreadingUDPServer(("127.0.0.1", 53), Resolver)]
    servers += [Server(("::", port), Handler) for port in PORTS]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print("{}", flush=True)
    for line in sys.stdin:
        print(json.dumps(obey(json.loads(line))), flush=True)


main()
