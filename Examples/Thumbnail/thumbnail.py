#!/usr/bin/python3
"""A plugin that makes thumbnails, with Pillow. Pictures come as data and never as paths: the daemon's user may read files
that a caller may not."""

from __future__ import annotations

import base64
import binascii
import io
import warnings
from typing import Any

from PIL import Image, ImageOps

from trestle_bridge import BridgeError, Plugin, PluginCall

FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
"""What is read. Of the others that Pillow knows some run programs, and most have had fewer eyes on them."""

MAX_PIXELS = 24_000_000
"""A camera's picture. A file of some kilobytes may claim to be a thousand times larger, and would have its memory."""

ORIENTATION = 0x0112
"""The tag of EXIF that says how the camera was held; from 5 on, on its side."""

plugin = Plugin()

# Pillow warns of what is larger than it likes, and the bound here is smaller.
Image.MAX_IMAGE_PIXELS = MAX_PIXELS
warnings.simplefilter("ignore", Image.DecompressionBombWarning)


@plugin.task("thumbnail")
def thumbnail(options: Any, call: PluginCall) -> Any:
    """Makes a small picture of a large one. Its manifest says the rest."""
    bounds = (options["width"], options["height"])
    image = open_image(options["data"])
    call.report_progress({"step": "opened", "format": image.format, "width": image.width, "height": image.height})
    # What can be decoded at half its size or less, is; which way up is not known yet.
    image.draft("RGB", (max(bounds) * 2, max(bounds) * 2))
    decode(image)
    done(call, "decoded")
    turned = orientation(image)
    if turned >= 5:
        bounds = bounds[::-1]
    has_alpha = image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info
    image = image.convert("RGBA" if has_alpha else "RGB")
    image.thumbnail(bounds, Image.Resampling.LANCZOS, reducing_gap=2.0)
    if turned > 1:
        image = ImageOps.exif_transpose(image)
    done(call, "scaled")
    output = io.BytesIO()
    kind = options.get("format") or ("png" if has_alpha else "jpeg")
    if kind == "png":
        image.save(output, "PNG", optimize=True)
    else:
        on_white(image).save(output, "JPEG", quality=85)
    return {
        "data": base64.b64encode(output.getvalue()).decode("ascii"), "format": kind,
        "width": image.width, "height": image.height,
    }


def open_image(text: str) -> Image.Image:
    """Reads the head of a picture, and refuses what is none or too large."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        about = {"path": "$.data", "expected": "base 64", "got": str(error)}
        raise BridgeError("options.invalid", f"the picture's data is no base 64: {error}", about) from None
    try:
        image = Image.open(io.BytesIO(data), formats=FORMATS)
    except Image.DecompressionBombError:
        raise too_large("far more") from None
    except Exception as error:
        # Whatever a parser of hostile bytes may raise.
        raise no_image(error) from None
    if image.width * image.height > MAX_PIXELS:
        raise too_large(f"{image.width} × {image.height}")
    return image


def decode(image: Image.Image) -> None:
    """Reads all of the picture: what takes time and memory."""
    try:
        image.load()
    except MemoryError:
        raise
    except Exception as error:
        raise no_image(error) from None


def orientation(image: Image.Image) -> int:
    """How the camera was held; 1, the right way up, where that cannot be read."""
    try:
        return int(image.getexif().get(ORIENTATION, 1))
    except Exception:
        return 1


def done(call: PluginCall, step: str) -> None:
    """Between two steps is the place to see whether a caller still waits."""
    call.report_progress({"step": step})
    call.check_cancelled()


def on_white(image: Image.Image) -> Image.Image:
    """JPEG knows nothing of transparency."""
    if image.mode == "RGB":
        return image
    white = Image.new("RGB", image.size, "white")
    white.paste(image, mask=image.getchannel("A"))
    return white


def no_image(error: Exception) -> BridgeError:
    known = ", ".join(FORMATS)
    return BridgeError("thumbnail.no_image", f"the data is no whole picture in one of {known}: {error}")


def too_large(size: str) -> BridgeError:
    return BridgeError(
        "thumbnail.too_large", f"the picture has {size} pixels, and {MAX_PIXELS:,} are taken",
        {"mostPixels": MAX_PIXELS},
    )


if __name__ == "__main__":
    plugin.run()
