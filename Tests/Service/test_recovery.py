"""A daemon that cannot start: the clients that connect meanwhile, and its recovery once the cause is fixed."""

import os
import subprocess
import threading

from bridge import Bridge, call
from machine import (CONFIGURATION, DROP_IN, SERVICE, STATE, UNIT_SOCKET, ServiceTest, ended_well, is_active, journal,
                     run, show, wait_until)

# More than the start limit: the default of systemd, and a former one of this unit, is five.
ATTEMPTS = 8


def rejection_code():
    """Returns the code of the error that a new connection gets instead of an answer."""
    with Bridge() as bridge:
        message = bridge.receive()
        assert message["callbackId"] is None, message
        return message["error"]["code"]


def has_ended():
    return show("ActiveState") == "failed"


class Misconfigured(ServiceTest):
    def setUp(self):
        super().setUp()
        self.change_configuration('log_level = "loud"\n[plugins.login]\ntoken_days = 0\n')
        self.assertFalse(ended_well("systemctl", "restart", SERVICE))

    def fix(self):
        with open(CONFIGURATION) as file:
            text = file.read()
        with open(CONFIGURATION, "w") as file:
            file.write(text.replace('"loud"', '"info"').replace("token_days = 0", "token_days = 30"))

    def check_alive(self):
        """Checks that the socket still listens, and that the next connection has a daemon without a manual reset."""
        self.assertTrue(is_active(UNIT_SOCKET))
        self.fix()
        self.assertEqual(call("Echo", {"fixed": True}), {"fixed": True})
        self.assertTrue(is_active())

    def test_connections(self):
        """Every new connection gets configuration.invalid; the next connection after the repair is served"""
        for _ in range(ATTEMPTS):
            wait_until("the daemon has ended", has_ended)
            self.assertEqual(rejection_code(), "configuration.invalid")
        self.check_alive()

    def test_mistakes(self):
        """The journal contains all mistakes as errors, and systemctl status names the configuration as the cause"""
        said = journal(self.started, "--priority=err")
        for place in ("1:13: log_level", "3:14: plugins.login.token_days"):
            self.assertIn(f"{CONFIGURATION}:{place}: expected ", said)
        status = run("systemctl", "status", "--no-pager", "--lines=0", SERVICE, check=False)
        self.assertIn('Status: "cannot start: errors in the configuration: 2"', status)
        self.assertEqual(show("ExecMainStatus"), "78")
        # As the daemon's user, which can check the configuration without stopping the daemon.
        check = ("runuser", "-u", "trestle", "--", "trestled", "--config", CONFIGURATION, "--check-config")
        self.assertFalse(ended_well(*check))
        self.fix()
        self.assertIn("valid: ", run(*check))

    def test_flood(self):
        """Clients that reconnect immediately and constantly do not stop the socket"""
        over = threading.Event()
        codes, trouble = set(), []

        def come_back():
            while not over.is_set():
                try:
                    codes.add(rejection_code())
                except Exception as error:
                    trouble.append(repr(error))
                    return

        clients = [threading.Thread(target=come_back) for _ in range(4)]
        for client in clients:
            client.start()
        wait_until("it was started often", lambda: journal(self.started).count("status=78") >= ATTEMPTS)
        over.set()
        for client in clients:
            client.join()
        self.assertEqual((codes, trouble), ({"configuration.invalid"}, []))
        self.check_alive()

    def test_restarts(self):
        """An operator may restart any number of times, and each time systemctl fails"""
        for _ in range(ATTEMPTS):
            self.assertFalse(ended_well("systemctl", "restart", SERVICE))
        self.check_alive()

    def test_command_line(self):
        """The command line reports the mistakes, and where to look if no daemon listens at the socket"""
        wait_until("the daemon has ended", has_ended)
        done = subprocess.run(["trestle", "status"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 75, done.stderr)
        self.assertIn(f"`systemctl status {SERVICE}`", done.stderr)
        run("systemctl", "stop", UNIT_SOCKET)
        done = subprocess.run(["trestle", "status"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 69, done.stderr)
        self.assertIn(f"`systemctl status {UNIT_SOCKET}`", done.stderr)
        run("systemctl", "start", UNIT_SOCKET)
        self.check_alive()


class Unable(ServiceTest):
    def test_state(self):
        """A daemon that cannot use its state is restarted until it can, and meanwhile clients get the reason"""
        lock = f"{STATE}/lock"
        os.rename(lock, f"{lock}.aside")
        os.mkdir(lock)

        def fix():
            if os.path.isdir(lock):
                os.rmdir(lock)
                os.rename(f"{lock}.aside", lock)

        self.addCleanup(fix)
        self.assertFalse(ended_well("systemctl", "restart", SERVICE))
        self.assertEqual(rejection_code(), "daemon.stopping")
        wait_until("it was tried often", lambda: int(show("NRestarts")) >= ATTEMPTS)
        self.assertTrue(is_active(UNIT_SOCKET))
        fix()
        self.wait_for_restart(0)
        self.assertEqual(call("Echo", 1), 1)

    def test_program(self):
        """A program that ends immediately is restarted until it is fixed, and then serves the waiting clients"""
        self.check_waits("ExecStart=", "ExecStart=/bin/false")

    def test_options(self):
        """A program with invalid flags is restarted until it is fixed, and then serves the waiting clients"""
        self.check_waits("Environment=TRESTLED_OPTIONS=--sokcet")

    def check_waits(self, *lines):
        os.makedirs(DROP_IN, exist_ok=True)
        with open(f"{DROP_IN}/test.conf", "w") as file:
            file.write("\n".join(["[Service]", *lines, ""]))
        run("systemctl", "daemon-reload")
        self.assertFalse(ended_well("systemctl", "restart", SERVICE))
        with Bridge() as waiting:
            waiting.send("Echo", 1)
            wait_until("it was tried often", lambda: int(show("NRestarts")) >= ATTEMPTS)
            self.assertTrue(is_active(UNIT_SOCKET))
            self.restore_unit()
            self.assertEqual(waiting.receive()["result"], 1)
