"""Type checks of programs that use the package. Never executed: `mypy --strict` fails if an expectation does not hold,
including an expected error that does not occur."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, TypedDict

import trestle_bridge
from trestle_bridge import Caller, Decision, IncomingCall, InterceptedCall, JSONValue, Plugin, PluginCall, aio

plugin = Plugin()


class Options(TypedDict):
    who: str


@plugin.task("threaded")
def threaded(options: dict[str, Any], call: PluginCall) -> str:
    answer: str = call.call("other")
    return answer


@plugin.task("asynchronous")
async def asynchronous(options: Options, call: aio.PluginCall) -> JSONValue:
    future: Awaitable[Any] = call.call("other")
    return {"a": [1, 2, {"b": await future is None}]}


@plugin.interceptor("threaded", tasks=["greet"], on_failure="pass")
def intercept(asked: InterceptedCall) -> Decision:
    return Decision.answer(asked.proceed())


@plugin.interceptor("asynchronous", tasks=["greet"])
async def intercept_later(asked: aio.InterceptedCall) -> Decision:
    return Decision.answer(await asked.proceed())


@plugin.on_session
def session(change: trestle_bridge.SessionChange, caller: Caller) -> None:
    pass


@plugin.save_sessions
async def save(sessions: list[int]) -> dict[int, JSONValue]:
    return {}


# Decorators preserve the types of functions.
kept: Callable[[dict[str, Any], PluginCall], str] = threaded
kept_later: Callable[[Options, aio.PluginCall], Awaitable[JSONValue]] = asynchronous


@plugin.task("wrong")  # type: ignore[type-var]
def too_few(options: Any) -> None:
    pass


@plugin.on_start  # type: ignore[type-var]
def too_many(options: Any) -> None:
    pass


@plugin.interceptor("wrong", tasks=["greet"])  # type: ignore[type-var]
def no_decision(asked: InterceptedCall) -> int:
    return 1


plugin.task("wrong", timeout="5")  # type: ignore[arg-type]
plugin.log.write("loud", "message")  # type: ignore[arg-type]


def provide(bridge: trestle_bridge.Bridge) -> None:
    def handler(options: Options, call: IncomingCall) -> bool:
        return call.report_progress(options["who"])

    with bridge.register("provided", handler) as registration:
        name: str = registration.task
    options: Options = {"who": name}
    bridge.call("provided", options, retry="unstarted")
    bridge.call("provided", retry="always")  # type: ignore[arg-type]
    bridge.register("provided", handler, scope="world")  # type: ignore[arg-type]


async def provide_later(bridge: aio.Bridge) -> None:
    def handler(options: Any, call: IncomingCall) -> int:
        return 1

    async with await bridge.register("provided", handler):  # type: ignore[arg-type]
        pass
    event: trestle_bridge.Event = await anext(bridge.subscribe("lamp", local=True))
    await bridge.publish(event.name, event.data, retain=True)
