"""Loads of pages: of packages in warm and cold views, of pages with and without the bridge, and after a crash."""

import os
import signal
import time

from bare import Bare
from container import Container
from rig import is_connected, processor_time, web_processes

OPENS = 3
RELOADS = 10
RELOAD_TURNS = 5
CRASHES = 2


def milliseconds(body):
    begin = time.perf_counter()
    body()
    return 1000 * (time.perf_counter() - begin)


class Loads:
    notes = []

    def __init__(self, rig, figures):
        self.rig = rig
        self.figures = figures

    def round(self):
        self.load_bare()
        for kind, warm in [("cold", 0), ("warm", 1)]:
            container = Container(self.rig, kind, warm=warm)
            self.load_packages(container, kind, warm)
            if not warm:
                self.reload(container)
            container.end()
        self.crash()

    def load_bare(self):
        bare = Bare(self.rig, "bare://page/")
        bare.await_load()
        for _ in range(OPENS):
            self.figures.add("bare: load in a cold view, ms", [milliseconds(lambda: bare.ask("open bare://page/"))])
            bare.ask("prepare")
            self.figures.add("bare: load in a warm view, ms", [milliseconds(lambda: bare.ask("load bare://page/"))])
        bare.end()

    def load_packages(self, container, kind, warm):
        name = f"trestle-web: load of a package in a {kind} view, ms"
        for _ in range(OPENS):
            container.await_warm(warm)
            self.figures.add(name, [milliseconds(lambda: container.open(container.PACKAGE))])
            container.close_last()

    def reload(self, container):
        """Reloads the same page of an origin with the bridge and of one without it, in turn."""
        views = [(part, container.open(f"{origin}/load.html"))
                 for part, origin in zip(("with the bridge", "without it"), self.rig.server.origins)]
        for _ in range(RELOAD_TURNS):
            for part, view in views:
                self.reload_view(container, part, view)
        for _ in views:
            container.close_last()

    def reload_view(self, container, part, view):
        """Reloads a view. The durations of reloads vary by ten times the cost of the bridge. The CPU time of the
        program and of its web processes shows the cost."""
        processes = [container.pid, *web_processes(container.pid)]
        spent = -sum(map(processor_time, processes))
        for _ in range(RELOADS):
            options = {"view": view, "wait": "finished"}
            self.figures.add(f"trestle-web: reload of a page {part}, ms",
                             [milliseconds(lambda: container.bridge.result("web.reload", options))])
        spent += sum(map(processor_time, processes))
        self.figures.add(f"trestle-web: processors for a reload of a page {part}, ms", [1000 * spent / RELOADS])

    def crash(self):
        """Ends the web process of the only page, which reports each time that it is loaded."""
        container = Container(self.rig, "crash", page="load.html?report")
        self.rig.await_report(container.process)
        for _ in range(CRASHES):
            while not any(is_connected(process) for process in web_processes(container.pid)):
                time.sleep(0.01)
            self.figures.add("trestle-web: crash to the reloaded page, ms",
                             [milliseconds(lambda: self.end_processes(container))])
        container.end()

    def end_processes(self, container):
        for process in web_processes(container.pid):
            if is_connected(process):
                os.kill(process, signal.SIGKILL)
        self.rig.await_report(container.process)
