#!/usr/bin/python3
"""A plugin that makes thumbnails, with Pillow. It takes pictures as streams and never as paths: the daemon's user may
read files that a caller may not."""

from __future__ import annotations

import asyncio
import io
import warnings
from typing import Any, Callable

from PIL import Image, ImageOps

from trestle_bridge import BridgeError, Plugin, Stream, aio

FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
"""The formats that are read. Of the others that Pillow supports, some run programs, and most have been reviewed
less."""

MAX_BYTES = 64 << 20
"""The maximum size of a picture's file. A camera's picture is smaller, and a stream has no limit of its own."""

MAX_PIXELS = 24_000_000
"""The maximum for a camera's picture. A file of some kilobytes may claim to be a thousand times larger, and would
allocate that memory."""

ORIENTATION = 0x0112
"""The tag of EXIF that specifies how the camera was held; values from 5 on mean on its side."""

plugin = Plugin()

# Pillow warns of pictures above a limit of its own; the limit here is smaller.
Image.MAX_IMAGE_PIXELS = MAX_PIXELS
warnings.simplefilter("ignore", Image.DecompressionBombWarning)


@plugin.task("thumbnail")
async def thumbnail(options: Any, call: aio.PluginCall) -> Any:
    """Makes a small picture of a large one. The manifest describes the rest."""
    # A cancelled call cancels this task, so that a stalled stream does not outlast its call and occupy the slot of
    # another.
    async with call.read_stream(options["photo"]) as photo:
        file = await read(photo)
    return await run_to_end(make_thumbnail, file, options, call)


async def read(photo: aio.ByteReader) -> io.BytesIO:
    """Reads all of a picture's file, or raises an error before more than the limit is in memory."""
    file = io.BytesIO()
    async for data in photo:
        if file.tell() + len(data) > MAX_BYTES:
            raise too_many_bytes()
        file.write(data)
    file.seek(0)
    return file


async def run_to_end(work: Callable[..., Any], *arguments: Any) -> Any:
    """Runs work on a thread, and waits for its end even if the call is cancelled. The daemon begins the next call once
    this one is answered, and the memory limit is for two calls."""
    running = asyncio.ensure_future(asyncio.to_thread(work, *arguments))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.gather(running, return_exceptions=True)
        raise


def make_thumbnail(file: io.BytesIO, options: Any, call: aio.PluginCall) -> Any:
    """Makes the thumbnail of the picture in a file; returns the result."""
    bounds = (options["width"], options["height"])
    image = open_image(file)
    call.report_progress({"step": "opened", "format": image.format, "width": image.width, "height": image.height})
    # Pictures are decoded at reduced size if the format allows it, at least twice the bounds. The orientation is not
    # known yet.
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
    """Reads the header of a picture; raises an error if it is not a picture or too large."""
    try:
        image = Image.open(file, formats=FORMATS)
    except Image.DecompressionBombError:
        raise too_many_pixels("far more") from None
    except Exception as error:
        # A parser of hostile bytes may raise any exception.
        raise no_image(error) from None
    if image.width * image.height > MAX_PIXELS:
        raise too_many_pixels(f"{image.width} × {image.height}")
    return image


def decode(image: Image.Image) -> None:
    """Reads all of the picture, which takes time and memory."""
    try:
        image.load()
    except MemoryError:
        raise
    except Exception as error:
        raise no_image(error) from None


def orientation(image: Image.Image) -> int:
    """Returns how the camera was held; 1, upright, if that cannot be read."""
    try:
        return int(image.getexif().get(ORIENTATION, 1))
    except Exception:
        return 1


def done(call: PluginCall, step: str) -> None:
    """Reports a step. Between two steps it checks whether the call was cancelled."""
    call.report_progress({"step": step})
    call.check_cancelled()


def on_white(image: Image.Image) -> Image.Image:
    """Puts a picture on a white background, because JPEG has no transparency."""
    if image.mode == "RGB":
        return image
    white = Image.new("RGB", image.size, "white")
    white.paste(image, mask=image.getchannel("A"))
    return white


def no_image(error: Exception) -> BridgeError:
    known = ", ".join(FORMATS)
    return BridgeError("thumbnail.no_image", f"the photo is not a complete picture in one of {known}: {error}")


def too_many_pixels(size: str) -> BridgeError:
    return BridgeError(
        "thumbnail.too_large", f"the picture has {size} pixels, and {MAX_PIXELS:,} are taken",
        {"maximumPixels": MAX_PIXELS},
    )


def too_many_bytes() -> BridgeError:
    return BridgeError(
        "thumbnail.too_large", f"the picture has more than {MAX_BYTES:,} bytes, the most that are taken",
        {"maximumBytes": MAX_BYTES},
    )


if __name__ == "__main__":
    plugin.run()
