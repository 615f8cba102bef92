"""A server whose responses are random bytes that resemble HTTP, and random requests. Both are derived from a seed."""

from __future__ import annotations

import base64
import gzip
import random
import socket
import zlib
from typing import Any

from connection_server import ConnectionServer

SMALL, LARGE = 2_000, 1_500_000
PAUSES = [0.0, 0.0, 0.0, 0.001, 0.02]
STATUSES = ["200 OK"] * 20 + ["206 Partial", "204 None", "304 Same", "301 Moved", "302 Found", "303 See",
            "307 Again", "308 Again", "401 Who", "404 Not", "416 Range", "500 No", "503 Later", "100 Go on", "103 Hints",
            "101 Other", "099 Low", "999 High", "200", "", "abc"]
FIELDS = [
    "Cache-Control: {cache}", "ETag: {tag}", "Last-Modified: {date}", "Expires: {date}", "Date: {date}", "Age: {number}",
    "Vary: {vary}", "Content-Type: {type}", "Content-Range: bytes {number}-{number}/{number}",
    "Set-Cookie: a{number}=b; Max-Age={number}; Path=/; {attribute}", "Strict-Transport-Security: max-age={number}",
    'Clear-Site-Data: "{data}"', 'WWW-Authenticate: Digest realm="r", nonce="{number}"', "Location: {location}",
    "Retry-After: {number}", "Content-Location: {location}", "Trailer: X",
]
# Fields that can make a response invalid.
WILD_FIELDS = [
    "Content-Length: {number}", "Transfer-Encoding: {transfer}", "Content-Encoding: {coding}", "Connection: {connection}",
    "X: {long}", "{raw}",
]
VALUES = {
    "cache": ["max-age=60", "no-store", "no-cache", "max-age=60, stale-while-revalidate=60", "private", "immutable",
              "max-age=99999999999999999999", "max-age=-1", 'no-cache="', "must-understand, max-age=1", ",,,="],
    "tag": ['"1"', 'W/"1"', '"2"', "1", '"', ""],
    "date": ["Fri, 27 Nov 2026 12:00:00 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", "0", "now", "Fri, 99 Nov 99999 25:00:00"],
    "vary": ["*", "Accept", "Cookie", "Accept-Encoding, X", ",", "a b"],
    "type": ["text/plain", "text/html; charset=latin1", "application/json", "text/plain; charset=utf-7", "a", "/"],
    "attribute": ["Secure", "HttpOnly", "SameSite=None; Secure", "Partitioned; Secure", "Domain=127.0.0.1", "Domain=.com"],
    "data": ["cache", "cookies", "storage", "*", '"'],
    "transfer": ["chunked", "gzip, chunked", "gzip", "chunked, chunked", "identity", "x"],
    "coding": ["gzip", "deflate", "br", "zstd", "gzip, gzip", "gzip, br, zstd", "identity", "x", "gzip, x"],
    "connection": ["close", "keep-alive", "upgrade", "X"],
}


