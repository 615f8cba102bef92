"""A plugin with a task for every feature of the package; test_plugin starts it."""

from __future__ import annotations

import asyncio
import logging
import math
import sys
from typing import Any

from trestle_bridge import (
    BridgeError, Caller, Decision, InterceptedCall, Plugin, PluginCall, PluginLogHandler, SessionChange, aio,
)

plugin = Plugin(version="1.2.3")
plugin.event("sample.done", "Something is done.", public=True)
configuration: dict[str, Any] = {}
sessions: list[Any] = []
saved: dict[int, Any] = {}
logger = logging.getLogger("sample")
logger.addHandler(PluginLogHandler(plugin))
logger.setLevel(logging.DEBUG)
logger.propagate = False


@plugin.task(
    "greet", summary="Greets somebody by name.", permission="greeting", timeout=2.5, concurrency=3, private=True,
    public=True, option_permissions={"space": "store"}, max_option_bytes=1000,
    options={"type": "object", "required": ["who"]}, result={"type": "string"},
)
def greet(options: Any, call: PluginCall) -> str:
    return f"Hello, {options['who']}"


@plugin.task("who")
def who(options: Any, call: PluginCall) -> Any:
    """Returns the caller.

    And no more.
    """
    has_deadline = call.deadline is not None and call.time_remaining is not None
    return {"uid": call.caller.uid, "trusted": call.caller.trusted, "pid": call.caller.pid, "deadline": has_deadline}


@plugin.task("seen")
def seen(options: Any, call: PluginCall) -> Any:
    return {"configuration": configuration, "sessions": sessions, "saved": {str(key): saved[key] for key in saved}}


@plugin.task("fail")
def fail(options: Any, call: PluginCall) -> Any:
    if options == "exit":
        sys.exit(3)
    if options == "bridge":
        raise BridgeError("sample.failed", "it failed", {"why": "asked for"}, transient=True, retry_after=0.5)
    raise KeyError("no such thing")


@plugin.task("return")
def give(options: Any, call: PluginCall) -> Any:
    return {"nan": float("nan"), "long": "x" * (1 << 20), "none": None}[options]


@plugin.task("steps")
def steps(options: Any, call: PluginCall) -> list[bool]:
    return [call.report_progress(step) for step in range(options)]


@plugin.task("wait", timeout=math.inf)
def wait(options: Any, call: PluginCall) -> str:
    call.report_progress("waiting")
    call.wait_cancelled()
    call.log.info("nobody waits")
    call.check_cancelled()
    return "never"


@plugin.task("both")
def both(options: Any, call: PluginCall) -> Any:
    return [call.call("other", options, timeout=1.5), plugin.call("other", session=9, timeout=math.inf)]


@plugin.task("both.submitted")
def both_submitted(options: Any, call: PluginCall) -> Any:
    return [future.result() for future in (call.submit("other", 1), plugin.submit("other", 2))]


@plugin.task("both.async")
async def both_async(options: Any, call: aio.PluginCall) -> Any:
    first, second = await asyncio.gather(call.call("other", 1), call.call("other", 2))
    return [first, second]


@plugin.task("fail.async")
async def fail_async(options: Any, call: aio.PluginCall) -> Any:
    async def leave() -> None:
        sys.exit(4)

    if options == "within":
        await asyncio.create_task(leave())
    if options == "waits":
        plugin.call("other")
    sys.exit(3)


@plugin.task("wait.async")
async def wait_async(options: Any, call: aio.PluginCall) -> Any:
    call.report_progress("waiting")
    try:
        return await call.call("other")
    finally:
        plugin.publish("sample.done", {"cleaned": "up"}, to=[1, 2], direct=True)


@plugin.task("keep")
def keep(options: Any, call: PluginCall) -> None:
    plugin.publish("sample.done", options, retain=True)
    plugin.forget("sample.done")
    try:
        plugin.publish("sample.done", 1, retain=True, to=[1])
    except ValueError as error:
        plugin.log.notice(str(error))


@plugin.task("send")
def send(options: Any, call: PluginCall) -> None:
    plugin.publish("sample.done", 1)
    plugin.log.warning("a line\udcff")
    plugin.metric("things", 4, kind="counter", help="Things.")
    plugin.notify("other", {"a": 1})
    print("printed")
    try:
        plugin.publish("sample.done", "x" * (1 << 20))
    except BridgeError as error:
        plugin.log.notice(error.code)


@plugin.task("log")
def log(options: Any, call: PluginCall) -> None:
    logger.debug("a %s", "detail")
    logger.info("normal", extra={"call": call})
    logger.log(25, "noticed")
    logger.critical("at an end")
    try:
        raise KeyError("cause")
    except KeyError:
        logger.exception("failed")


@plugin.task("flood")
def flood(options: Any, call: PluginCall) -> int:
    refused = 0
    while not refused:
        try:
            plugin.publish("sample.done", "x" * 100_000)
        except BridgeError as error:
            refused += error.code == "busy"
    print("full")
    return refused


def check(section: Any) -> None:
    if "bad" in section:
        raise BridgeError("configuration.invalid", "bad is not good", {"path": "bad"})


@plugin.configuration({"type": "object"}, reloadable=True, check=check)
def configure(section: Any) -> None:
    configuration.update(section)


@plugin.on_start
def start() -> None:
    configuration["state"] = str(plugin.state_directory)
    configuration["arguments"] = list(plugin.launch.arguments)


@plugin.launch_worker("warm", after=["store"], required=True)
async def warm() -> None:
    configuration["launched"] = [str(plugin.state_directory), dict(plugin.launch.environment)]


@plugin.on_session
def session(change: SessionChange, caller: Caller) -> None:
    sessions.append([change, caller.session])
    plugin.log.notice(f"session {change}")


@plugin.save_sessions
def save(numbers: list[int]) -> dict[int, Any]:
    return {number: {"known": number} for number in numbers if number != 3}


@plugin.restore_sessions
async def restore(states: dict[int, Any]) -> list[int]:
    saved.update(states)
    return [number for number in states if number == 2]


@plugin.on_clean
def clean() -> None:
    configuration.clear()


@plugin.on_stop
def stop() -> None:
    print("stopping")


@plugin.interceptor("look", tasks=["greet", "se*"], summary="Looks.", on_failure="pass")
def look(asked: InterceptedCall) -> Decision:
    options = asked.options
    if options == "rewrite":
        has_deadline = asked.deadline is not None and asked.time_remaining is not None
        return Decision.rewrite([asked.task, asked.session, asked.one_way, asked.caller.uid, has_deadline])
    if options == "redirect":
        return Decision.redirect("other")
    if options == "redirect with":
        return Decision.redirect("other", None)
    if options == "answer":
        return Decision.answer({"a": 1})
    if options == "refuse":
        raise BridgeError("plugin.unavailable", "meant so", transient=True)
    if options == "fail":
        raise KeyError("look")
    if options == "nothing":
        return None  # type: ignore[return-value]
    if options == "proceed":
        asked.call.report_progress("on the way")
        return Decision.answer([asked.proceed()])
    return Decision.PASS


@plugin.interceptor("late", tasks=lambda: configuration.get("late", []))
async def late(asked: aio.InterceptedCall) -> Decision:
    """Is for tasks that its configuration names."""
    if asked.options == "refuse":
        raise BridgeError("late.refused", "no")
    return Decision.answer(await asked.proceed())


if __name__ == "__main__":
    plugin.run()
