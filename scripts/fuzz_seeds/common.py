"""What all seeds are made with: places that a target fills in, and the form of messages."""

import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD_END = b"\x1e"
# Stands for the id of the last call that the client was asked to work on.
ID_PLACE = "\x1d"
# Stands for the name of the stream that was made last.
STREAM_PLACE = "\x1c"
Seeds = dict[str, list[bytes]]


def compact(value: object) -> str:
    """A message as the daemon's clients write it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