class RandomResponse:
    """The bytes of a response, in pieces, and whether the connection continues after it."""

    def __init__(self, seed: str, base: str) -> None:
        self.random = random.Random(seed)
        self.base = base
        data = self.interim() + self.head_and_body()
        if self.random.random() < 0.3:
            data = self.mutated(data)
        self.goes_on = self.random.random() < 0.6
        self.hangs = self.random.random() < 0.03
        self.pieces = self.cut(data)

    def value(self, name: str) -> str:
        if name == "number":
            return str(self.random.choice([0, 1, 10, 2_000, 1_500_000, -1, 2**31, 2**63, 2**64]))
        if name == "location":
            return self.random.choice([
                self.base + "/" + str(self.random.randrange(300)), "/" + str(self.random.randrange(300)), "?", "",
                "//127.0.0.1", "http://[::1", "javascript:1", "http://10.0.0.1/", "/" + "a" * 9_000, "ht tp:/", "#f",
                self.base.replace("127.0.0.1", "127.0.0.2") + "/" + str(self.random.randrange(300))])
        if name == "long":
            return "x" * self.random.choice([0, 100, 5_000, 70_000])
        if name == "raw":
            return self.random.randbytes(self.random.randrange(40)).decode("latin-1")
        return self.random.choice(VALUES[name])

    def fields(self, count: int) -> list[str]:
        names = ["number", "location", "long", "raw", *VALUES]
        patterns = [self.random.choice(WILD_FIELDS if self.random.random() < 0.05 else FIELDS) for _ in range(count)]
        return [pattern.format(**{name: self.value(name) for name in names}) for pattern in patterns]

    def interim(self) -> bytes:
        if self.random.random() < 0.95:
            return b""
        return b"HTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\n" * self.random.choice([1, 9, 30])

    def head_and_body(self) -> bytes:
        status = "HTTP/" + self.random.choice(["1.1"] * 30 + ["1.0", "2", "9.9"]) + " " + self.random.choice(STATUSES)
        body, fields = self.body()
        fields += self.fields(self.random.choice([0, 1, 2, 3, 5, 8] * 5 + [400]))
        self.random.shuffle(fields)
        return "\r\n".join([status, *fields, "", ""]).encode("latin-1", "replace") + body

    def body(self) -> tuple[bytes, list[str]]:
        length = self.random.choice([0, 1, 50, SMALL, SMALL, 40_000, 300_000, LARGE])
        data, fields = self.coded(self.content(length))
        if self.random.random() < 0.5:
            return data, fields + [f"Content-Length: {len(data)}"]
        if self.random.random() < 0.6:
            return self.chunked(data), fields + ["Transfer-Encoding: chunked"]
        return data, fields

    def content(self, length: int) -> bytes:
        kind = self.random.randrange(4)
        if kind == 0:
            return self.random.randbytes(length)
        if kind == 1:
            return b'{"a":[' + b"1," * (length // 2) + b"1]}"
        return b"a" * (length * 40 if kind == 2 else length)

    def coded(self, data: bytes) -> tuple[bytes, list[str]]:
        kind = self.random.randrange(6)
        if kind == 0:
            return gzip.compress(data, 1), ["Content-Encoding: gzip"]
        if kind == 1:
            return zlib.compress(data, 1), ["Content-Encoding: deflate"]
        if kind == 2:
            return gzip.compress(gzip.compress(data, 1), 1), ["Content-Encoding: gzip, gzip"]
        return data[:LARGE], []

    def chunked(self, data: bytes) -> bytes:
        size = self.random.choice([7, 1_000, 60_000]) if len(data) < 100_000 else 60_000
        pieces = [data[start:start + size] for start in range(0, len(data), size)]
        chunks = [b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces]
        trailer = "\r\n".join(self.fields(1) + [""]).encode("latin-1", "replace") if self.random.random() < 0.2 else b""
        return b"".join(chunks) + b"0\r\n" + trailer + b"\r\n"

    def mutated(self, data: bytes) -> bytes:
        changed = bytearray(data)
        for _ in range(self.random.randint(1, 6)):
            # Mostly in the head.
            end = len(changed) if self.random.random() < 0.3 else min(len(changed), 400)
            if end == 0:
                break
            place = self.random.randrange(end)
            kind = self.random.randrange(4)
            if kind == 0:
                changed[place] = self.random.randrange(256)
            elif kind == 1:
                del changed[place:place + self.random.randint(1, 20)]
            elif kind == 2:
                changed[place:place] = self.random.randbytes(self.random.randint(1, 10))
            elif self.random.random() < 0.5:
                del changed[place:]
        return bytes(changed)

    def cut(self, data: bytes) -> list[tuple[bytes, float]]:
        count = self.random.choice([1, 1, 2, 5, 20])
        places = sorted(self.random.randrange(len(data) + 1) for _ in range(count - 1))
        ends = [0, *places, len(data)]
        return [(data[start:end], self.random.choice(PAUSES)) for start, end in zip(ends, ends[1:])]


class RandomServer(ConnectionServer):
    """/N is answered by response number N, always the same one unless the request has conditions."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        super().__init__()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer(self, connection: socket.socket, head: bytes) -> bool:
        path = head.split(b" ", 2)[1].decode("latin-1")
        if path == "/fine":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nfine")
            return False
        conditions = b"if-none-match" in head.lower()
        response = RandomResponse(f"{self.seed} {path} {conditions}", self.base)
        for data, pause in response.pieces:
            connection.sendall(data)
            self.ended.wait(pause)
        if response.hangs:
            self.ended.wait(10)
        return response.goes_on


def random_options(generator: random.Random, base: str, paths: int) -> dict[str, Any]:
    """Returns the options of a fetch."""
    options: dict[str, Any] = {"url": f"{base}/{generator.randrange(paths)}"}

    def sometimes(chance: float, name: str, values: list[Any]) -> None:
        if generator.random() < chance:
            options[name] = generator.choice(values)

    sometimes(0.3, "method", ["GET", "HEAD", "POST", "PUT", "DELETE", "ODD"])
    sometimes(0.4, "cache", ["default", "reload", "no-cache", "force-cache", "only-if-cached", "no-store"])
    sometimes(0.4, "as", ["text", "json", "base64", "stream", "none"])
    sometimes(0.2, "respond", ["headers", "body"])
    sometimes(0.2, "redirect", ["follow", "manual", "error"])
    sometimes(0.2, "maxBytes", [0, 10, 10_000, 3_000_000])
    sometimes(0.1, "integrity", ["sha256-" + base64.b64encode(bytes(32)).decode()])
    sometimes(0.1, "headers", [{"Range": "bytes=0-9"}, {"If-None-Match": '"1"'}, {"Cache-Control": "max-stale"}])
    if options.get("method", "GET") == "GET" and "headers" not in options:
        sometimes(0.1, "range", [{"from": 0, "to": 99}, {"from": 1_000}, {"last": 10}])
    if options.get("method") in ("POST", "PUT"):
        options["body"] = {"text": "x" * generator.choice([0, 10, 100_000])}
    return options
