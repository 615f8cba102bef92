"""Common parts of all seeds: placeholders that a target fills in, and the form of messages."""

import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD_END = b"\x1e"
# The placeholder for the id of the last call that was forwarded to the client.
ID_PLACE = "\x1d"
# The placeholder for the name of the last stream that was created.
STREAM_PLACE = "\x1c"
Seeds = dict[str, list[bytes]]


def compact(value: object) -> str:
    """Returns a message as the daemon's clients write it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
