#!/usr/bin/python3
"""A plugin that makes thumbnails, with Pillow. Pictures come as streams and never as paths: the daemon's user may read
files that a caller may not."""

from __future__ import annotations

import asyncio
import io
import warnings
from typing import Any, Callable

from PIL import Image, ImageOps

from trestle_bridge import BridgeError, Plugin, Stream, aio

FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
"""What is read. Of the others that Pillow knows some run programs, and most have had fewer eyes on them."""

MAX_BYTES = 64 << 20
"""Of a picture's file. A camera's picture has fewer, and a stream has no bound of its own."""

MAX_PIXELS = 24_000_000
"""A camera's picture. A file of some kilobytes may claim to be a thousand times larger, and would have its memory."""

ORIENTATION = 0x0112
"""The tag of EXIF that says how the camera was held; from 5 on, on its side."""

plugin = Plugin()

# Pillow warns of what is larger than it likes, and the bound here is smaller.
Image.MAX_IMAGE_PIXELS = MAX_PIXELS
warnings.simplefilter("ignore", Image.DecompressionBombWarning)


@plugin.task("thumbnail")
async def thumbnail(options: Any, call: aio.PluginCall) -> Any:
    """Makes a small picture of a large one. Its manifest says the rest."""
    # Cancelled as a task, so that no stream that stands still outlasts its call and keeps the place of another.
    async with call.read_stream(options["photo"]) as photo:
        file = await read(photo)
    return await run_to_end(make_thumbnail, file, options, call)


async def read(photo: aio.ByteReader) -> io.BytesIO:
    """All of a picture's file, or a refusal before more than the limit is in memory."""
    file = io.BytesIO()
    async for data in photo:
        if file.tell() + len(data) > MAX_BYTES:
            raise too_many_bytes()
        file.write(data)
    file.seek(0)
    return file


async def run_to_end(work: Callable[..., Any], *arguments: Any) -> Any:
    """Works on a thread, and waits for its end where the call is cancelled too: the daemon begins the next call once
    this one is answered, and the limit of memory counts two."""
    running = asyncio.ensure_future(asyncio.to_thread(work, *arguments))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.gather(running, return_exceptions=True)
        raise


def make_thumbnail(file: io.BytesIO, options: Any, call: aio.PluginCall) -> Any:
    """The result, of the picture in a file."""
    bounds = (options["width"], options["height"])
    image = open_image(file)
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
    data = output.getvalue()
    return {
        "thumbnail": Stream(data, f"image/{kind}", len(data)), "format": kind,
        "width": image.width, "height": image.height,
    }


def open_image(file: io.BytesIO) -> Image.Image:
    """Reads the head of a picture, and refuses what is none or too large."""
    try:
        image = Image.open(file, formats=FORMATS)
    except Image.DecompressionBombError:
        raise too_many_pixels("far more") from None
    except Exception as error:
        # Whatever a parser of hostile bytes may raise.
        raise no_image(error) from None
    if image.width * image.height > MAX_PIXELS:
        raise too_many_pixels(f"{image.width} × {image.height}")
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
    return BridgeError("thumbnail.no_image", f"the photo is no whole picture in one of {known}: {error}")


def too_many_pixels(size: str) -> BridgeError:
    return BridgeError(
        "thumbnail.too_large", f"the picture has {size} pixels, and {MAX_PIXELS:,} are taken",
        {"mostPixels": MAX_PIXELS},
    )


def too_many_bytes() -> BridgeError:
    return BridgeError(
        "thumbnail.too_large", f"the picture has more than {MAX_BYTES:,} bytes, the most that are taken",
        {"mostBytes": MAX_BYTES},
    )


if __name__ == "__main__":
    plugin.run()
