"""Stopping, upgrading, removing and purging."""

import os
import threading
import unittest

from bridge import SOCKET, Bridge, call
from machine import (CONFIGURATION, SERVICE, STATE, UNIT_SOCKET, ServiceTest, ended_well, install, is_active,
                     main_process, run, show)


class Stopped(ServiceTest):
    def test_stopped(self):
        """Once both units are stopped the socket is removed, and the daemon is not started again"""
        run("systemctl", "stop", UNIT_SOCKET, SERVICE)
        self.assertFalse(os.path.exists(SOCKET))
        with self.assertRaises(OSError):
            Bridge()
        self.assertEqual(main_process(), 0)
        self.assertEqual(show("Result"), "success")

    def test_started_again(self):
        """A socket that was stopped and started activates the daemon again"""
        run("systemctl", "stop", UNIT_SOCKET, SERVICE)
        run("systemctl", "start", UNIT_SOCKET)
        self.assertEqual(call("Echo", {"a": 1}), {"a": 1})


class Upgraded(ServiceTest):
    def test_upgrade(self):
        """An upgrade keeps socket, records and configuration, runs the new daemon, and refuses no connection"""
        key = call("persistence.create", {"table": "upgrade", "record": {"kept": True}})["key"]
        with open(CONFIGURATION, "a") as file:
            file.write("# changed by the administrator\n")
        socket_since = show("ActiveEnterTimestampMonotonic", UNIT_SOCKET)
        process = main_process()
        over, refused = threading.Event(), []

        def keep_connecting():
            while not over.is_set():
                try:
                    with Bridge() as bridge:
                        bridge.call("bridge.ping")
                except (ConnectionRefusedError, FileNotFoundError) as error:
                    refused.append(repr(error))
                except OSError:
                    pass  # The old daemon had accepted this connection before it stopped.

        connecting = threading.Thread(target=keep_connecting)
        connecting.start()
        try:
            install(2)
        finally:
            over.set()
            connecting.join()
        self.assertEqual(refused, [])
        self.assertEqual(show("ActiveEnterTimestampMonotonic", UNIT_SOCKET), socket_since)
        self.assertEqual(call("persistence.read", {"table": "upgrade", "key": key})["record"], {"kept": True})
        self.assertNotIn(main_process(), (0, process))
        self.assertNotIn("(deleted)", os.readlink(f"/proc/{main_process()}/exe"))
        self.assertTrue(run("dpkg-query", "--show", "--showformat=${Version}", "trestle").endswith("-2"))
        with open(CONFIGURATION) as file:
            self.assertIn("# changed by the administrator", file.read())


class Removed(unittest.TestCase):
    def test_a_remove(self):
        """Removing stops the daemon and removes the programs, and keeps state and configuration"""
        call("persistence.create", {"table": "removal", "key": "kept", "record": {"kept": True}})
        run("dpkg", "--remove", "trestle")
        self.assertFalse(os.path.exists(SOCKET))
        self.assertFalse(os.path.exists("/usr/bin/trestled"))
        self.assertFalse(is_active())
        self.assertFalse(is_active(UNIT_SOCKET))
        self.assertTrue(os.path.exists(f"{STATE}/records.sqlite"))
        self.assertTrue(os.path.exists(CONFIGURATION))
        self.assertFalse(os.path.exists("/etc/trestle/policy.d"), "nothing was in it")

    def test_b_install_again(self):
        """After another installation the daemon has its records, and the changed configuration"""
        install(2)
        self.assertTrue(is_active(UNIT_SOCKET))
        self.assertEqual(call("persistence.read", {"table": "removal", "key": "kept"})["record"], {"kept": True})

    def test_c_disabled(self):
        """A socket that the administrator disabled is not enabled by another installation"""
        run("systemctl", "disable", "--now", UNIT_SOCKET, SERVICE, check=False)
        install(2)
        self.assertFalse(ended_well("systemctl", "is-enabled", UNIT_SOCKET))
        self.assertFalse(is_active(UNIT_SOCKET))

    def test_d_purge(self):
        """Purging removes everything but the user"""
        run("dpkg", "--purge", "trestle")
        for path in (STATE, "/etc/trestle", "/usr/lib/trestle", "/usr/share/doc/trestle", "/run/trestle"):
            self.assertFalse(os.path.exists(path), path)
        self.assertFalse(ended_well("systemctl", "cat", SERVICE))
        self.assertEqual(run("systemctl", "list-units", "--failed", "--plain", "--no-legend", "trestle*"), "")
        left = run("find", "/etc", "/usr", "/var", "-xdev", "-name", "*trestle*")
        self.assertEqual(left, "")
