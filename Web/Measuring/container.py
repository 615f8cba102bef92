"""trestle-web with a profile and an offline package, controlled by its tasks."""

import json
import os
import shutil
import subprocess
import time

from rig import CONTAINER, HERE, PRODUCTS, Bridge


REST = 1
"""In seconds."""


class Container:
    PACKAGE = "trestle://bench/load.html"

    def __init__(self, rig, profile, warm=0, page="load.html"):
        self.rig = rig
        with_bridge, without = rig.server.origins
        folder = f"{rig.folder}/config/trestle/web"
        os.makedirs(folder, exist_ok=True)
        with open(f"{folder}/{profile}.toml", "w") as file:
            file.write(f"""
                start = "{without}/{page}"
                allow = ["{with_bridge}", "{without}", "trestle://bench"]
                bridge = ["{with_bridge}", "trestle://bench"]
                packages.keys = ["{self.make_package()}"]
                pool.warm = {warm}
                recovery.reloads = 100
                recovery.blank_check = false
            """)
        install = [CONTAINER, "install", "--profile", profile, f"{rig.folder}/bench-1.tar.zst"]
        subprocess.run(install, check=True, stdout=subprocess.DEVNULL, env=rig.environment)
        self.bridge = Bridge(rig.socket)
        self.bridge.result("bridge.subscribe", {"events": ["web.ready"]})
        self.process = rig.show(CONTAINER, "--socket", rig.socket, "--profile", profile)
        self.pid = self.process.pid
        self.bridge.await_event("web.ready")
        self.views = []

    def make_package(self):
        """Creates the package once; returns the key that signs it."""
        key = f"{self.rig.folder}/key"
        if not os.path.exists(key):
            tool = f"{PRODUCTS}/trestle"
            folder = f"{self.rig.folder}/bench"
            os.makedirs(f"{folder}/files")
            shutil.copy(f"{HERE}/load.html", f"{folder}/files")
            with open(f"{folder}/manifest.json", "w") as file:
                json.dump({"id": "bench", "version": "1"}, file)
            for words in [["key", key], ["make", folder, "--key", key, "--output", f"{folder}-1.tar.zst"]]:
                subprocess.run([tool, "package", *words], check=True, stdout=subprocess.DEVNULL)
        with open(f"{key}.pub") as file:
            return file.read().strip()

    def open(self, uri):
        """Opens a page, and returns its number once it is loaded."""
        self.views.append(self.bridge.result("web.open", {"uri": uri, "wait": "finished"})["view"])
        return self.views[-1]

    def close_last(self):
        """Closes the page that was opened last."""
        self.bridge.result("web.close", {"view": self.views.pop()})

    def await_warm(self, count):
        """Returns when that number of views is warm and idle."""
        while self.bridge.result("web.pool")["warm"] != count:
            time.sleep(0.01)
        # Their processes start meanwhile; no event reports that they have started.
        time.sleep(REST)

    def end(self):
        self.bridge.socket.close()
        self.rig.end(self.process)
