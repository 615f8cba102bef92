"""A worker with a task for everything that the package does; test_worker starts it."""

from __future__ import annotations

import asyncio
import math
import sys
from typing import Any

from trestle_bridge import BridgeError, worker
from trestle_bridge.worker import InterceptedCall, WorkerCall

worker.version("1.2.3")
worker.event("sample.done", "Something is done.", open=True)
configuration: dict[str, Any] = {}
sessions: list[Any] = []


@worker.task(
    "greet", summary="Greets somebody by name.", permission="greeting", timeout=2.5, concurrency=3, private=True,
    open=True, option_verbs={"space": "store"},
    options={"type": "object", "required": ["who"]}, result={"type": "string"},
)
def greet(options: Any, call: WorkerCall) -> str:
    return f"Hello, {options['who']}"


@worker.task("who")
def who(options: Any, call: WorkerCall) -> Any:
    """Tells who calls.

    And no more.
    """
    has_deadline = call.deadline is not None
    return {"uid": call.caller.uid, "trusted": call.caller.trusted, "pid": call.caller.pid, "deadline": has_deadline}


@worker.task("seen")
def seen(options: Any, call: WorkerCall) -> Any:
    return {"configuration": configuration, "sessions": sessions}


@worker.task("fail")
def fail(options: Any, call: WorkerCall) -> Any:
    if options == "exit":
        sys.exit(3)
    if options == "bridge":
        raise BridgeError("sample.failed", "It failed.", {"why": "asked for"}, transient=True, retry_after=0.5)
    raise KeyError("no such thing")


@worker.task("return")
def give(options: Any, call: WorkerCall) -> Any:
    return {"nan": float("nan"), "long": "x" * (1 << 20), "none": None}[options]


@worker.task("steps")
def steps(options: Any, call: WorkerCall) -> int:
    for step in range(options):
        call.progress(step)
    return int(options)


@worker.task("wait", timeout=math.inf)
def wait(options: Any, call: WorkerCall) -> str:
    call.progress("waiting")
    call.wait_cancelled()
    worker.log("nobody waits", "info", call)
    call.check_cancelled()
    return "never"


@worker.task("both")
def both(options: Any, call: WorkerCall) -> Any:
    return [call.bridge("other", options, timeout=1.5), worker.bridge("other", session=9)]


@worker.task("both.async")
async def both_async(options: Any, call: WorkerCall) -> Any:
    first, second = await asyncio.gather(call.bridge_async("other", 1), call.bridge_async("other", 2))
    return [first, second]


@worker.task("fail.async")
async def fail_async(options: Any, call: WorkerCall) -> Any:
    async def leave() -> None:
        sys.exit(4)

    if options == "within":
        await asyncio.create_task(leave())
    sys.exit(3)


@worker.task("wait.async")
async def wait_async(options: Any, call: WorkerCall) -> Any:
    call.progress("waiting")
    try:
        return await call.bridge_async("other")
    finally:
        worker.publish("sample.done", {"cleaned": "up"}, sessions=[1, 2], unasked=True)


@worker.task("tell")
def tell(options: Any, call: WorkerCall) -> None:
    worker.publish("sample.done", 1)
    worker.log("a line\udcff", "warning")
    worker.metric("things", 4, kind="counter", help="Things.")
    print("printed")
    try:
        worker.publish("sample.done", "x" * (1 << 20))
    except BridgeError as error:
        worker.log(error.code)


@worker.task("flood")
def flood(options: Any, call: WorkerCall) -> int:
    refused = 0
    while not refused:
        try:
            worker.publish("sample.done", "x" * 100_000)
        except BridgeError as error:
            refused += error.code == "busy"
    print("full")
    return refused


@worker.configure({"type": "object"}, reconfigurable=True)
def configure(options: Any, call: WorkerCall) -> None:
    if "bad" in options:
        raise BridgeError("configuration.invalid", "bad is not good", {"path": "bad"})
    configuration.update(options)


@worker.start
def start(options: Any, call: WorkerCall) -> None:
    configuration["state"] = options["stateDirectory"]


@worker.launch("warm", after=["store"], required=True)
def warm(options: Any, call: WorkerCall) -> None:
    configuration["launched"] = options["worker"]


@worker.session
def session(change: Any) -> None:
    sessions.append(change["change"])
    worker.log(f"session {change['change']}")


@worker.stop
def stop(options: Any, call: WorkerCall) -> None:
    print("stopping")


@worker.interceptor("look", tasks=["greet", "se*"], summary="Looks.", failure="pass")
def look(call: InterceptedCall) -> worker.Decision:
    said = call.options
    if said == "rewrite":
        return worker.rewrite([call.task, call.session, call.one_way, call.caller.uid, call.deadline is not None])
    if said == "redirect":
        return worker.redirect("other")
    if said == "redirect with":
        return worker.redirect("other", None)
    if said == "answer":
        return worker.answer({"a": 1})
    if said == "refuse":
        raise BridgeError("plugin.unavailable", "Meant so.", transient=True)
    if said == "fail":
        raise KeyError("look")
    if said == "nothing":
        return None  # type: ignore[return-value]
    if said == "proceed":
        call.question.progress("on the way")
        return worker.answer([call.proceed()])
    return worker.PASS


@worker.interceptor("late", tasks=lambda: configuration.get("late", []))
async def late(call: InterceptedCall) -> worker.Decision:
    """Is for tasks that its configuration names."""
    if call.options == "refuse":
        raise BridgeError("late.refused", "No.")
    return worker.answer(await call.proceed_async())


worker.run()
