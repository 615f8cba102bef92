"""Long turns of the main loop: during calls of pages, during reloads, and after crashes."""

import os
import signal
import time
from collections import Counter

from container import Container
from rig import is_connected, web_processes

PAGES = 2
CALLS = 2000
RELOADS = 20
CRASHES = 2


class Turns:
    def __init__(self, rig, figures):
        self.rig = rig
        self.figures = figures
        # The number of long turns by the work that took most of their time.
        self.works = Counter()

    @property
    def notes(self):
        works = ", ".join(f"{name} {count}" for name, count in self.works.items()) or "none"
        return ["A long turn is one of more than 16 ms of CPU time of the main thread.", f"Most of each took: {works}."]

    def round(self):
        container = Container(self.rig, "turns")
        self.measure(container, f"while {PAGES} pages call", self.call)
        self.measure(container, f"in {RELOADS} reloads", self.reload)
        self.measure(container, f"after {CRASHES} crashes", self.crash)
        longest = container.bridge.result("web.pool")["longTurns"]["longestUs"] / 1000
        self.figures.add("trestle-web: longest turn of the main loop, from its start, ms", [longest])
        container.end()

    def measure(self, container, when, act):
        """Counts the long turns during an action on a shown page."""
        uri = f"{self.rig.server.origins[0]}/load.html"
        for _ in range(PAGES):
            container.open(uri)
        # The pages are painted meanwhile; no event reports the end of it.
        time.sleep(1)
        before = self.long_turns(container)
        act(container)
        after = self.long_turns(container)
        self.figures.add(f"trestle-web: long turns of the main loop {when}", [after["count"] - before["count"]])
        self.works.update(Counter(after["work"]) - Counter(before["work"]))
        for _ in range(PAGES):
            container.close_last()

    @staticmethod
    def long_turns(container):
        return container.bridge.result("web.pool")["longTurns"]

    def call(self, container):
        for view in container.views:
            uri = f"{self.rig.server.origins[0]}/bench.html?calls={CALLS}"
            container.bridge.result("web.navigate", {"view": view, "uri": uri})
        for _ in container.views:
            self.rig.await_report(container.process)

    def reload(self, container):
        for _ in range(RELOADS):
            container.bridge.result("web.reload", {"view": container.views[0], "wait": "finished"})

    def crash(self, container):
        uri = f"{self.rig.server.origins[0]}/load.html?report"
        container.bridge.result("web.navigate", {"view": container.views[0], "uri": uri, "wait": "finished"})
        self.rig.await_report(container.process)
        for _ in range(CRASHES):
            for process in web_processes(container.pid):
                if is_connected(process):
                    os.kill(process, signal.SIGKILL)
            self.rig.await_report(container.process)
