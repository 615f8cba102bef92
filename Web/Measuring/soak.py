#!/usr/bin/env python3
"""soak.py [--time 10m] [--seed N]: pages that call constantly, while they are reloaded, navigated, hidden, killed.

The status is 0 if each call had one callback, no callback reached another document, memory and descriptors of the
container stayed within limits, and no session of an old document remained. Long turns of the main loop are printed.
"""

import argparse
import os
import queue
import random
import signal
import sys
import time

from rig import LIMIT, Bridge, Rig, is_connected, memory, stolen_time, web_processes

MORE_MEGABYTES = 48
"""The megabytes by which the container's memory may grow after the first quarter of the run."""
MORE_DESCRIPTORS = 24
PAGES = 3
UNITS = {"s": 1, "m": 60, "h": 3600}


class Soak:
    def __init__(self, rig, seed):
        self.rig = rig
        self.random = random.Random(seed)
        self.container = rig.show_pages(f"{rig.server.origins[0]}/soak.html")
        self.documents = {}
        self.actions = {}
        self.faults = []
        self.await_document()
        self.bridge = Bridge(rig.socket)
        # The tasks are registered by the first call of a page, or soon after.
        while "error" in self.bridge.call("web.views"):
            time.sleep(0.1)
        for _ in range(PAGES - 1):
            self.bridge.call("web.open", {"uri": self.address(), "wait": "finished"})

    def address(self):
        return f"{self.random.choice(self.rig.server.origins)}/soak.html?{self.random.random()}"

    def take(self, counts):
        self.documents[counts["name"]] = counts
        if counts["twice"] or counts["foreign"]:
            self.faults.append(f"a document has {counts['twice']} second and {counts['foreign']} foreign callbacks")

    def await_document(self):
        """Waits until a new document reports."""
        known = len(self.documents)
        while len(self.documents) == known:
            self.take(self.rig.server.reports.get(timeout=LIMIT))

    def read_reports(self):
        while True:
            try:
                self.take(self.rig.server.reports.get_nowait())
            except queue.Empty:
                return

    def act(self):
        """Causes one fault or ordinary event."""
        views = [view["view"] for view in self.bridge.result("web.views")["views"]]
        view = self.random.choice(views)
        kind = self.random.choices(
            ["reload", "navigate", "back", "kill", "hide", "evaluate", "close"], [4, 6, 2, 2, 2, 3, 1])[0]
        self.actions[kind] = self.actions.get(kind, 0) + 1
        if kind == "reload":
            self.bridge.call("web.reload", {"view": view, "wait": "finished"})
        elif kind == "navigate":
            self.bridge.call("web.navigate", {"view": view, "uri": self.address(), "wait": "finished"})
        elif kind == "back":
            self.bridge.call("web.back", {"view": view})
        elif kind == "kill":
            processes = [process for process in web_processes(self.container.pid) if is_connected(process)]
            for process in self.random.sample(processes, min(1, len(processes))):
                os.kill(process, signal.SIGKILL)
        elif kind == "hide":
            for visible in (False, True):
                self.bridge.call("web.window.set", {"view": view, "visible": visible})
        elif kind == "evaluate":
            self.bridge.call("web.evaluate", {"view": view, "script": "return document.title"})
        elif kind == "close":
            # If a page's process is killed meanwhile, the page is not opened.
            if "result" in self.bridge.call("web.open", {"uri": self.address(), "wait": "committed"}):
                self.bridge.call("web.close", {"view": view})

    def measure(self):
        return memory(self.container.pid), len(os.listdir(f"/proc/{self.container.pid}/fd"))

    def sessions(self):
        """Returns the number of sessions that represent an origin."""
        sessions = self.bridge.result("bridge.sessions")["sessions"]
        return sum(session.get("origin", "local") != "local" for session in sessions)

    def run(self, seconds):
        try:
            self.act_for(seconds)
        except RuntimeError as error:
            self.faults.append(str(error))
        if self.faults or self.container.poll() is not None:
            self.faults.append(f"status of the container: {self.container.poll()}\n{self.rig.last_lines()}")

    def act_for(self, seconds):
        begin = time.monotonic()
        stolen = stolen_time()
        early = None
        while (passed := time.monotonic() - begin) < seconds:
            self.act()
            self.read_reports()
            if self.container.poll() is not None:
                raise RuntimeError("the container has ended")
            if early is None and passed > seconds / 4:
                early = self.measure()
        # The CPU time of a turn includes the time that the host takes meanwhile.
        print(f"the host took {stolen_time() - stolen:.1f} s of the processors' time")
        self.check(early or self.measure())

    def check(self, early):
        late = self.measure()
        print(f"memory {early[0]:.1f} to {late[0]:.1f} MiB, descriptors {early[1]} to {late[1]}")
        turns = self.bridge.result("web.pool")["longTurns"]
        own = turns["longestOwnUs"] / 1000
        print(f"{turns['count']} long turns of the main loop, of {turns['longestUs'] / 1000:.1f} ms at most; "
              f"the container's own code took {own:.1f} ms at most")
        for work, count in sorted(turns["work"].items(), key=lambda entry: -entry[1]):
            print(f"  {count} of {work}")
        if late[0] > early[0] + MORE_MEGABYTES:
            self.faults.append("the container's memory has grown")
        if late[1] > early[1] + MORE_DESCRIPTORS:
            self.faults.append("the container's descriptors have become more")
        views = len(self.bridge.result("web.views")["views"])
        # A document that is being replaced has a session until its connection has been read to its end.
        end = time.monotonic() + LIMIT
        while (sessions := self.sessions()) > views and time.monotonic() < end:
            self.read_reports()
        if sessions > views:
            self.faults.append(f"{views} pages have {sessions} sessions")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--time", default="10m")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with Rig() as rig:
        soak = Soak(rig, options.seed)
        soak.run(float(options.time[:-1]) * UNITS[options.time[-1]])
    total = {key: sum(counts[key] for counts in soak.documents.values()) for key in ["answered", "failed"]}
    print(f"{len(soak.documents)} documents, {total['answered']} calls answered, {total['failed']} failed")
    print(", ".join(f"{kind} {count}" for kind, count in sorted(soak.actions.items())))
    for fault in soak.faults:
        print(f"soak: {fault}", file=sys.stderr)
    sys.exit(bool(soak.faults) or not total["answered"])


main()
