"""Small pictures in the forms that decoders get wrong, and the pixels that Pillow reads from them. What Pillow does not
write or read as the standards have it (transparent colours, interlacing, inks without Adobe's marker) is made here byte
by byte, and its pixels follow from the samples.

usage: images.py OUT_FOLDER
"""
import io
import json
import pathlib
import struct
import sys
import zlib

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


def expect(name, pixels):
    expected[name] = {"width": pixels.shape[1], "height": pixels.shape[0], "rgb": pixels.flatten().tolist()}


def write(name, image, pixels=None, **options):
    image.save(out / name, **options)
    read = ImageOps.exif_transpose(Image.open(out / name)) if pixels is None else None
    expect(name, over_white(read) if pixels is None else pixels)


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
for orientation in range(1, 9):
    exif = Image.Exif()
    exif[0x0112] = orientation
    if orientation in (1, 3, 6, 8):
        write(f"turned_{orientation}.jpg", rgb, exif=exif, quality=95, subsampling=0)
    write(f"turned_{orientation}.png", rgb, exif=exif)
    write(f"turned_{orientation}.webp", rgb, exif=exif, lossless=True)
write("progressive.jpg", rgb, progressive=True, quality=95, subsampling=0)
write("gray.jpg", rgb.convert("L"), quality=95)

# ---- PNG, byte by byte

PASSES = {0: [(0, 0, 1, 1)],
          1: [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]}


def chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def packed(samples, depth):
    bits = "".join(format(int(sample), f"0{depth}b") for sample in samples)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))


def png(samples, depth, colour, interlace=0, transparent=None, before=b"", behind=b""):
    """samples: [height, width, channels]; transparent: one pixel's samples."""
    height, width = samples.shape[:2]
    rows = b""
    for left, top, right, down in PASSES[interlace]:
        part = samples[top::down, left::right]
        if part.size:
            rows += b"".join(b"\0" + packed(row.flatten(), depth) for row in part)
    alpha = b"" if transparent is None else chunk(b"tRNS", struct.pack(f">{len(transparent)}H", *map(int, transparent)))
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + before + alpha + chunk(b"IDAT", zlib.compress(rows)) + behind
            + chunk(b"IEND", b""))


def write_png(name, samples, depth, colour, interlace=0, transparent=None, before=b"", behind=b""):
    (out / name).write_bytes(png(samples, depth, colour, interlace, transparent, before, behind))
    pixels = np.rint(samples * 255 / (2**depth - 1)).astype(int)
    if transparent is not None:
        pixels[(samples == np.asarray(transparent)).all(axis=-1)] = 255
    expect(name, np.repeat(pixels, 3, axis=-1) if samples.shape[-1] == 1 else pixels)


random = np.random.default_rng(1)
for depth in (1, 2, 4, 8, 16):
    for colour, channels in ((0, 1), (2, 3)):
        if colour == 2 and depth < 8:
            continue
        samples = random.integers(0, 2**depth, (9, 13, channels))
        for interlace, form in enumerate(("", "_interlaced")):
            write_png(f"{'gray' if colour == 0 else 'rgb'}{depth}_transparent{form}.png", samples, depth, colour, interlace,
                      samples[2, 3])

# ---- where EXIF may stand, and in which byte order

TURN = struct.pack(">2sHIHHHIHHI", b"MM", 42, 8, 1, 0x0112, 3, 1, 6, 0, 0)
turned = np.rot90(gradient(3), -1).astype(int)
(out / "exif_behind.png").write_bytes(png(gradient(3), 8, 2, behind=chunk(b"eXIf", TURN)))
expect("exif_behind.png", turned)
(out / "exif_named.png").write_bytes(png(gradient(3), 8, 2, before=chunk(b"eXIf", b"Exif\0\0" + TURN)))
expect("exif_named.png", turned)



