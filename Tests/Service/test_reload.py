"""systemctl reload, with a configuration that is good and with one that is not."""

from bridge import Bridge, call, wait_until
from machine import CONFIGURATION, SERVICE, ServiceTest, journal, main_process, run


class Reload(ServiceTest):
    def test_good(self):
        """A new configuration is in force after a reload, and no connection is lost"""
        process = main_process()
        with Bridge() as bridge:
            bridge.call("bridge.ping")
            long = {"text": "x" * 4_000}
            self.assertIn("result", bridge.call("Echo", long))
            self.change_configuration('limits.message_bytes = "2KiB"')
            run("systemctl", "reload", SERVICE)
            # On the connection that was open before.
            wait_until("the new limit holds", lambda: "error" in bridge.call("Echo", long))
            self.assertIn("result", bridge.call("Echo"))
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
