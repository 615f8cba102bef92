"""Runs the conformance vectors: JSON files that specify, step by step, the actions and results of a client library.

A vector's steps run in order on one fresh client. `FACES` are the synchronous and the asyncio interface of this library
behind one common interface.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, Optional, Protocol

import trestle_bridge
from trestle_bridge import BridgeError, aio

from .support import TEST_TIMEOUT

REST = "…"

Progress = Optional[list[Any]]


class Unequal(AssertionError):
    """A value does not match its pattern."""


class Names:
    """The values of the names `<name>` that the vector has used so far."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}

    def match(self, pattern: Any, value: Any, path: str = "$") -> None:
        """Compares a value with a pattern. Raises Unequal with the place."""
        if _is_name(pattern):
            if pattern in self._values:
                self.match_literally(self._values[pattern], value, path)
            self._values[pattern] = value
        elif isinstance(pattern, dict) and isinstance(value, dict):
            self._match_object(pattern, value, path)
        elif isinstance(pattern, list) and isinstance(value, list):
            is_open = pattern[-1:] == [REST]
            items = pattern[:-1] if is_open else pattern
            if len(value) < len(items) or (len(value) > len(items) and not is_open):
                raise Unequal(f"at {path}: {len(items)} items were expected, not {value!r}")
            for index, item in enumerate(items):
                self.match(item, value[index], f"{path}[{index}]")
        else:
            self.match_literally(pattern, value, path)

    def _match_object(self, pattern: dict[str, Any], value: dict[str, Any], path: str) -> None:
        members = {name: item for name, item in pattern.items() if name != REST}
        if missing := members.keys() - value.keys():
            raise Unequal(f"at {path}: {sorted(missing)} are missing in {value!r}")
        if REST not in pattern and (more := value.keys() - members.keys()):
            raise Unequal(f"at {path}: {sorted(more)} were not expected in {value!r}")
        for name, item in members.items():
            self.match(item, value[name], f"{path}.{name}")

    @staticmethod
    def match_literally(expected: Any, value: Any, path: str) -> None:
        """Compares as JSON does, where true is not 1; 1 and 1.0 are the same number."""
        if isinstance(expected, bool) != isinstance(value, bool) or expected != value:
            raise Unequal(f"{path}: expected {expected!r}; got {value!r}")

    def fill(self, options: Any) -> Any:
        """Returns options in which known names are replaced by their values."""
        if _is_name(options):
            return self._values.get(options, options)
        if isinstance(options, dict):
            return {name: self.fill(item) for name, item in options.items()}
        if isinstance(options, list):
            return [self.fill(item) for item in options]
        return options


def _is_name(pattern: Any) -> bool:
    return isinstance(pattern, str) and len(pattern) > 2 and pattern[0] == "<" and pattern[-1] == ">"


class Face(Protocol):
    """The functions of a client that the steps use."""

    async def open(self, path: str) -> None:
        """Connects."""

    async def close(self) -> None:
        """Ends the client."""

    async def call(self, task: str, timeout: Optional[float], progress: Progress, options: list[Any]) -> Any:
        """Calls with one option value, or none, and appends intermediate results to `progress`, if any."""

    async def subscribe(self, patterns: list[str]) -> None:
        """Subscribes to events."""

    async def event(self) -> trestle_bridge.Event:
        """Returns the next event."""

    async def register(self, task: str, answer: dict[str, Any]) -> None:
        """Provides a task with this answer."""

    async def unregister(self, task: str) -> None:
        """Ends the registration of a task."""


def _answer(answer: dict[str, Any], options: Any, call: trestle_bridge.IncomingCall) -> Any:
    for value in answer.get("progress", []):
        call.report_progress(value)
    if "error" in answer:
        raise BridgeError.from_json(answer["error"])
    return options if answer.get("echo") else answer["result"]


class SyncFace:
    """The synchronous interface."""

    async def open(self, path: str) -> None:
        self._bridge = trestle_bridge.connect(path, reconnect=False)
        self._events = self._bridge.subscribe("*", local=True)
        self._registrations: dict[str, trestle_bridge.Registration] = {}

    async def close(self) -> None:
        self._bridge.close()

    async def call(self, task: str, timeout: Optional[float], progress: Progress, options: list[Any]) -> Any:
        on_progress = None if progress is None else progress.append
        return self._bridge.call(task, *options, timeout=timeout, on_progress=on_progress)

    async def subscribe(self, patterns: list[str]) -> None:
        self._bridge.subscribe(*patterns)

    async def event(self) -> trestle_bridge.Event:
        return self._events.get(TEST_TIMEOUT)

    async def register(self, task: str, answer: dict[str, Any]) -> None:
        def handler(options: Any, call: trestle_bridge.IncomingCall) -> Any:
            if not answer.get("never"):
                return _answer(answer, options, call)
            call.wait_cancelled()
            return None

        self._registrations[task] = self._bridge.register(task, handler)

    async def unregister(self, task: str) -> None:
        self._registrations[task].close()


