"""Reads a stream as a Python program does: python3 read.py SOCKET STREAM."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Clients" / "Python"))

import trestle_bridge  # noqa: E402

socket, stream = sys.argv[1:]
count = 0
with trestle_bridge.connect(socket) as bridge:
    for chunk in bridge.read_stream(stream):
        count += len(chunk)
