# case 24: numbers, archives, pickles and pictures that expand when read
# reason: ok
# limits: wall=6,cpu=12,memory=256M
# tiers: ABC

import cv2, numpy as np, pickle, struct, sys, zlib

packer = zlib.compressobj(9, zlib.DEFLATED, -15)
block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)  # 1 MB of zeros; may be repeated


def png(width, height, megabytes):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    pixels = b"\x78\x01" + block * megabytes + b"\x01\x00\x00\xff\xff" + bytes(4)
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


# ---- fork
# reason: wall_timeout
sys.set_int_max_str_digits(0)
str(1 << 400_000_000)

# ---- back
print("held")

# ---- fork
# reason: memory_limit
zlib.decompressobj(-15).decompress(block * 8192)

# ---- back
print("held")

# ---- fork
# reason: memory_limit
pickle.loads(b"\x80\x04Nr\xff\xff\xff\x7f.")  # "remember this as number two thousand million"

# ---- back
print("held")

# ---- fork
# reason: exception,memory_limit
with open("wide.png", "wb") as file:
    file.write(png(60_000, 60_000, 16))
picture = cv2.imread("wide.png", cv2.IMREAD_GRAYSCALE)
if picture is None:
    raise ValueError("not read")
print("ESCAPED a picture of", picture.size, "bytes")

# ---- back
print("held")

# ---- fork
# reason: memory_limit,exception
picture = cv2.imdecode(np.frombuffer(png(30_000, 30_000, 859), np.uint8), cv2.IMREAD_GRAYSCALE)
if picture is None:
    raise ValueError("not read")
print("ESCAPED a picture of", picture.size, "bytes")

# ---- back
# output: held
print("held")
