"""The plugin, against a daemon's side that the tests speak, its function alone, and as `trestle plugin check` sees it."""

from __future__ import annotations

import base64
import io
import json
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path
from typing import Any, Optional

FOLDER = Path(__file__).resolve().parent
PACKAGE = FOLDER.parent.parent / "Clients/Python"
sys.path[:0] = [str(PACKAGE), str(FOLDER)]

try:
    from PIL import Image
except ImportError:
    raise unittest.SkipTest("Pillow is not installed: python3-pil, for /usr/bin/python3") from None

import thumbnail  # noqa: E402
from tests.fake_daemon import FakeDaemon, PluginError, read_manifest  # noqa: E402
from tests.support import daemon_folder  # noqa: E402
from trestle_bridge import BridgeError  # noqa: E402

MANIFEST = FOLDER / "thumbnail.plugin.toml"


def encoded(image: Image.Image, kind: str = "PNG", **settings: Any) -> str:
    output = io.BytesIO()
    image.save(output, kind, **settings)
    return base64.b64encode(output.getvalue()).decode("ascii")


def claiming(width: int, height: int) -> str:
    """A PNG of a few bytes that says it is this large."""
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(100))) + chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + parts).decode("ascii")


class PluginTests(unittest.TestCase):
    def setUp(self) -> None:
        self.daemon = FakeDaemon.of_manifest(MANIFEST, {"PYTHONPATH": str(PACKAGE)}, memory_bytes=1 << 30, descriptors=64)
        self.addCleanup(self.daemon.close)
        self.daemon.start()

    def make(self, data: str, **options: Any) -> tuple[dict[str, Any], Image.Image]:
        result = self.daemon.call("thumbnail", {"data": data, "width": 100, "height": 50, **options})
        image = Image.open(io.BytesIO(base64.b64decode(result["data"])))
        self.assertEqual((image.format or "").lower(), result["format"])
        self.assertEqual(image.size, (result["width"], result["height"]))
        return result, image

    def fails(self, data: str) -> str:
        with self.assertRaises(PluginError) as raised:
            self.daemon.call("thumbnail", {"data": data, "width": 10, "height": 10})
        return str(raised.exception.code)

    def test_it_fits_the_bounds_and_keeps_its_shape(self) -> None:
        for kind in ("PNG", "JPEG", "GIF", "WEBP"):
            result, image = self.make(encoded(Image.new("RGB", (800, 600), "red"), kind))
            self.assertEqual((image.size, result["format"]), ((67, 50), "jpeg"), kind)
            red, green, blue = image.convert("RGB").getpixel((30, 25))
            self.assertTrue(red > 230 and green < 25 and blue < 25, (kind, red, green, blue))

    def test_a_small_one_stays_small(self) -> None:
        self.assertEqual(self.make(encoded(Image.new("RGB", (7, 5))))[1].size, (7, 5))

    def test_what_is_transparent_stays_so_unless_it_is_to_be_a_jpeg(self) -> None:
        data = encoded(Image.new("RGBA", (400, 200), (0, 0, 255, 0)))
        self.assertEqual(self.make(data)[1].getpixel((5, 5))[3], 0)
        self.assertEqual(self.make(data, format="jpeg")[1].getpixel((5, 5)), (255, 255, 255))

    def test_what_a_camera_held_on_its_side_took_stands_upright(self) -> None:
        exif = Image.Exif()
        exif[thumbnail.ORIENTATION] = 6
        data = encoded(Image.new("RGB", (1000, 500)), "JPEG", exif=exif.tobytes())
        self.assertEqual(self.make(data)[1].size, (25, 50))

    def test_bombs_are_refused_before_they_are_decoded(self) -> None:
        for width, height in ((5000, 5000), (65_000, 65_000), (2**31 - 1, 2**31 - 1)):
            self.assertEqual(self.fails(claiming(width, height)), "thumbnail.too_large")
        self.assertEqual(self.fails(claiming(4000, 4000)), "thumbnail.no_image")

    def test_what_is_no_picture_is_refused(self) -> None:
        whole = base64.b64decode(encoded(Image.effect_noise((300, 300), 50), "JPEG"))
        for data in (b"", b"nonsense", whole[: len(whole) // 2], b"%!PS-Adobe-3.0 EPSF-3.0\n"):
            self.assertEqual(self.fails(base64.b64encode(data).decode("ascii")), "thumbnail.no_image")
        for text in ("not base 64!", "é"):
            self.assertEqual(self.fails(text), "options.invalid")

    def test_it_says_how_far_it_is(self) -> None:
        options = {"data": encoded(Image.new("RGB", (80, 60))), "width": 10, "height": 10}
        call = self.daemon.start_call("thumbnail", options, progress=True)
        steps = [self.daemon.next(callbackId=call)["progress"]["step"] for _ in range(3)]
        self.assertEqual(steps, ["opened", "decoded", "scaled"])
        self.daemon.result(call)

    def test_it_stops(self) -> None:
        self.assertEqual(self.daemon.stop(), 0)


class CancelTests(unittest.TestCase):
    def test_it_ends_at_the_next_step(self) -> None:
        for at in ("decoded", "scaled"):
            call = CancelledAt(at)
            with self.assertRaises(BridgeError):
                options = {"data": encoded(Image.new("RGB", (80, 60))), "width": 10, "height": 10}
                thumbnail.thumbnail(options, call)  # type: ignore[arg-type]
            self.assertEqual(call.said, at)


class CancelledAt:
    """A call whose result is no longer wanted from some step on."""

    def __init__(self, at: str) -> None:
        self.at = at
        self.said: Optional[str] = None

    def report_progress(self, value: Any) -> bool:
        self.said = value["step"]
        return True

    def check_cancelled(self) -> None:
        if self.said == self.at:
            raise BridgeError("call.cancelled", "it was")


class ManifestTests(unittest.TestCase):
    def test_it_declares_what_the_program_has(self) -> None:
        manifest = read_manifest(MANIFEST)
        self.assertEqual([task["name"] for task in manifest["tasks"]], ["thumbnail"])
        self.assertEqual(set(manifest["tasks"][0]["options"]["properties"]), {"data", "width", "height", "format"})


class CheckTests(unittest.TestCase):
    def test_it_does_all_that_a_plugin_must_do(self) -> None:
        programs = daemon_folder()
        if programs is None:
            self.skipTest("there is no trestled: build it, or name its folder in TRESTLE_BIN")
        with tempfile.TemporaryDirectory(prefix="trestle-thumbnail-") as name:
            # As the page has it: the package lies beside the plugin.
            plugins = Path(name)
            for file in FOLDER.glob("thumbnail.*"):
                shutil.copy(file, plugins)
            shutil.copytree(PACKAGE / "trestle_bridge", plugins / "trestle_bridge")
            options = plugins / "options.json"
            options.write_text(json.dumps({
                "data": encoded(Image.new("RGB", (800, 600), "red")), "width": 100, "height": 50,
            }), "utf-8")
            check = [
                programs / "trestle", "plugin", "check", plugins / MANIFEST.name, "--call", f"thumbnail=@{options}",
            ]
            done = subprocess.run(check, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
