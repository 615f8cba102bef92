"""The forms of messages that clients may use, as described in docs/protocol.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Optional
from urllib.parse import urlencode

NATIVE, WEBVIEW, JSONRPC, URL, FUNCTION, CAPACITOR = "native", "webview", "jsonrpc", "url", "function", "capacitor"

Kind = Literal["callback", "progress", "event", "call", "cancel", "unknown"]


@dataclass(frozen=True)
class Incoming:
    """A message of the daemon, in any dialect."""

    kind: Kind
    dialect: str = NATIVE
    id: Any = None
    body: Any = None
    """A result, an error, progress, or an event's data; for a call the whole message."""
    failed: bool = False
    sequence: Optional[int] = None
    name: str = ""
    """The name of an event."""

    @property
    def code(self) -> str:
        """The error's code in the native dialect."""
        if not isinstance(self.body, dict):
            return "?"
        data = self.body.get("data")
        if self.dialect == JSONRPC:
            return str(data["code"]) if isinstance(data, dict) and "code" in data else str(self.body.get("code"))
        return str(self.body.get("code"))

    @property
    def started(self) -> Optional[bool]:
        """Whether a call that failed may have had its effect; None if the error does not specify it."""
        data = self.body.get("data") if isinstance(self.body, dict) else None
        if self.dialect == JSONRPC and isinstance(data, dict) and isinstance(data.get("data"), dict):
            data = data["data"]
        return data.get("started") if isinstance(data, dict) else None


def can_name(dialect: str, task: str, options: Any) -> bool:
    """Whether the dialect can express a call."""
    if dialect == CAPACITOR:
        return "." in task
    if dialect == URL:
        return isinstance(options, dict) and all(isinstance(value, str) for value in options.values())
    return dialect in (NATIVE, WEBVIEW) or isinstance(options, dict)


def id_in(dialect: str, number: int) -> Any:
    """Returns an id as clients of this dialect write it."""
    return str(number) if dialect in (WEBVIEW, CAPACITOR) else number


def call(dialect: str, number: Optional[int], task: str, options: Any, **fields: Any) -> dict[str, Any]:
    """Returns a call; without a number a one-way call."""
    message: dict[str, Any] = {}
    if dialect == JSONRPC:
        message = {"jsonrpc": "2.0", "method": task, "params": options}
    elif dialect == WEBVIEW:
        message = {"handlerName": task, "data": options}
    elif dialect == URL:
        message = {"url": f"jxaction://{task.replace('.', '/')}?{urlencode(options)}"}
    elif dialect == FUNCTION:
        message = {"funName": task, "value": options}
    elif dialect == CAPACITOR:
        plugin, _, method = task.rpartition(".")
        message = {"pluginId": plugin, "methodName": method, "options": options}
    else:
        message = {"task": task, "options": options}
    if number is not None:
        message["id" if dialect == JSONRPC else "callbackId"] = id_in(dialect, number)
    elif dialect == CAPACITOR:
        message["callbackId"] = "-1"
    message.update(fields)
    return message


def cancel(dialect: str, number: int) -> Optional[dict[str, Any]]:
    """Returns the message that cancels a call; None if the dialect has only the task bridge.cancel for that."""
    if dialect == NATIVE:
        return {"cancel": number}
    if dialect == JSONRPC:
        return {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": number}}
    return None


def read(message: Any) -> Incoming:
    """Parses a message of the daemon; `unknown` if it has no form that the protocol defines."""
    if not isinstance(message, dict):
        return Incoming("unknown", body=message)
    if "jsonrpc" in message:
        return _read_jsonrpc(message)
    if "responseId" in message:
        return _read_webview(message)
    if "methodName" in message:
        good = message.get("success") is True
        kind: Kind = "progress" if message.get("save") is True else "callback"
        return Incoming(kind, CAPACITOR, message.get("callbackId"), message.get("data" if good else "error"), not good)
    if "task" in message or "handlerName" in message:
        return Incoming("call", id=message.get("callbackId"), body=message)
    if "event" in message:
        return Incoming("event", name=str(message["event"]), body=message.get("data"))
    if "cancel" in message:
        return Incoming("cancel", id=message["cancel"])
    if "callbackId" not in message:
        return Incoming("unknown", body=message)
    if "progress" in message:
        sequence = message.get("sequence")
        return Incoming("progress", NATIVE, message["callbackId"], message["progress"], sequence=sequence)
    if ("result" in message) == ("error" in message):
        return Incoming("unknown", body=message)
    failed = "error" in message
    return Incoming("callback", NATIVE, message["callbackId"], message["error" if failed else "result"], failed)


def _read_jsonrpc(message: dict[str, Any]) -> Incoming:
    method = message.get("method")
    if method == "$/progress":
        data = message["params"]
        return Incoming("progress", JSONRPC, data["id"], data["progress"], sequence=data.get("sequence"))
    if method is not None:
        return Incoming("event", JSONRPC, name=str(method), body=message.get("params"))
    if ("result" in message) == ("error" in message):
        return Incoming("unknown", body=message)
    failed = "error" in message
    return Incoming("callback", JSONRPC, message.get("id"), message["error" if failed else "result"], failed)


def _read_webview(message: dict[str, Any]) -> Incoming:
    if "progress" in message:
        sequence = message.get("sequence")
        return Incoming("progress", WEBVIEW, message["responseId"], message["progress"], sequence=sequence)
    if "responseData" not in message:
        return Incoming("unknown", body=message)
    data = message["responseData"]
    # A response that is `{"error": …}` and nothing else.
    failed = isinstance(data, dict) and set(data) == {"error"} and isinstance(data["error"], dict)
    return Incoming("callback", WEBVIEW, message["responseId"], data["error"] if failed else data, failed)
