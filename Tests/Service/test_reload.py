"""systemctl reload, with a valid and with an invalid configuration."""

import os

from bridge import Bridge, call
from machine import CONFIGURATION, SERVICE, ServiceTest, ended_well, journal, main_process, run, show, wait_until


class Reload(ServiceTest):
    def test_good(self):
        """A new configuration is in force after a reload, and no connection is lost"""
        process = main_process()
        with Bridge() as provider, Bridge() as caller:
            provider.call("bridge.register", {"tasks": ["hang"]})
            self.change_configuration('call_timeout = "100ms"')
            run("systemctl", "reload", SERVICE)
            wait_until("the log says what is in force", lambda: "applied: call_timeout" in journal(self.started))
            # On connections that were opened before.
            self.assertEqual(caller.call("hang")["error"]["code"], "call.timeout")
        self.assertEqual(main_process(), process)

    def test_bad(self):
        """An invalid configuration makes systemctl reload fail with each mistake's line, and the old one is kept"""
        process = main_process()
        with Bridge() as bridge:
            bridge.call("bridge.ping")
            self.change_configuration('log_level = "loud"\nlog_levle = "debug"\ncall_timeout = 5')
            self.assertFalse(ended_well("systemctl", "reload", SERVICE))
            said = journal(self.started, "--priority=err")
            for place in ("1:13: log_level", "2:1: log_levle", "3:16: call_timeout"):
                self.assertIn(f"{CONFIGURATION}:{place}: ", said)
            status = run("systemctl", "status", "--no-pager", "--lines=30", SERVICE)
            self.assertIn(f"{CONFIGURATION}:2:1: log_levle: unknown key", status)
            # The daemon got no signal.
            self.assertNotIn("SIGHUP", said)
            self.assertIn("result", bridge.call("bridge.ping"))
        self.assertEqual((main_process(), show("ActiveState")), (process, "active"))
        self.assertEqual(call("Echo", {"still": "there"}), {"still": "there"})

    def test_options(self):
        """Flags of a drop-in apply to the daemon, and to the check before a reload"""
        other = "/etc/trestle/other.toml"
        with open(other, "w") as file:
            file.write('call_timeout = "2s"')
        self.addCleanup(os.remove, other)
        self.change_unit(f'Environment="TRESTLED_OPTIONS=--config {other} --log-level info"')
        run("systemctl", "reload", SERVICE)
        wait_until("the log names the file", lambda: f"SIGHUP: read {other}" in journal(self.started))
        with open(other, "w") as file:
            file.write("call_timeout = 2")
        self.assertFalse(ended_well("systemctl", "reload", SERVICE))
        self.assertIn(f"{other}:1:16: call_timeout", journal(self.started))
