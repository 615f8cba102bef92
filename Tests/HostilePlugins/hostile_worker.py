"""The base of hostile.py: a correct plugin process, with the moments at which a behaviour replaces the correct act.

It implements the protocol itself, so that no library corrects its faults.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from typing import Any, Callable

Act = Callable[["Hostile", Any], None]
ACTS: dict[tuple[str, str], Act] = {}
"""What a behaviour does instead of what is right, by the moment and its name."""

MOMENTS = {"plugin.hello": "hello", "plugin.start": "start", "plugin.stop": "stop"}


def at(moment: str, behaviour: str) -> Callable[[Act], Act]:
    """Declares the act of a behaviour at a moment: `load`, `hello`, `start`, `stop`, `call` or `cancel`."""
    def declare(act: Act) -> Act:
        ACTS[moment, behaviour] = act
        return act

    return declare


class Hostile:
    """A plugin process that is correct unless its behaviour declares another act."""

    def __init__(self, behaviour: str) -> None:
        self.behaviour = behaviour
        self.socket = socket.socket(fileno=int(os.environ["TRESTLE_PLUGIN_FD"]))
        self.lines = self.socket.makefile("rb")
        self.name = f"hostile.{behaviour}"
        self.open: set[Any] = set()
        """The calls that have no answer yet: what is cancelled later than that needs none."""

    def serve(self) -> None:
        """Handles messages until the daemon closes the socket, or until `plugin.stop`."""
        self.act("load", None)
        for line in self.lines:
            message = json.loads(line)
            if "task" in message and message.get("callbackId") is not None:
                self.open.add(message["callbackId"])
            if "cancel" in message:
                if not self.act("cancel", message) and message["cancel"] in self.open:
                    self.fail(message["cancel"], "call.cancelled")
            elif "task" in message and not self.act(self.moment(message), message):
                self.answer_well(message)

    def moment(self, message: Any) -> str:
        task = message["task"]
        return "call" if task == self.name else MOMENTS.get(task, "other")

    def act(self, moment: str, message: Any) -> bool:
        """Performs the act of the behaviour at this moment; returns whether there is one."""
        act = ACTS.get((moment, self.behaviour))
        if act is not None:
            act(self, message)
        return act is not None

    def answer_well(self, message: Any) -> None:
        """Answers correctly."""
        task, call = message["task"], message.get("callbackId")
        if task == self.name + ".good" or task == self.name or task == "Echo":
            self.answer(call, message.get("options"))
        elif task == "plugin.hello":
            # The daemon pings at any time, so that it detects a hang.
            self.answer(call, {"version": "1.0.0", "ping": "always"})
        elif task in ("plugin.ping", "plugin.start", "plugin.stop"):
            self.answer(call, {})
            if task == "plugin.stop":
                sys.exit(0)
        else:
            self.fail(call, "task.not_found")

    def send(self, message: Any) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def write(self, data: bytes) -> None:
        self.socket.sendall(data)

    def answer(self, call: Any, result: Any) -> None:
        self.open.discard(call)
        self.send({"callbackId": call, "result": result})

    def fail(self, call: Any, code: str) -> None:
        self.open.discard(call)
        self.send({"callbackId": call, "error": {"code": code, "message": "said a bad worker"}})

    def log(self, message: str) -> None:
        self.send({"task": "plugin.log", "options": {"level": "notice", "message": message}})
