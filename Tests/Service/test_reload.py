"""systemctl reload, with a configuration that is good and with one that is not."""

from bridge import Bridge, call, wait_until
from machine import CONFIGURATION, SERVICE, ServiceTest, journal, main_process, run


class Reload(ServiceTest):
    def test_good(self):
        """A new configuration is in force after a reload, and no connection is lost"""
        process = main_process()
        with Bridge() as bridge:
            bridge.call("bridge.ping")
            self.change_configuration('log_level = "debug"')
            run("systemctl", "reload", SERVICE)
            self.assertIn("result", bridge.call("bridge.ping"))
            # Debug messages tell of sessions that come and go.
            wait_until("the log has debug messages", lambda: (call("bridge.ping"), self.has_priority(7))[1])
        self.assertEqual(main_process(), process)

    def test_bad(self):
        """A bad configuration is refused with its line, and the daemon goes on with the old one"""
        process = main_process()
        with Bridge() as bridge:
            bridge.call("bridge.ping")
            self.change_configuration('log_levle = "debug"')
            # Whether systemctl itself fails depends on the version of systemd: what counts is the log.
            run("systemctl", "reload", SERVICE, check=False)
            wait_until("the log names the line", lambda: f"{CONFIGURATION}:1" in journal(self.started))
            self.assertIn("result", bridge.call("bridge.ping"))
        self.assertEqual(main_process(), process)
        self.assertEqual(call("Echo", {"still": "there"}), {"still": "there"})

    def has_priority(self, priority):
        return run(
            "journalctl", "--quiet", "--no-pager", f"--since=@{self.started:.6f}", f"_PID={main_process()}",
            f"--priority={priority}..{priority}", "--lines=1")
