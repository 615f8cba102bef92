"""Plain WebKitGTK, by the program bare.c."""

import functools
import shlex
import subprocess

from rig import HERE

SCRIPTS = f"{HERE}/../Sources/PageBridge"


@functools.cache
def program(folder):
    """Compiles the program, once; returns its path."""
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "webkitgtk-6.0", "gio-unix-2.0"], check=True, capture_output=True,
        text=True).stdout
    path = f"{folder}/bare"
    subprocess.run(["cc", "-O2", "-o", path, f"{HERE}/bare.c", *shlex.split(flags)], check=True)
    return path


@functools.cache
def bridge_scripts(folder):
    """Writes the scripts of the bridge with the dialect of WebBridge to files; returns their paths."""
    paths = []
    for name, blocks in [("porter", []), ("shim", ["Dialects/webBridge.js"])]:
        with open(f"{SCRIPTS}/Scripts/{name}.js") as file:
            script = file.read()
        for block in blocks:
            with open(f"{SCRIPTS}/{block}") as file:
                script = script.replace("/* dialects */", f"{{\n{file.read()}\n}}")
        paths.append(f"{folder}/{name}.js")
        with open(paths[-1], "w") as file:
            file.write(script)
    return paths


class Bare:
    """Pages in plain WebKitGTK; with the bridge's scripts, whose calls are answered immediately; or with the daemon,
    which is called by a blocking socket."""

    def __init__(self, rig, address, has_bridge=False, has_daemon=False):
        self.rig = rig
        options = ["--bridge", *bridge_scripts(rig.folder)] if has_bridge else []
        options += ["--daemon", rig.socket] if has_daemon else []
        self.process = rig.show(program(rig.folder), *options, address, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                text=True)

    def await_load(self):
        """Returns when a load has finished."""
        if self.process.stdout.readline() != "finished\n":
            raise RuntimeError(f"bare has ended:\n{self.rig.last_lines()}")

    def ask(self, line):
        """Sends a command, and waits for its load."""
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        self.await_load()

    def end(self):
        self.rig.end(self.process)
