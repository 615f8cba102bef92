"""The environment of the soak and the benchmarks: a daemon, a page server, a screen, and programs that show pages."""

import http.server
import json
import os
import queue
import shutil
import socket
import subprocess
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MAIN = os.path.dirname(os.path.dirname(HERE))
PRODUCTS = os.environ.get("TRESTLE_PRODUCTS", f"{MAIN}/.build/release")
CONTAINER = os.environ.get("TRESTLE_WEB_PRODUCTS", f"{MAIN}/Web/.build/release") + "/trestle-web"
LIMIT = 300
"""The limit of every wait, in seconds. Only a hanging program takes so long."""


class Server:
    """Serves files of this folder on two origins, records the reports that pages post to /report, and calls `on_mark`
    for /mark."""

    def __init__(self):
        reports = self.reports = queue.Queue()
        self.on_mark = lambda: None
        served = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments):
                super().__init__(*arguments, directory=HERE)

            def do_POST(self):
                reports.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(204)
                self.end_headers()

            def do_GET(self):
                if not self.path.startswith("/mark"):
                    return super().do_GET()
                served.on_mark()
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.origins = []
        for _ in range(2):
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.origins.append(f"http://127.0.0.1:{server.server_port}")


class Bridge:
    """A connection to the daemon."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.socket.settimeout(LIMIT)
        self.lines = self.socket.makefile("rb")
        self.number = 0

    def call(self, task, options=None):
        """Returns the callback of a call: with `result` or `error`."""
        self.number += 1
        message = {"task": task, "options": options or {}, "callbackId": self.number}
        self.socket.sendall(json.dumps(message).encode() + b"\n")
        while line := self.lines.readline():
            answer = json.loads(line)
            if answer.get("callbackId") == self.number:
                return answer
        raise ConnectionError("the daemon is gone")

    def await_event(self, name):
        """Waits for an event to which this connection has subscribed."""
        while line := self.lines.readline():
            if json.loads(line).get("event") == name:
                return
        raise ConnectionError("the daemon is gone")

    def result(self, task, options=None):
        """Returns the result of a call that must succeed."""
        answer = self.call(task, options)
        if "result" not in answer:
            raise RuntimeError(f"{task}: {answer['error']}")
        return answer["result"]


class Rig:
    """All running programs and servers; they end with the `with` block."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp()
        self.children = []
        self.server = Server()
        self.socket = f"{self.folder}/bridge.sock"
        self.start_daemon()
        if not os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
            self.start_screen()
        return self

    def __exit__(self, *_):
        for child in reversed(self.children):
            child.terminate()
            child.wait()
        shutil.rmtree(self.folder)

    def spawn(self, *command, **options):
        child = subprocess.Popen(command, **options)
        self.children.append(child)
        return child

    def start_daemon(self):
        with open(f"{self.folder}/trestled.toml", "w") as file:
            file.write('[plugins.alert]\npresenters = ["log"]\n')
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notify.bind(f"{self.folder}/notify")
        notify.settimeout(LIMIT)
        self.daemon = self.spawn(
            f"{PRODUCTS}/trestled", "--config", f"{self.folder}/trestled.toml", "--socket", self.socket, "--state-dir",
            f"{self.folder}/state", env={**os.environ, "NOTIFY_SOCKET": f"{self.folder}/notify"},
            stderr=open(f"{self.folder}/log", "w"))
        while b"READY=1" not in notify.recv(4096):
            pass

    def start_screen(self):
        reader, writer = os.pipe()
        self.spawn("Xvfb", "-displayfd", str(writer), "-screen", "0", "1024x768x24", "-nolisten", "tcp", "-noreset",
                   pass_fds=[writer], stderr=subprocess.DEVNULL)
        os.close(writer)
        with open(reader) as line:
            os.environ["DISPLAY"] = f":{line.readline().strip()}"

    def end(self, child):
        """Ends a started program."""
        self.children.remove(child)
        child.terminate()
        child.wait()

    def await_report(self, process):
        """Returns the next report of a program's page; raises an error if the program has ended."""
        for _ in range(LIMIT):
            try:
                return self.server.reports.get(timeout=1)
            except queue.Empty:
                if process.poll() is not None:
                    break
        raise RuntimeError(f"no page has reported, status {process.poll()}:\n{self.last_lines()}")

    @property
    def environment(self):
        """The environment of programs that show pages: their data is in the folder."""
        return {**os.environ, "XDG_DATA_HOME": f"{self.folder}/data", "XDG_CONFIG_HOME": f"{self.folder}/config",
                "BENCH_PAGE": f"{HERE}/load.html", "GSK_RENDERER": "cairo", "GTK_A11Y": "none",
                # Without backtraces the last lines of the log contain the error.
                "SWIFT_BACKTRACE": "enable=no"}

    def show(self, program, *arguments, **options):
        """Starts a program that shows pages."""
        return self.spawn(program, *arguments, env=self.environment, stderr=open(self.log, "w"), **options)

    @property
    def log(self):
        """The file with the standard error of the program that was started last."""
        return f"{self.folder}/program.log"

    def last_lines(self):
        with open(self.log, errors="replace") as file:
            return "".join(file.readlines()[-40:])

    def show_pages(self, *arguments):
        """Starts trestle-web with the bridge for both origins, and waits until it has its tasks."""
        bridges = [word for origin in self.server.origins for word in ("--bridge", origin)]
        return self.show(CONTAINER, "--socket", self.socket, *bridges, *arguments)


def descendants(process):
    """Returns the child processes of a process, and their descendants."""
    found = []
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/children") as file:
                found += [int(word) for word in file.read().split()]
    except OSError:
        return []
    return found + [below for child in found for below in descendants(child)]


def web_processes(process):
    """Returns the descendants of a process that show pages."""
    found = []
    for child in descendants(process):
        try:
            with open(f"/proc/{child}/comm") as file:
                if file.read().startswith("WebKitWebProc"):
                    found.append(child)
        except OSError:
            pass
    return found


def is_connected(process):
    """Whether a web process is connected to its program. WebKitGTK ends the program if one is killed before."""
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/comm") as file:
                if file.read() == "ReceiveQueue\n":
                    return True
    except OSError:
        pass
    return False


def processor_time(process):
    """Returns the CPU time of a process in seconds."""
    # The number of another process's clock, as computed by clock_getcpuclockid().
    return time.clock_gettime((~process << 3) | 2)


def stolen_time():
    """Returns the seconds that the host of a virtual machine has taken from all processors; 0 if it does not report
    them."""
    with open("/proc/stat") as file:
        return int(file.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


def memory(process):
    """Returns the proportional memory of a process in MiB."""
    with open(f"/proc/{process}/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pss:")) / 1024
