"""Tests of the plugin: in a daemon, against the test's implementation of the daemon, of its functions alone, and with
`trestle plugin check`."""

from __future__ import annotations

import base64
import io
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path
from typing import Any, Iterator

FOLDER = Path(__file__).resolve().parent
PACKAGE = FOLDER.parent.parent / "Clients/Python"
sys.path[:0] = [str(PACKAGE), str(FOLDER)]

try:
    from PIL import Image
except ImportError:
    raise unittest.SkipTest("Pillow is not installed: python3-pil, for /usr/bin/python3") from None

import thumbnail  # noqa: E402
from tests.fake_daemon import FakeDaemon, read_manifest  # noqa: E402
from tests.support import TEST_TIMEOUT, Daemon, daemon_folder  # noqa: E402
from trestle_bridge import BridgeError, Stream, connect  # noqa: E402

MANIFEST = FOLDER / "thumbnail.plugin.toml"
MEMORY = 1536 << 20
"""The limit of the manifest."""


def encoded(image: Image.Image, kind: str = "PNG", **settings: Any) -> bytes:
    output = io.BytesIO()
    image.save(output, kind, **settings)
    return output.getvalue()


def claiming(width: int, height: int) -> bytes:
    """Returns a PNG of a few bytes whose header claims this size."""
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(100))) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def noisy(width: int, height: int) -> Image.Image:
    """Returns a picture whose file is as large as its pixels."""
    return Image.frombytes("RGB", (width, height), os.urandom(width * height * 3))


def copied_to(plugins: Path) -> None:
    """Installs the plugin as the README does: with the package beside it."""
    for file in FOLDER.glob("thumbnail.*"):
        shutil.copy(file, plugins)
    shutil.copytree(PACKAGE / "trestle_bridge", plugins / "trestle_bridge")


