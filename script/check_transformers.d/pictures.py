"""Pictures and videos drawn at random, and uncompressed AVI files, whose frames every decoder gives back unchanged."""

import struct

import numpy as np
from PIL import Image


def draw_size(rng, block):
    """block: the side of the square of patches that becomes one token."""
    kind = rng.choice(["tiny", "usual", "usual", "usual", "wide", "tall", "exact"])
    if kind == "tiny":
        return rng.randint(1, block), rng.randint(1, block)
    if kind == "exact":
        return block * rng.randint(1, 5), block * rng.randint(1, 5)
    long, short = rng.randint(4 * block, 12 * block), rng.randint(max(1, block // 3), block)
    sizes = {"wide": (long, short), "tall": (short, long)}
    return sizes.get(kind, (rng.randint(block, 6 * block), rng.randint(block, 6 * block)))


def draw_pixels(rng, width, height):
    """Waves, a disc and noise: smooth parts, edges and single pixels that differ."""
    noise = np.random.default_rng(rng.getrandbits(32))
    y, x = np.mgrid[0:height, 0:width]
    waves = [127 + 120 * np.sin(x / noise.uniform(2, 40) + y / noise.uniform(2, 40) + channel) for channel in range(3)]
    pixels = np.stack(waves, -1)
    disc = (x - width * noise.uniform()) ** 2 + (y - height * noise.uniform()) ** 2 < (min(width, height) / 3) ** 2
    pixels[disc] = noise.uniform(0, 255, 3)
    pixels[noise.uniform(size=(height, width)) < 0.05] = noise.uniform(0, 255, 3)
    return pixels.clip(0, 255).astype(np.uint8)


def draw_picture(rng, block):
    picture = Image.fromarray(draw_pixels(rng, *draw_size(rng, block)))
    return picture.convert("L") if rng.random() < 0.15 else picture


def draw_video(rng, block):
    """Frames of one size, [frames, height, width, 3], and how many a second."""
    width, height = rng.randint(block, 4 * block), rng.randint(block, 4 * block)
    frames = [draw_pixels(rng, width, height) for _ in range(rng.randint(2, 16))]
    return np.stack(frames), rng.choice([1, 2, 4, 10, 25])


def chunk(name, content):
    return name + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)


def write_avi(path, frames, fps):
    count, height, width, _ = frames.shape
    rows = np.zeros((count, height, (3 * width + 3) // 4 * 4), np.uint8)  # each row fills whole words
    rows[:, :, : 3 * width] = frames[:, ::-1, :, ::-1].reshape(count, height, 3 * width)  # from the bottom, BGR
    size = rows[0].size
    main = struct.pack("<14I", 1_000_000 // fps, 0, 0, 0x10, count, 0, 1, size, width, height, 0, 0, 0, 0)
    stream = b"vidsDIB " + struct.pack("<10I4H", 0, 0, 0, 1, fps, 0, count, size, 0xFFFFFFFF, 0, 0, 0, width, height)
    format = struct.pack("<3I2H6I", 40, width, height, 1, 24, 0, size, 0, 0, 0, 0)
    header = chunk(b"LIST", b"strl" + chunk(b"strh", stream) + chunk(b"strf", format))
    movie = b"".join(chunk(b"00db", row.tobytes()) for row in rows)
    places = [4 + i * (size + 8) for i in range(count)]
    index = b"".join(b"00db" + struct.pack("<3I", 0x10, place, size) for place in places)
    path.write_bytes(chunk(b"RIFF", b"AVI " + chunk(b"LIST", b"hdrl" + chunk(b"avih", main) + header) +
                           chunk(b"LIST", b"movi" + movie) + chunk(b"idx1", index)))
