"""A power cut: a virtual machine in which the daemon runs is killed under write load, and restarted on the same disk.

    python3 Tests/Faults/power_cut.py --kernel vmlinuz --modules lib/modules/VERSION [--times 30]

Run it by hand, as root if /dev/kvm requires that. Kernel and modules are those of Debian's linux-image-cloud-amd64,
extracted from the package with `dpkg-deb --extract`. Also needed: qemu-system-x86, busybox-static, cpio, socat,
mkfs.ext4.

The machine contains only the daemon, with its libraries, on an ext4; a virtual serial port connects the bridge to the
outside. The content of its memory is lost, as after a power cut. Bytes that it has written to its disk are kept even
without a flush: a disk that loses its own cache is not simulated.
"""

from __future__ import annotations

import argparse
import os
import random
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import BinaryIO

from daemon import BUILT, Bridge
from load import Ledger, Writer
from settings import SEED

MODULES = ["virtio_ring", "virtio", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci", "virtio_blk",
           "virtio_console"]

INIT = f"""#!/bin/busybox sh
/bin/busybox --install -s /bin
mkdir -p /proc /sys /dev /run /state /tmp
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
for module in {' '.join(MODULES)}; do insmod /modules/$module.ko || true; done
until [ -e /dev/vda ] && [ -e /dev/vport0p1 ]; do sleep 0.05; done
mount -t ext4 /dev/vda /state
{BUILT}/trestled --socket /run/s --state-dir /state/trestle --plugin-dir {BUILT} &
until [ -S /run/s ]; do sleep 0.05; done
socat UNIX-CONNECT:/run/s OPEN:/dev/vport0p1,rdwr
poweroff -f
"""


class Machine:
    """A folder with the files of a virtual machine."""

    def __init__(self, kernel: Path, modules: Path, accelerator: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="trestle-power-"))
        self.kernel = kernel
        self.accelerator = accelerator
        self.disk = self.folder / "disk"
        self.port = self.folder / "port"
        with self.disk.open("wb") as file:
            file.truncate(256 << 20)
        subprocess.run(["mkfs.ext4", "-q", self.disk], check=True)
        self.make_root(modules)

    def make_root(self, modules: Path) -> None:
        root = self.folder / "root"
        programs = [BUILT / "trestled", *BUILT.glob("lib*Plugin.so"), *BUILT.glob("lib*-dynamic.so")]
        for program in [*programs, Path("/usr/bin/socat")]:
            copy(program, root)
            for library in libraries(program):
                copy(library, root)
        # They are loaded into memory with each start.
        for file in root.rglob("*.so*"):
            subprocess.run(["strip", file], check=True)
        (root / "bin").mkdir()
        shutil.copy("/usr/bin/busybox", root / "bin/busybox")
        (root / "modules").mkdir()
        for name in MODULES:
            for path in modules.rglob(f"{name}.ko"):
                shutil.copy(path, root / "modules")
        (root / "init").write_text(INIT)
        (root / "init").chmod(0o755)
        with (self.folder / "initrd").open("wb") as file:
            subprocess.run("find . | cpio --quiet -o -H newc", shell=True, cwd=root, stdout=file, check=True)

    def start(self) -> tuple[subprocess.Popen[bytes], Bridge]:
        """Starts the machine, and waits until the daemon in it answers."""
        self.port.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX) as listener, (self.folder / "console").open("ab") as console:
            listener.bind(str(self.port))
            listener.listen(1)
            machine = self.switch_on(console)
            bridge = Bridge(connected=self.accept(listener, machine))
        assert "result" in bridge.call("bridge.ping")
        return machine, bridge

    @staticmethod
    def accept(listener: socket.socket, machine: subprocess.Popen[bytes]) -> socket.socket:
        """Waits until the machine connects its serial port, or ends."""
        end = os.pidfd_open(machine.pid)
        try:
            ready, _, _ = select.select([listener, end], [], [])
        finally:
            os.close(end)
        if listener not in ready:
            raise AssertionError(f"the machine ended with {machine.wait()}")
        return listener.accept()[0]

    def switch_on(self, console: BinaryIO) -> subprocess.Popen[bytes]:
        return subprocess.Popen([
            "qemu-system-x86_64", "-accel", self.accelerator, "-m", "768", "-display", "none", "-no-reboot",
            "-kernel", self.kernel, "-initrd", self.folder / "initrd", "-append", "console=ttyS0 quiet panic=-1",
            "-serial", "stdio", "-drive", f"file={self.disk},format=raw,if=virtio,cache=writeback",
            "-device", "virtio-serial-pci", "-chardev", f"socket,id=port,path={self.port}",
            "-device", "virtserialport,chardev=port",
        ], stdin=subprocess.DEVNULL, stdout=console, stderr=console)


def libraries(program: Path) -> list[Path]:
    """Returns the libraries that the loader finds for a program."""
    said = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    return [Path(word) for word in said.split() if word.startswith("/")]


def copy(file: Path, root: Path) -> None:
    """Copies a file to the same path under another root."""
    target = root / str(file).lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        shutil.copy(file, target)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", type=Path, required=True)
    parser.add_argument("--modules", type=Path, required=True)
    parser.add_argument("--accelerator", default="kvm", help="tcg where the processor does not help")
    parser.add_argument("--times", type=int, default=30)
    arguments = parser.parse_args()
    chance = random.Random(SEED)
    ledgers: list[Ledger] = []
    unanswered = 0
    done = 0
    machine = Machine(arguments.kernel, arguments.modules, arguments.accelerator)
    print(f"FAULTS_SEED={SEED}, {machine.folder}", flush=True)
    for number in range(arguments.times + 1):
        running, bridge = machine.start()
        for ledger in ledgers if number == arguments.times else ledgers[-1:]:
            unanswered += len(ledger.pending)
            done += ledger.check(bridge)
        if number < arguments.times:
            ledgers.append(Ledger(f"c{number}"))
            writer = Writer(bridge, ledgers[-1], SEED + number)
            writer.run_until(chance.randint(1, 150))
            cut = threading.Timer(chance.uniform(0, 0.5), running.send_signal, [signal.SIGKILL])
            cut.start()
            writer.run()
        running.kill()
        running.wait()
        bridge.__exit__()
        print(f"{number}: {sum(ledger.acknowledged for ledger in ledgers)} acknowledged", flush=True)
    acknowledged = sum(ledger.acknowledged for ledger in ledgers)
    print(f"| power cut in a virtual machine under write load | {arguments.times} times | each acknowledged write is there, of "
          f"each transaction all or nothing | {acknowledged} acknowledged writes, all present; {unanswered} "
          f"not answered, of which {done} "
          "were present as a whole and the others not at all |")
    shutil.rmtree(machine.folder)


main()
