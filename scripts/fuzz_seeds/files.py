"""Seeds of the files that the daemon reads, of queries and of offline packages."""

import hashlib

from .common import RECORD_END, ROOT, Seeds, compact


def of_files(seeds: Seeds) -> None:
    """Adds seeds of existing files."""
    samples = [(0, ROOT / "etc/trestled.toml")]
    samples += [(1, path) for path in sorted(ROOT.glob("Examples/*/*.plugin.toml"))]
    for kind, path in samples:
        if path.is_file():
            seeds["configuration"].append(bytes([kind]) + path.read_bytes())
            for part in path.read_text().replace("#", "").split("\n\n"):
                seeds["configuration"].append(bytes([kind]) + part.encode())
    seeds["configuration"] += [
        b"\x00socket = \"/a/s\"\nsocket_mode = \"0660\"\nplugin_dir = [\"/a/p\"]\nlog_level = \"debug\"\n[limits]\n"
        b"message_bytes = \"64KiB\"\nsessions = 11\n[plugins]\ndisabled = [\"login\"]\n[plugins.alert]\n"
        b"presenters = [1]\n",
        b"\x00a.b.\"c d\" = [1, [2.5, \"x\"], { y = true, z = {} }]\nw = 2026-01-02T03:04:05Z\n[[r]]\nn = '''x'''\n",
        b"\x00a = " + b"[" * 130 + b"]" * 130,
        b"\x01command = [\"./a.py\", \"x\"]\nversion = \"1\"\n[environment]\nA = \"b\"\n[limits]\nmemory = \"1GiB\"\n"
        b"descriptors = 9\n[[tasks]]\nname = \"t\"\nsummary = \"s\"\n[[interceptors]]\nname = \"i\"\nsummary = \"s\"\n"
        b"tasks = [\"a*\"]\nfailure = \"pass\"\n[pool]\nleast = 1\nmost = 2\nper = \"session\"\n",
        b"\x02" + b'{"sessions":{"lastSession":9,"providers":[{"task":"a","session":3,"scope":"any"}]}}\n'
        b'{"share":{"plugin":"login","state":{"a":[1]}}}\n{"connection":{"socket":5,"session":{"number":3,"openMs":7,'
        b'"origin":"o","events":["a*"],"traffic":{"task":"x"},"dialects":["JSON-RPC"]},"input":"e30K"}}\n'
        b'{"retained":{"event":"e","data":{"a":1}}}\n',
    ]


def of_queries(seeds: Seeds) -> None:
    """Adds seeds of queries beyond those of the vectors."""
    records = [compact(record).encode() for record in [
        {"a": 1, "b": {"c": "é"}}, {"a": 1.0}, {"a": "1"}, {"a": None, "b.c": True}, {"a": [1]},
        {"a": {"x": 9007199254740993}}, {}, {"a": 9007199254740992}, {"a": -0.0},
    ]] + [b'{"a":1e400}', b'{"a":123456789012345678901234567890}', b'{"a":"\\ud83d\\ude00"}']
    cursor = b"eyJmb3JtIjoxLCJvZiI6IjAiLCJ2YWx1ZXMiOltbIm0iXV0sImtleSI6ImEifQ=="
    for options in [
        {"table": "t", "order": ["a", "-b.c"], "limit": 2}, {"table": "t", "where": {"a": {"$gte": 1, "$lt": 9}}},
        {"table": "t", "where": {"a": {"$in": [1, "1", None]}, "b\\.c": True}, "order": "-a"},
        {"table": "t", "where": {"b.c": {"$prefix": "é", "$ne": ""}}, "cursor": "x", "namespace": "7:a:b"},
        {"table": "t", "key": "k", "record": {"a": [1.50, {"b": None}]}}, {"table": "t", "key": "k"},
        {"where": {"": 1}}, {"table": "t", "order": ["a"] * 9},
    ]:
        seeds["query"].append(RECORD_END.join([compact(options).encode(), cursor] + records))


def of_packages(seeds: Seeds) -> None:
    """Adds seeds of offline packages: a signed manifest, and the rest of the tar."""
    def block(path: str, content: bytes) -> bytes:
        header = bytearray(512)
        for place, text in [(0, path), (100, "0000644"), (108, "0000000"), (116, "0000000"),
                            (124, f"{len(content):011o}"), (136, "0" * 11), (148, " " * 8), (156, "0"), (257, "ustar"),
                            (263, "00"), (329, "0000000"), (337, "0000000")]:
            header[place:place + len(text)] = text.encode()
        header[148:156] = b"%06o\0 " % sum(header)
        return bytes(header) + content + b"\0" * (-len(content) % 512)

    def package(files: dict[str, bytes], **more: object) -> bytes:
        entries = {path: {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content), "type": "text/plain"}
                   for path, content in files.items()}
        manifest = compact({"id": "a", "version": "1", **more, "files": entries}) + "\n"
        tail = b"".join(block(f"files/{path}", content) for path, content in files.items()) + b"\0" * 1024
        return manifest.encode() + RECORD_END + tail

    seeds["package"] += [bytes([choice]) + package(files, **more) for choice in (1, 41) for files, more in [
        ({}, {}), ({"a": b""}, {}), ({"a/b": b"x" * 600, "c": b"1"}, {"base": "https://a.example/"}),
        ({"A": b"", "a": b""}, {}), ({"../a": b""}, {}), ({"a": b"", "a/b": b""}, {}),
        ({"a": b"1"}, {"network": "https://a.example", "csp": "default-src 'self'",
                       "accepts": [{"method": "POST", "path": "/x"}]}),
    ]]
