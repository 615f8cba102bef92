"""systemctl reload, with a configuration that is good and with one that is not."""

from bridge import Bridge, call, wait_until
from machine import CONFIGURATION, SERVICE, ServiceTest, journal, main_process, run


class Reload(ServiceTest):
    def test_good(self):
        """A new configuration is in force after a reload, and no connection is lost"""
        process = main_process()
        with Bridge() as provider, Bridge() as caller:
            provider.call("bridge.register", {"tasks": ["hang"]})
            self.change_configuration('call_timeout = "100ms"')
            run("systemctl", "reload", SERVICE)
            wait_until("the log says what is in force", lambda: "in force: call_timeout" in journal(self.started))
            # On connections that were open before.
            self.assertEqual(caller.call("hang")["error"]["code"], "call.timeout")
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