class AsyncFace:
    """The asyncio interface."""

    async def open(self, path: str) -> None:
        self._bridge = await aio.connect(path, reconnect=False)
        self._events = self._bridge.subscribe("*", local=True)
        self._registrations: dict[str, aio.Registration] = {}

    async def close(self) -> None:
        await self._bridge.close()

    async def call(self, task: str, timeout: Optional[float], progress: Progress, options: list[Any]) -> Any:
        on_progress = None if progress is None else progress.append
        return await self._bridge.call(task, *options, timeout=timeout, on_progress=on_progress)

    async def subscribe(self, patterns: list[str]) -> None:
        await self._bridge.subscribe(*patterns)

    async def event(self) -> trestle_bridge.Event:
        return await asyncio.wait_for(anext(self._events), TEST_TIMEOUT)

    async def register(self, task: str, answer: dict[str, Any]) -> None:
        async def handler(options: Any, call: trestle_bridge.IncomingCall) -> Any:
            if not answer.get("never"):
                return _answer(answer, options, call)
            await asyncio.Event().wait()  # Until the task is cancelled.

        self._registrations[task] = await self._bridge.register(task, handler)

    async def unregister(self, task: str) -> None:
        await self._registrations[task].close()


FACES: dict[str, type[Face]] = {"sync": SyncFace, "asyncio": AsyncFace}


class MissingTasks(Exception):
    """The daemon does not have the tasks that the vector needs."""


def load(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    """Returns the vectors of a folder that have steps for clients, by file name."""
    vectors = []
    for path in sorted(folder.glob("*.json")):
        vector = json.loads(path.read_text("utf-8"))
        if "client" in vector:
            vectors.append((path.name, vector))
    return vectors


async def run(vector: dict[str, Any], face: Face, path: str) -> None:
    """Runs one vector on a fresh client.

    Raises:
        Unequal: a step had another result.
        MissingTasks: the vector cannot run with this daemon.
    """
    asyncio.get_running_loop().slow_callback_duration = TEST_TIMEOUT
    await face.open(path)
    try:
        listed = await face.call("bridge.tasks", TEST_TIMEOUT, None, [])
        if missing := set(vector.get("needs", [])) - {task["name"] for task in listed["tasks"]}:
            raise MissingTasks(f"{sorted(missing)} are not there")
        names = Names()
        for number, step in enumerate(vector["client"]):
            try:
                await _run_step(step, face, names)
            except (Unequal, BridgeError) as error:
                raise Unequal(f"step {number}, {json.dumps(step, ensure_ascii=False)}: {error}") from error
    finally:
        await face.close()


async def _run_step(step: dict[str, Any], face: Face, names: Names) -> None:
    if "call" in step:
        await _run_call(step, face, names)
    elif "subscribe" in step:
        await face.subscribe(names.fill(step["subscribe"]))
    elif "event" in step:
        event = await face.event()
        names.match(step["event"], {"event": event.name, "data": event.data})
    elif "register" in step:
        await face.register(step["register"], names.fill(step["answer"]))
    elif "unregister" in step:
        await face.unregister(step["unregister"])
    else:
        raise Unequal("a step of no known kind")


async def _run_call(step: dict[str, Any], face: Face, names: Names) -> None:
    options = [names.fill(step["options"])] if "options" in step else []
    timeout = step["timeoutMs"] / 1000 if "timeoutMs" in step else None
    progress: Progress = [] if "progress" in step else None
    try:
        result = await face.call(step["call"], timeout, progress, options)
    except BridgeError as error:
        if "error" not in step:
            raise
        names.match(step["error"], error.to_json())
    else:
        if "error" in step:
            raise Unequal(f"expected an error; got the result {result!r}")
        names.match(step.get("result", "<>"), result)
    if progress is not None:
        names.match(step["progress"], progress, "$progress")