def read_by_pillow(name, content):
    (out / name).write_bytes(content)
    expect(name, over_white(ImageOps.exif_transpose(Image.open(out / name))))


def saved(form, **options):
    file = io.BytesIO()
    rgb.save(file, form, **options)
    return file.getvalue()


LONG_TURN = struct.pack(">2sHIHHHIII", b"MM", 42, 8, 1, 0x0112, 4, 1, 6, 0)
RAW = b"\nexif\n%8d\n" % len(b"Exif\0\0" + TURN) + (b"Exif\0\0" + TURN).hex().encode() + b"\n"
XMP = (b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
       b'<rdf:Description xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="6"/></rdf:RDF></x:xmpmeta>')
read_by_pillow("exif_long.png", png(gradient(3), 8, 2, before=chunk(b"eXIf", LONG_TURN)))
read_by_pillow("exif_raw.png", png(gradient(3), 8, 2, before=chunk(b"tEXt", b"Raw profile type exif\0" + RAW)))
read_by_pillow("exif_raw_packed.png",
               png(gradient(3), 8, 2, before=chunk(b"zTXt", b"Raw profile type exif\0\0" + zlib.compress(RAW))))
read_by_pillow("xmp.png", png(gradient(3), 8, 2, before=chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + XMP)))
read_by_pillow("xmp_packed.png",
               png(gradient(3), 8, 2, before=chunk(b"iTXt", b"XML:com.adobe.xmp\0\1\0en\0\0" + zlib.compress(XMP))))
read_by_pillow("xmp_and_exif.png", png(gradient(3), 8, 2, before=chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + XMP),
                                       behind=chunk(b"eXIf", TURN.replace(b"\0\6\0\0", b"\0\3\0\0"))))
read_by_pillow("xmp.jpg", saved("JPEG", quality=95, subsampling=0, xmp=XMP.replace(b'="6"', b'>8<').replace(b"/>", b">")))
read_by_pillow("xmp.webp", saved("WEBP", lossless=True, xmp=XMP))

# ---- an animation whose first frame covers a part of it

frame = saved("WEBP", lossless=True)
picture = frame[frame.index(b"VP8L"):]


def little(value, count):
    return value.to_bytes(count, "little")


def riff(name, content):
    return name + little(len(content), 4) + content + b"\0" * (len(content) % 2)


place = little(3, 3) + little(2, 3) + little(size[0] - 1, 3) + little(size[1] - 1, 3) + little(50, 3) + b"\0"
body = (b"WEBP" + riff(b"VP8X", b"\x12\0\0\0" + little(29, 3) + little(19, 3)) + riff(b"ANIM", b"\0" * 6)
        + riff(b"ANMF", place + picture))
read_by_pillow("animated_part.webp", b"RIFF" + little(len(body), 4) + body)

# ---- four inks


def without_adobe(jpeg):
    begin = jpeg.index(b"\xff\xee")
    return jpeg[:begin] + jpeg[begin + 2 + int.from_bytes(jpeg[begin + 2 : begin + 4], "big") :]


def inks_to_rgb(light):
    """light: the share that each ink lets pass."""
    return np.rint(light[..., :3] * light[..., 3:] / 255).astype(int)


write("cmyk.jpg", Image.fromarray(gradient(4), "CMYK"), np.zeros((8, 12, 3), int), quality=95)
stored = 255 - np.asarray(Image.open(out / "cmyk.jpg")).astype(int)  # Pillow takes all samples for Adobe's
expect("cmyk.jpg", inks_to_rgb(stored))
(out / "cmyk_plain.jpg").write_bytes(without_adobe((out / "cmyk.jpg").read_bytes()))
expect("cmyk_plain.jpg", inks_to_rgb(255 - stored))

versions = {"pillow": PIL.__version__, "numpy": np.__version__, "webp": features.version("webp")}
(out / "expected.json").write_text(json.dumps({"versions": versions, "pictures": expected}) + "\n")
