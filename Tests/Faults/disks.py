"""Small disks, for a test that fills them. They are mounted only in the mount namespace of this process."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path


class Disk:
    """A file system that is mounted on a folder, until the test removes it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def remove(self) -> None:
        # Lazily: a plugin process that was ended may still be closing a file.
        subprocess.run(["umount", "--lazy", self.folder], check=True)

    @property
    def ballast(self) -> Path:
        return self.folder / "ballast"

    def fill(self, free_bytes: int) -> None:
        """Fills the disk up to that number of free bytes."""
        with self.ballast.open("ab", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4_096))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
        os.truncate(self.ballast, max(0, self.ballast.stat().st_size - free_bytes))
        os.sync()

    def make_room(self) -> None:
        self.ballast.unlink()
        os.sync()


class MemoryDisk(Disk):
    """A tmpfs."""

    name = "a tmpfs of 16 MiB"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", folder], check=True)


class ImageDisk(Disk):
    """An ext4 in a file, by a loop device."""

    name = "an ext4 of 16 MiB with blocks of 1 KiB"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        image = folder.with_suffix(".image")
        with image.open("wb") as file:
            file.truncate(16 << 20)
        subprocess.run(["mkfs.ext4", "-q", "-m", "0", "-b", "1024", image], check=True)
        subprocess.run(["mount", "-o", "loop", image, folder], check=True)
