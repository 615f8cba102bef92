"""Chromium with a binding over its debugging pipe: a posted message is returned as a call of done(TEXT)."""

import fcntl
import json
import os
import shutil
import tempfile
import threading


def high_pipe():
    """Creates a pipe whose ends have other numbers than the descriptors of Chromium."""
    ends = os.pipe()
    try:
        return [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    finally:
        for end in ends:
            os.close(end)


class Chromium:
    """A page in Chromium, which answers until `end`."""

    PROGRAM = shutil.which("chromium")

    def __init__(self, rig, address):
        self.rig = rig
        self.number = 0
        self.profile = tempfile.mkdtemp(dir=rig.folder)
        commands, self.commands = high_pipe()
        self.messages, messages = high_pipe()
        self.rest = b""
        # Chromium reads from descriptor 3, and writes to 4. It has no sandbox as root.
        line = f'exec "$0" "$@" 3<&{commands} 4>&{messages}'
        self.process = rig.spawn(
            "bash", "-c", line, self.PROGRAM, "--headless=new", "--no-sandbox", "--remote-debugging-pipe",
            f"--user-data-dir={self.profile}", pass_fds=[commands, messages],
            stderr=open(f"{rig.folder}/chromium", "w"))
        os.close(commands)
        os.close(messages)
        self.show(address)
        threading.Thread(target=self.answer, daemon=True).start()

    def show(self, address):
        target = self.result("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.session = self.result("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        self.result("Runtime.enable", {}, self.session)
        self.result("Runtime.addBinding", {"name": "binding"}, self.session)
        self.send("Page.navigate", {"url": address}, self.session)

    def send(self, method, parameters, session=None):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = memoryview(json.dumps(message).encode() + b"\0")
        while data:
            data = data[os.write(self.commands, data):]

    def result(self, method, parameters, session=None):
        self.send(method, parameters, session)
        for message in self.read():
            if message.get("id") == self.number:
                return message["result"]
        raise ConnectionError(f"Chromium has ended at {method}")

    def read(self):
        """Yields the messages until the end."""
        while True:
            message, end, rest = self.rest.partition(b"\0")
            if end:
                self.rest = rest
                yield json.loads(message)
                continue
            more = os.read(self.messages, 1 << 18)
            if not more:
                return
            self.rest += more

    def answer(self):
        try:
            for message in self.read():
                if message.get("method") == "Runtime.bindingCalled":
                    text = json.dumps(message["params"]["payload"])
                    self.send("Runtime.evaluate", {"expression": f"done({text})"}, self.session)
        except OSError:
            # Chromium has ended.
            pass

    def end(self):
        self.rig.end(self.process)
        os.close(self.commands)
