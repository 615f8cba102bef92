"""boot.py SOCKET: waits for a container to boot, by what systemd-nspawn says to that socket (sd_notify).

Writes a line once the socket is there, then reads the process of systemd-nspawn from its standard input, and writes the
process of the container's systemd once that has started everything. Ends with status 1 where systemd-nspawn ends first,
or nothing more comes.
"""

import os
import select
import socket
import sys

LIMIT = 300
"""Seconds from one message to the next. Only a container that hangs takes so long."""


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
