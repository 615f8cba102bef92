"""Seeds of the conformance vectors."""

import json

from .common import ID_PLACE, RECORD_END, ROOT, STREAM_PLACE, Seeds, compact


def sent(step: dict) -> str:
    """Returns the bytes that a step of a vector sends, line end included; empty if it sends nothing."""
    if "send" in step:
        return compact(step["send"]) + "\n"
    if "sendText" in step:
        return step["sendText"]
    if "sendHex" in step:
        return bytes.fromhex(step["sendHex"]).decode("latin-1")
    if "sendRepeated" in step:
        part = step["sendRepeated"]
        return part["prefix"] + part["unit"] * 20 + part["suffix"]
    return ""


def wired(vector: dict) -> list[bytes]:
    """Returns the records of the target "runtime" that perform a vector."""
    clients: list[str] = []
    records = [b"\x00"]
    for step in vector.get("wire", []):
        name = step.get("connection", "A")
        if name not in clients:
            clients.append(name)
        client = clients.index(name) % 4
        text = sent(step).replace('"<id>"', ID_PLACE).replace("<id>", ID_PLACE)
        text = text.replace("<s>", STREAM_PLACE).replace("<t>", STREAM_PLACE)
        if text:
            records.append(bytes([ord("4") + client]) + text.encode("utf-8", "surrogatepass"))
        if "end" in step:
            records.append(bytes([ord("@") + client]))
        if "close" in step:
            records.append(bytes([ord("P") + client]))
    return records


def of_vectors(seeds: Seeds) -> None:
    """Adds seeds of all vectors."""
    for path in sorted((ROOT / "Tests/Conformance").glob("*.json")):
        vector = json.loads(path.read_text())
        text = "".join(sent(step) for step in vector.get("wire", [])).encode("utf-8", "surrogatepass")
        if len(text) < 6000:
            seeds["messages"].append(b"\x00\x00\x07\x40" + text)
        records = wired(vector)
        if len(b"".join(records)) < 6000:
            # The plugin's answers to all waiting calls, and time.
            seeds["runtime"].append(RECORD_END.join(records + [b"=\x00{}", b"t\x00100"]))
        seeds["query"] += queries(vector)


def queries(vector: dict) -> list[bytes]:
    """Returns the options of persistence's calls in a vector, each with some records."""
    found = []
    records = [compact({"name": name, "born": born, "lives": {"in": "London"}}).encode()
               for name, born in [("Ada", 1815), ("Alan", 1912), ("Grace", 1906.5), (None, "x"), ([1], 10**30)]]
    for step in vector.get("wire", []):
        message = step.get("send")
        if isinstance(message, dict) and str(message.get("task", "")).startswith("persistence."):
            options = compact(message.get("options", {})).encode()
            if len(options) < 4000:
                found.append(RECORD_END.join([options, b""] + records))
    return found
