"""The network of plugins: with the drop-in that opens it, and without."""

import re

from bridge import Bridge
from machine import SERVICE, ServiceTest, run, show

EXAMPLE = "/usr/share/doc/trestle/trestle-network.conf"


class Network(ServiceTest):
    def test_closed(self):
        """Without the drop-in a request is refused, and the error states why"""
        with Bridge() as bridge:
            error = bridge.call("http.fetch", {"url": "http://1.1.1.1/"})["error"]
        self.assertEqual((error["code"], error["data"]["reason"]), ("http.refused", "no_network"))
        self.assertIn("trestle-network.conf", error["message"])

    def test_open(self):
        """With the drop-in plugins may open sockets, private networks are denied, and the exposure is as documented"""
        with open(EXAMPLE) as file:
            self.change_unit(*file.read().splitlines())
        self.assertEqual(show("PrivateNetwork"), "no")
        families = set(show("RestrictAddressFamilies").split())
        self.assertEqual(families, {"AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK"})
        denied = show("IPAddressDeny")
        self.assertIn("10.0.0.0/8", denied)
        self.assertNotIn("0.0.0.0/0", denied)
        text = run("systemd-analyze", "security", "--no-pager", SERVICE)
        exposure = float(re.search(r"Overall exposure level .*: ([0-9.]+)", text)[1])
        self.assertLessEqual(exposure, 1.6)
        print(f"exposure with the network {exposure}", end=" ")
