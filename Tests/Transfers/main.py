"""Sends a file there and back, from each kind of client, through each kind of task, and compares its SHA-256.

    python3 Tests/Transfers/main.py [--bytes N]

`scripts/test-transfers` is how it is run.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

from places import BUILT, Place, Places

FOLDER = Path(__file__).resolve().parent
BLOCK = 1 << 20


def make_file(path: Path, count: int) -> str:
    """Writes a file of bytes that no part of repeats. Its SHA-256."""
    digest = hashlib.sha256()
    with path.open("wb") as file:
        while count > 0:
            block = os.urandom(min(BLOCK, count))
            file.write(block)
            digest.update(block)
            count -= len(block)
    return digest.hexdigest()


def digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def command(client: str, place: Place, sent: Path, received: Path) -> list[object]:
    """What sends a file, and receives the copy in another one."""
    arguments = [place.daemon.socket, place.task, sent, received]
    if client == "Python":
        return [sys.executable, FOLDER / "client.py", *arguments]
    if client == "Node":
        return ["node", FOLDER / "client.mjs", *arguments]
    script = 'exec "$0" --socket "$1" call "$2" photo=@"$3" >"$4"'
    return ["sh", "-c", script, BUILT / "trestle", *arguments]


def transfer(client: str, place: Place, sent: Path, received: Path) -> str:
    """Sends a file there and back. The row of the table."""
    cpu, began = place.daemon.cpu_seconds(), time.monotonic()
    subprocess.run([str(part) for part in command(client, place, sent, received)], stdin=subprocess.DEVNULL, check=True)
    seconds = time.monotonic() - began
    rate = sent.stat().st_size / seconds / BLOCK
    return (f"| {client} | {place.name} | {seconds:.1f} s | {rate:.0f} MiB/s "
            f"| {place.daemon.cpu_seconds() - cpu:.1f} s | {place.daemon.memory_bytes() / BLOCK:.1f} MiB |")


def main() -> int:
    parser = argparse.ArgumentParser(description="Sends a file there and back through streams.")
    parser.add_argument("--bytes", type=int, default=16 << 20, help="how long the file is (default: 16 MiB)")
    size = parser.parse_args().bytes
    print("| client | place of the task | time | there and back | the daemon's CPU time | its memory | SHA-256 |")
    print("| --- | --- | --- | --- | --- | --- | --- |", flush=True)
    wrong = 0
    with Places() as places:
        sent, received = places.folder / "sent", places.folder / "received"
        wanted = make_file(sent, size)
        for place in places.list:
            for client in ("the command line", "Python", "Node"):
                row = transfer(client, place, sent, received)
                is_equal = digest_of(received) == wanted
                wrong += not is_equal
                print(f"{row} {'equal' if is_equal else 'DIFFERENT'} |", flush=True)
        left = places.streams_left()
        if left:
            print(f"the daemons still have {left} streams", file=sys.stderr)
    return 1 if wrong or left else 0


if __name__ == "__main__":
    sys.exit(main())
