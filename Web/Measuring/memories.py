"""The memory of the programs, and of each view with its process."""

import time

from bare import Bare
from container import Container
from rig import memory, web_processes

MORE_VIEWS = 4
REST = 1
"""The seconds until the temporary memory of a load has been released."""


class Memories:
    notes = [f"Memory is proportional (PSS). Without views: what is left without {MORE_VIEWS + 1} times a view's part."]

    def __init__(self, rig, figures):
        self.rig = rig
        self.figures = figures

    def round(self):
        bare = Bare(self.rig, "bare://page/")
        bare.await_load()
        self.measure("bare", bare.process.pid, lambda: bare.ask("open bare://page/"))
        bare.end()
        container = Container(self.rig, "cold")
        self.measure("trestle-web", container.pid, lambda: container.open(container.PACKAGE))
        container.end()

    def measure(self, name, program, open_view):
        """Measures a program with one view, and with more of them."""
        def measured():
            time.sleep(REST)
            return memory(program), sum(memory(process) for process in web_processes(program))

        open_view()
        first = measured()
        for _ in range(MORE_VIEWS):
            open_view()
        own, processes = [(late - early) / MORE_VIEWS for early, late in zip(first, measured())]
        self.figures.add(f"{name}: program without views, MiB", [first[0] - 2 * own])
        self.figures.add(f"{name}: each view in the program, MiB", [own])
        self.figures.add(f"{name}: each view, MiB", [own + processes])