class DaemonTests(unittest.TestCase):
    daemon: Daemon
    folder: Path

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="trestle-thumbnail-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        copied_to(cls.folder)
        cls.daemon = Daemon(cls.folder)
        cls.addClassCleanup(cls.daemon.close)

    def setUp(self) -> None:
        self.bridge = connect(self.daemon.path)
        self.addCleanup(self.bridge.close)

    def make(self, photo: bytes, **options: Any) -> tuple[dict[str, Any], Image.Image]:
        asked = {"photo": Stream(photo), "width": 100, "height": 50, **options}
        result = self.bridge.call("thumbnail", asked, timeout=TEST_TIMEOUT)
        with self.bridge.read_stream(result["thumbnail"]) as stream:
            image = Image.open(io.BytesIO(stream.readall()))
        self.assertEqual((image.format or "").lower(), result["format"])
        self.assertEqual(image.size, (result["width"], result["height"]))
        return result, image

    def fails(self, photo: Any) -> str:
        with self.assertRaises(BridgeError) as raised:
            self.bridge.call("thumbnail", {"photo": photo, "width": 10, "height": 10}, timeout=TEST_TIMEOUT)
        return raised.exception.code

    def test_it_fits_the_bounds_and_keeps_its_shape(self) -> None:
        for kind in ("PNG", "JPEG", "GIF", "WEBP"):
            result, image = self.make(encoded(Image.new("RGB", (800, 600), "red"), kind))
            self.assertEqual((image.size, result["format"]), ((67, 50), "jpeg"), kind)
            red, green, blue = image.convert("RGB").getpixel((30, 25))
            self.assertTrue(red > 230 and green < 25 and blue < 25, (kind, red, green, blue))

    def test_a_small_one_stays_small(self) -> None:
        self.assertEqual(self.make(encoded(Image.new("RGB", (7, 5))))[1].size, (7, 5))

    def test_what_is_transparent_stays_so_unless_it_is_to_be_a_jpeg(self) -> None:
        photo = encoded(Image.new("RGBA", (400, 200), (0, 0, 255, 0)))
        self.assertEqual(self.make(photo)[1].getpixel((5, 5))[3], 0)
        self.assertEqual(self.make(photo, format="jpeg")[1].getpixel((5, 5)), (255, 255, 255))

    def test_what_a_camera_held_on_its_side_took_stands_upright(self) -> None:
        exif = Image.Exif()
        exif[thumbnail.ORIENTATION] = 6
        photo = encoded(Image.new("RGB", (1000, 500)), "JPEG", exif=exif.tobytes())
        self.assertEqual(self.make(photo)[1].size, (25, 50))

    def test_bombs_are_refused_before_they_are_decoded(self) -> None:
        for width, height in ((5000, 5000), (65_000, 65_000), (2**31 - 1, 2**31 - 1)):
            self.assertEqual(self.fails(Stream(claiming(width, height))), "thumbnail.too_large")
        self.assertEqual(self.fails(Stream(claiming(4000, 4000))), "thumbnail.no_image")

    def test_what_is_no_picture_is_refused(self) -> None:
        whole = encoded(Image.effect_noise((300, 300), 50), "JPEG")
        for photo in (b"", b"nonsense", whole[: len(whole) // 2], b"%!PS-Adobe-3.0 EPSF-3.0\n"):
            self.assertEqual(self.fails(Stream(photo)), "thumbnail.no_image")

    def test_what_names_no_stream_is_refused(self) -> None:
        self.assertEqual(self.fails("stream:" + "0" * 32), "stream.not_found")
        self.assertEqual(self.fails(5), "options.invalid")

    def test_a_photo_may_be_larger_than_a_message(self) -> None:
        photo = encoded(noisy(1000, 800))
        self.assertGreater(len(photo), 2 << 20)
        self.assertEqual(self.make(photo)[1].size, (62, 50))

    def test_a_thumbnail_may_be_larger_than_a_message(self) -> None:
        _, image = self.make(encoded(noisy(1024, 1024)), width=1024, height=1024, format="png")
        self.assertEqual(image.size, (1024, 1024))

    def test_a_stream_that_breaks_ends_the_call(self) -> None:
        photo = encoded(noisy(1000, 800))

        def half() -> Iterator[bytes]:
            yield photo[: len(photo) // 2]
            raise OSError("the card was pulled out")

        self.assertEqual(self.fails(Stream(half())), "stream.closed")

    def test_a_call_that_ends_takes_its_reading_along(self) -> None:
        # As many as may run in parallel, with streams that then stop.
        for _ in range(2):
            writer = self.bridge.make_stream()
            call = self.bridge.submit("thumbnail", {"photo": writer.name, "width": 10, "height": 10})
            # More than the daemon and a pipe buffer: the write returns once the plugin reads.
            writer.write(bytes(1 << 20))
            call.cancel()
            with self.assertRaises(BridgeError) as raised:
                call.result(TEST_TIMEOUT)
            self.assertEqual(raised.exception.code, "call.cancelled")
            # The plugin receives the cancellation after the caller.
            with self.assertRaises(BridgeError) as raised:
                while True:
                    writer.write(bytes(1 << 20))
            self.assertEqual((raised.exception.code, raised.exception.data["by"]), ("stream.closed", "reader"))
        self.assertEqual(self.make(encoded(Image.new("RGB", (7, 5))))[1].size, (7, 5))

    def test_the_command_line_sends_a_file_and_writes_one(self) -> None:
        programs = daemon_folder()
        assert programs is not None
        photo, thumbnail_file = self.folder / "photo.jpg", self.folder / "thumbnail.jpg"
        photo.write_bytes(encoded(noisy(1600, 1200), "JPEG", quality=95))
        # The command of the README.
        command = f"trestle --socket {self.daemon.path} call thumbnail photo=@photo.jpg width=128 height=128"
        environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
        done = subprocess.run(
            f"{command} > {thumbnail_file.name}", shell=True, cwd=self.folder, env=environment, capture_output=True,
            text=True,
        )
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        with Image.open(thumbnail_file) as image:
            self.assertEqual((image.format, image.size), ("JPEG", (128, 96)))


class WireTests(unittest.TestCase):
    def setUp(self) -> None:
        environment = {"PYTHONPATH": str(PACKAGE)}
        self.daemon = FakeDaemon.of_manifest(MANIFEST, environment, memory_bytes=MEMORY, descriptors=64)
        self.addCleanup(self.daemon.close)
        self.daemon.start()

    def answer(self, task: str, result: Any) -> Any:
        """Answers a call of the plugin; returns its options."""
        call = self.daemon.next(task=task)
        self.daemon.send({"callbackId": call["callbackId"], "result": result})
        return call["options"]

    def start(self, photo: bytes, by_pipe: bool = False) -> int:
        """Starts a call, and sends it the photo, in messages or by a pipe."""
        options = {"photo": "stream:photo", "width": 10, "height": 10}
        call = self.daemon.start_call("thumbnail", options, progress=True)
        attach = self.daemon.next(task="bridge.stream.attach")
        if by_pipe:
            self.give_pipe(attach, photo)
            return call
        refusal = {"code": "busy", "message": "no pipe is left"}
        self.daemon.send({"callbackId": attach["callbackId"], "error": refusal})
        self.answer("bridge.stream.read", {"base64": base64.b64encode(photo).decode("ascii")})
        self.answer("bridge.stream.read", {"end": True, "bytes": len(photo)})
        return call

    def give_pipe(self, attach: Any, photo: bytes) -> None:
        """Sends the reading end of a pipe that holds the photo, which fits into the pipe."""
        reader, writer = os.pipe()
        os.write(writer, photo)
        os.close(writer)
        line = json.dumps({"callbackId": attach["callbackId"], "result": {}}).encode() + b"\n"
        socket.send_fds(self.daemon.socket, [line], [reader])
        os.close(reader)
        self.answer("bridge.stream.read", {"end": True, "bytes": len(photo)})
        closed = self.answer("bridge.stream.close", {"bytes": len(photo), "complete": True})
        self.assertEqual(closed["bytes"], len(photo))

    def test_it_says_how_far_it_is(self) -> None:
        call = self.start(encoded(Image.new("RGB", (80, 60))))
        steps = [self.daemon.next(callbackId=call, progress=...)["progress"]["step"] for _ in range(3)]
        self.assertEqual(steps, ["opened", "decoded", "scaled"])

    def test_a_photo_comes_through_a_pipe_where_the_daemon_passes_one(self) -> None:
        call = self.start(encoded(Image.new("RGB", (80, 60))), by_pipe=True)
        self.answer("bridge.stream.new", {"stream": "stream:thumbnail", "room": 1 << 20})
        self.assertEqual(self.daemon.next(callbackId=call, result=...)["result"]["height"], 8)

    def test_it_says_what_a_thumbnail_is_and_how_many_bytes_it_has(self) -> None:
        for mode, kind in (("RGB", "jpeg"), ("RGBA", "png")):
            call = self.start(encoded(Image.new(mode, (80, 60))))
            about = self.answer("bridge.stream.new", {"stream": "stream:thumbnail", "room": 1 << 20})
            expected = {"thumbnail": "stream:thumbnail", "format": kind, "width": 10, "height": 8}
            # Both sides number their calls from 1.
            self.assertEqual(self.daemon.next(callbackId=call, result=...)["result"], expected)
            written = base64.b64decode(self.answer("bridge.stream.write", {"room": 1 << 20})["base64"])
            self.assertEqual((about["type"], about["bytes"]), (f"image/{kind}", len(written)))

    def test_it_stops(self) -> None:
        self.assertEqual(self.daemon.stop(), 0)


class ManifestTests(unittest.TestCase):
    def test_it_declares_what_the_program_has(self) -> None:
        manifest = read_manifest(MANIFEST)
        self.assertEqual([task["name"] for task in manifest["tasks"]], ["thumbnail"])
        self.assertEqual(set(manifest["tasks"][0]["options"]["properties"]), {"photo", "width", "height", "format"})
        limit = manifest["tasks"][0]["options"]["properties"]["photo"]["description"]
        self.assertIn(f"{thumbnail.MAX_BYTES >> 20} MiB", limit)
        self.assertEqual(manifest["limits"]["memory"], f"{MEMORY >> 20}MiB")


class CheckTests(unittest.TestCase):
    def test_it_does_all_that_a_plugin_must_do(self) -> None:
        programs = daemon_folder()
        if programs is None:
            self.skipTest("there is no trestled: build it, or name its folder in TRESTLE_BIN")
        with tempfile.TemporaryDirectory(prefix="trestle-thumbnail-") as name:
            plugins = Path(name)
            copied_to(plugins)
            # The check has no stream for a call, so this call fails with an error for that.
            options = '{"photo": "stream:00000000000000000000000000000000", "width": 100, "height": 50}'
            check = [
                programs / "trestle", "plugin", "check", plugins / MANIFEST.name, "--call", f"thumbnail={options}",
            ]
            done = subprocess.run(check, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
