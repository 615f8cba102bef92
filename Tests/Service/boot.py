"""boot.py SOCKET: waits for a container to boot, by the notifications that systemd-nspawn sends to that socket
(sd_notify).

Prints a line once the socket exists, then reads the process of systemd-nspawn from its standard input. Prints the
process of the container's systemd once that has started everything. Ends with status 1 if systemd-nspawn ends first, or
if no more notifications arrive.
"""

import os
import select
import socket
import sys

LIMIT = 300
"""The seconds from one message to the next. Only a hanging container takes so long."""


def main():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(sys.argv[1])
        print("listening", flush=True)
        nspawn = os.pidfd_open(int(sys.stdin.readline()))
        said = {}
        while said.get("READY") != "1":
            ready, _, _ = select.select([notify, nspawn], [], [], LIMIT)
            if notify not in ready:
                sys.exit(1)
            said.update(line.split("=", 1) for line in notify.recv(65_536).decode().splitlines() if "=" in line)
        print(said["X_NSPAWN_LEADER_PID"], flush=True)


main()
