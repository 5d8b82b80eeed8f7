"""Small pictures in the forms that decoders get wrong, and the pixels that Pillow reads from them.

usage: images.py OUT_FOLDER
"""
import json
import pathlib
import sys

import numpy as np
import PIL
from PIL import Image, ImageOps, features

out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
size = (12, 8)  # width, height


def gradient(channels):
    y, x = np.mgrid[0 : size[1], 0 : size[0]]
    planes = [x * 20, y * 30, 255 - x * 10 - y * 10, (x * 23) % 256]
    return np.stack(planes[:channels], axis=-1).astype(np.uint8)


def over_white(image):
    rgba = np.asarray(image.convert("RGBA")).astype(int)
    alpha = rgba[..., 3:]
    return ((rgba[..., :3] * alpha + 255 * (255 - alpha) + 127) // 255).astype(int)


expected = {}


def write(name, image, pixels=None, **options):
    image.save(out / name, **options)
    read = ImageOps.exif_transpose(Image.open(out / name)) if pixels is None else None
    pixels = over_white(read) if pixels is None else pixels
    expected[name] = {"width": pixels.shape[1], "height": pixels.shape[0], "rgb": pixels.flatten().tolist()}


rgb, rgba = Image.fromarray(gradient(3)), Image.fromarray(gradient(4))
write("rgb.png", rgb)
write("alpha.png", rgba)
write("gray.png", rgb.convert("L"))
write("gray_alpha.png", rgba.convert("LA"))
write("palette.png", rgb.quantize(16))
write("palette_transparent.png", rgb.quantize(16), transparency=3)
write("one_bit.png", rgb.convert("1"))
gray16 = (np.arange(96, dtype=np.uint32).reshape(8, 12) * 689).astype(np.uint16)
write("gray16.png", Image.fromarray(gray16), np.stack([np.rint(gray16 / 257).astype(int)] * 3, axis=-1))
write("lossless.webp", rgb, lossless=True)
write("alpha.webp", rgba, lossless=True, exact=True)
write("animated.webp", rgb, over_white(rgb), lossless=True, save_all=True,
      append_images=[Image.new("RGB", size, "black")], duration=50)
for orientation in (1, 3, 6, 8):
    exif = Image.Exif()
    exif[0x0112] = orientation
    write(f"turned_{orientation}.jpg", rgb, exif=exif, quality=95, subsampling=0)
write("progressive.jpg", rgb, progressive=True, quality=95, subsampling=0)
write("gray.jpg", rgb.convert("L"), quality=95)

versions = {"pillow": PIL.__version__, "numpy": np.__version__, "webp": features.version("webp")}
(out / "expected.json").write_text(json.dumps({"versions": versions, "pictures": expected}) + "\n")
