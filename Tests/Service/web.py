"""An internet host: nginx with HTTP/2 in a network of its own, with a public address, a name and a CA."""

import os
import subprocess
import tempfile

from machine import run

NAME = "shop.example"
ADDRESS = "44.0.0.2"
OWN_ADDRESS = "44.0.0.1"
SPACE = "web"
CA_FILE = "/etc/trestle/ca.pem"
CONFIGURATION = """
daemon off; user root; pid {folder}/pid; error_log stderr notice;
events {{}}
http {{
    access_log {folder}/log; default_type text/plain;
    server {{
        listen 443 ssl http2; ssl_certificate {folder}/host.pem; ssl_certificate_key {folder}/host.key;
        location = / {{ return 200 "welcome\\n"; }}
        location = /login {{ add_header Set-Cookie "login=abc; Path=/; Secure; HttpOnly; Max-Age=600"; return 204; }}
        location = /account {{ return 200 "$http_cookie\\n"; }}
        location = /old {{ return 302 /account; }}
        location = /news {{ add_header Cache-Control max-age=600; return 200 "news\\n"; }}
    }}
}}
"""


class Web:
    """Runs until the test ends."""

    def __init__(self, test):
        folder = tempfile.TemporaryDirectory()
        test.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.make_network(test)
        self.make_certificates(test)
        with open(f"{self.folder}/nginx.conf", "w") as file:
            file.write(CONFIGURATION.format(folder=self.folder))
        command = ["ip", "netns", "exec", SPACE, "nginx", "-e", "stderr", "-c", f"{self.folder}/nginx.conf"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        test.addCleanup(self.stop)
        # It listens when it starts its workers.
        for line in self.process.stderr:
            if "start worker processes" in line:
                break

    def make_network(self, test):
        run("ip", "netns", "add", SPACE)
        test.addCleanup(run, "ip", "netns", "delete", SPACE)
        run("ip", "link", "add", "to-web", "type", "veth", "peer", "name", "eth0", "netns", SPACE)
        run("ip", "address", "add", f"{OWN_ADDRESS}/24", "dev", "to-web")
        run("ip", "link", "set", "to-web", "up")
        for words in (["address", "add", f"{ADDRESS}/24", "dev", "eth0"], ["link", "set", "eth0", "up"]):
            run("ip", "-netns", SPACE, *words)
        with open("/etc/hosts", "a+") as file:
            file.seek(0)
            was = file.read()
            file.write(f"\n{ADDRESS} {NAME}\n")
        test.addCleanup(self.write, "/etc/hosts", was)

    def make_certificates(self, test):
        key = ["-newkey", "rsa:2048", "-noenc"]
        run("openssl", "req", "-x509", *key, "-subj", "/CN=A test's CA", "-days", "2", "-keyout",
            f"{self.folder}/ca.key", "-out", CA_FILE)
        test.addCleanup(os.remove, CA_FILE)
        os.chmod(CA_FILE, 0o644)
        run("openssl", "req", "-x509", *key, "-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}", "-addext",
            "basicConstraints=critical,CA:FALSE", "-days", "2", "-CA", CA_FILE, "-CAkey", f"{self.folder}/ca.key",
            "-keyout", f"{self.folder}/host.key", "-out", f"{self.folder}/host.pem")

    def write(self, path, text):
        with open(path, "w") as file:
            file.write(text)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.process.stderr.close()

    def requests(self):
        """Returns the number of answered requests."""
        with open(f"{self.folder}/log") as file:
            return len(file.readlines())
