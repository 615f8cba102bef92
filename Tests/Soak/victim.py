"""victim.py SOCKET SEED: a client that makes calls until it is killed."""

from __future__ import annotations

import json
import random
import socket
import sys

TASKS = ("Echo", "soak.work", "soak.wait", "bridge.status", "persistence.query", "bridge.subscribe")


def main() -> None:
    rng = random.Random(sys.argv[2])
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(sys.argv[1])
        for number in range(1, 1_000_000):
            options = {"table": "victim", "events": ["*"], "ms": 50, "value": number}
            message = {"task": rng.choice(TASKS), "options": options, "callbackId": number, "timeout": 5000}
            connection.sendall(json.dumps(message).encode() + b"\n")
            if number == 100:
                print("in flight", flush=True)
            if number > 100:
                connection.recv(65_536)
    except OSError:
        pass  # The daemon was faster.


main()
