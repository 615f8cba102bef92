#!/usr/bin/python3 -B
"""hostile.py BEHAVIOUR: a plugin process with one kind of fault. README.md lists them."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from typing import Any, NoReturn

from hostile_worker import ACTS, Hostile, at


def crash() -> NoReturn:
    # A real fault in Python has the same effect, except for the core file, which is not needed.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGSEGV, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGSEGV)
    raise AssertionError("it lives")


def hang() -> NoReturn:
    while True:
        signal.pause()


# Crashes


@at("load", "crash-at-load")
def crash_at_load(worker: Hostile, message: Any) -> None:
    os._exit(3)


@at("start", "crash-at-start")
@at("stop", "crash-at-stop")
@at("call", "crash-in-call")
def crash_now(worker: Hostile, message: Any) -> None:
    crash()


@at("call", "exit-in-call")
def exit_in_call(worker: Hostile, message: Any) -> None:
    os._exit(3)


@at("call", "forks-and-exits")
def forks_and_exits(worker: Hostile, message: Any) -> None:
    gone, here = os.pipe()
    if child := os.fork():
        worker.log(f"child {child}")
        # An exit before the child has left the process group would end the child as well.
        os.close(here)
        os.read(gone, 1)
        os._exit(0)
    if (message.get("options") or {}).get("leave"):
        os.setsid()
    os.close(here)
    hang()


# Answers


@at("call", "never-answers")
@at("hello", "never-hello")
@at("call", "ignores-cancel")
@at("cancel", "ignores-cancel")
@at("stop", "ignores-cancel")
@at("stop", "never-stops")
def nothing(worker: Hostile, message: Any) -> None:
    pass


@at("call", "answers-twice")
def answers_twice(worker: Hostile, message: Any) -> None:
    worker.answer(message["callbackId"], "first")
    worker.answer(message["callbackId"], "second")
    worker.fail(message["callbackId"], "third")


@at("call", "answers-unknown")
def answers_unknown(worker: Hostile, message: Any) -> None:
    for call in (0, -1, 2**53, 10**40, "7", "no such call", None):
        worker.answer(call, "nobody asked")
        worker.send({"callbackId": call, "progress": 1})
    worker.answer(message["callbackId"], "asked")


# Hello


@at("hello", "wrong-version")
def wrong_version(worker: Hostile, message: Any) -> None:
    worker.answer(message["callbackId"], {"protocol": {"name": "trestle-plugin", "version": "99.0"}})


@at("hello", "garbage-hello")
def garbage_hello(worker: Hostile, message: Any) -> None:
    worker.answer(message["callbackId"], {
        "version": [], "tasks": [{"name": 7}, "task", {"name": "", "timeout": -1, "options": {"type": 5}}],
        "events": "many", "ping": 0, "sessions": "yes", "launchWorkers": {}, "configuration": [],
    })


@at("hello", "other-name")
def other_name(worker: Hostile, message: Any) -> None:
    worker.answer(message["callbackId"], {"name": "Persistence", "plugin": "Persistence", "version": "1.0.0"})


# Bytes


@at("call", "half-line")
def half_line(worker: Hostile, message: Any) -> None:
    worker.write(b'{"callbackId":%d,"resu' % message["callbackId"])
    hang()


@at("call", "long-line")
def long_line(worker: Hostile, message: Any) -> None:
    worker.write(b'{"callbackId":%d,"result":"' % message["callbackId"])
    for _ in range(1 << 14):
        worker.write(b"x" * (1 << 16))
    worker.write(b'"}\n')


@at("call", "garbage-bytes")
def garbage_bytes(worker: Hostile, message: Any) -> None:
    worker.write(bytes(range(256)) * 16 + b"\n")
    worker.write(b'{"callbackId":\n\xff\xfe\x00{}[]\n')


# Floods and leaks


@at("call", "floods-progress")
def floods_progress(worker: Hostile, message: Any) -> None:
    for number in range(count(message)):
        worker.send({"callbackId": message["callbackId"], "progress": {"number": number, "padding": "x" * 200}})
    worker.answer(message["callbackId"], "flooded")


@at("call", "floods-log")
def floods_log(worker: Hostile, message: Any) -> None:
    for number in range(count(message)):
        worker.log(f"line {number} " + "x" * 200)
    worker.answer(message["callbackId"], "flooded")


@at("call", "floods-output")
def floods_output(worker: Hostile, message: Any) -> None:
    for number in range(count(message)):
        print(f"line {number} " + "x" * 200)
    print("half a line", end="", flush=True)
    worker.answer(message["callbackId"], "flooded")


@at("call", "floods-calls")
def floods_calls(worker: Hostile, message: Any) -> None:
    """Answers with the number of results and of each error code, once all its calls have ended."""
    left = count(message)
    task = (message.get("options") or {}).get("task", "Echo")
    for number in range(left):
        worker.send({"task": task, "callbackId": number, "caller": message["callbackId"]})
    ends: dict[str, int] = {}
    while left:
        answer = json.loads(worker.lines.readline() or "null")
        if answer is None:
            return
        if "task" in answer:
            worker.answer_well(answer)
        elif "callbackId" in answer:
            end = answer.get("error", {}).get("code", "result")
            ends[end] = ends.get(end, 0) + 1
            left -= 1
    worker.answer(message["callbackId"], ends)


@at("call", "leaks-descriptors")
def leaks_descriptors(worker: Hostile, message: Any) -> None:
    opened = 0
    try:
        while opened < 100_000:
            os.open(os.devnull, os.O_RDONLY)
            opened += 1
    except OSError:
        pass
    worker.answer(message["callbackId"], {"opened": opened})


@at("call", "eats-memory")
def eats_memory(worker: Hostile, message: Any) -> None:
    eaten: list[bytes] = []
    # Limits the memory for machines on which nothing else does.
    while len(eaten) < 1024:
        eaten.append(b"x" * (1 << 20))
    worker.answer(message["callbackId"], "eaten a gigabyte: nothing bounds it")


# Silence


@at("call", "stops-reading")
def stops_reading(worker: Hostile, message: Any) -> None:
    worker.answer(message["callbackId"], "the last thing that it read")
    hang()


@at("call", "busy-loop")
def busy_loop(worker: Hostile, message: Any) -> None:
    while True:
        pass


# Correct answers; the manifest is invalid.


@at("call", "takes-echo")
@at("call", "reserved-name")
def takes_echo(worker: Hostile, message: Any) -> None:
    worker.answer_well(message)


def count(message: Any) -> int:
    """Returns the number of repetitions, which the caller may specify."""
    said = (message.get("options") or {}).get("count", 100_000)
    return int(said)


def main() -> None:
    known = {behaviour for _, behaviour in ACTS}
    if len(sys.argv) != 2 or sys.argv[1] not in known:
        sys.exit(f"usage: hostile.py BEHAVIOUR, one of {', '.join(sorted(known))}")
    Hostile(sys.argv[1]).serve()


if __name__ == "__main__":
    main()
