"""Calls of pages: of trestle-web, of WebKitGTK alone, of the bridge's scripts without a daemon, and of Chromium."""

import time

from bare import Bare
from chromium import Chromium
from rig import Bridge, processor_time

PAUSE = 0.0001
"""Seconds between calls of the local client, as pages take between an answer and the next call."""


class Calls:
    def __init__(self, rig, figures, calls):
        self.rig = rig
        self.figures = figures
        self.calls = calls
        self.address = f"{rig.server.origins[0]}/bench.html?calls={calls}"
        self.notes = [] if Chromium.PROGRAM else ["Chromium is not installed: it was not measured."]

    def round(self):
        self.measure("bare", lambda: Bare(self.rig, self.address))
        self.measure("porter and shim without a daemon", lambda: Bare(self.rig, self.address, has_bridge=True))
        self.measure_own()
        self.measure_client()
        if Chromium.PROGRAM:
            self.measure("Chromium, by Python over its debugging pipe", lambda: Chromium(self.rig, self.address))

    def measure(self, name, start):
        """Shows the page by a program, and keeps what the page reports."""
        begin = time.monotonic()
        program = start()
        report = self.rig.await_report(program.process)
        seconds = time.monotonic() - begin
        self.figures.add(f"{name}: start to the page's script, ms", [1000 * seconds - report.pop("spent")])
        for way, times in report.items():
            self.figures.add(f"{name}: {way}", times)
        program.end()

    def measure_own(self):
        """As `measure`, with the processors' time of the daemon and of the program."""
        marks = []
        program = self.rig.show_pages("--no-tasks", self.address)
        program.end = lambda: self.rig.end(program)
        program.process = program
        self.rig.server.on_mark = lambda: marks.append(
            (processor_time(self.rig.daemon.pid), processor_time(program.pid)))
        self.measure("trestle-web", lambda: program)
        self.rig.server.on_mark = lambda: None
        daemon, container = [1e6 * (after - before) / self.calls for before, after in zip(*marks)]
        self.figures.add("daemon: processor per call of a page, µs", [daemon])
        self.figures.add("trestle-web: processor of the program per call, µs", [container])

    def measure_client(self):
        """What the same calls of a local client cost the daemon. One that sleeps in between pays for its wake-ups."""
        client = Bridge(self.rig.socket)
        before = processor_time(self.rig.daemon.pid)
        for _ in range(self.calls):
            client.result("Echo", {"text": "x" * 100})
            time.sleep(PAUSE)
        after = processor_time(self.rig.daemon.pid)
        self.figures.add("daemon: processor per call of a local client, µs", [1e6 * (after - before) / self.calls])
