"""Golden files of the image processor: pictures resized by PIL and by torchvision, sizes of smart_resize, and patches of transformers'
Qwen2VLImageProcessor (its PIL and its torch version). Usage: image_processor.py OUTPUT_FOLDER"""
import json
import os
import random
import sys

import numpy as np
import PIL
import torch
import transformers
from PIL import Image
from torchvision.transforms.v2 import InterpolationMode
from torchvision.transforms.v2.functional import resize
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
from transformers.models.qwen2_vl.image_processing_qwen2_vl import Qwen2VLImageProcessor, smart_resize

OUT = sys.argv[1]


def picture(width, height, seed):
    """Noise over a gradient with hard edges; the C++ test draws the same bytes."""
    state, data = seed, np.zeros((height, width, 3), np.uint8)
    for y in range(height):
        for x in range(width):
            for c in range(3):
                state = (state * 1664525 + 1013904223) % 2**32
                edge = 255 if (x // 7 + y // 5 + c) % 3 == 0 else 0
                data[y, x, c] = (edge + x * 3 + y * 2 + (state >> 24) % 64) // 2 % 256
    return data


RESIZES = [((40, 30), (28, 28)), ((40, 30), (84, 56)), ((7, 5), (28, 28)), ((1, 1), (28, 28)), ((61, 33), (56, 33)),
           ((61, 33), (61, 28)), ((100, 3), (84, 28)), ((3, 90), (28, 56)), ((56, 56), (56, 56)), ((90, 70), (3, 2))]


def resizes():
    rows, data = [], b""
    for i, ((width, height), size) in enumerate(RESIZES):
        resized = Image.fromarray(picture(width, height, i)).resize(size, Image.BICUBIC)
        rows.append({"seed": i, "from": [width, height], "to": list(size), "offset": len(data)})
        data += np.asarray(resized).tobytes()
    with open(os.path.join(OUT, "resized.bin"), "wb") as file:
        file.write(data)
    return rows


def as_mode(data, mode):
    if mode == "RGB":
        return data
    if mode == "P":
        return data // 64 * 85
    first = np.broadcast_to(data[:, :, :1], data.shape)
    return np.ascontiguousarray(first if mode == "L" else np.where(first > 127, 255, 0).astype(np.uint8))


def torchvision_resizes():
    """Checksums: the bytes would be large."""
    random.seed(3)
    rows = []
    for seed in range(200):
        mode, top = ("RGB", "L", "1", "P")[seed % 4], (20, 60, 130)[seed % 3]
        start = [random.randint(1, top), random.randint(1, top)]
        to = [random.randint(1, 5) * 28, random.randint(1, 5) * 28] if seed % 2 else [random.randint(1, 90), random.randint(1, 90)]
        data = torch.from_numpy(as_mode(picture(*start, seed), mode)).permute(2, 0, 1).contiguous()
        resized = resize(data, to[::-1], interpolation=InterpolationMode.BICUBIC, antialias=True)
        values = resized.permute(1, 2, 0).numpy().astype(np.uint64).ravel()
        weights = (np.arange(values.size, dtype=np.uint64) * 2654435761 % 2**32) | 1
        rows.append({"seed": seed, "mode": mode, "from": start, "to": to, "checksum": int((values * weights % 2**32).sum() % 2**32)})
    return rows


def sizes():
    rows = []
    for low, high in ((3136, 1003520), (56 * 56, 12845056), (28 * 28, 28 * 28 * 4), (100000, 100000)):
        for width, height in ((1, 1), (14, 14), (42, 70), (13, 200), (20, 20), (640, 480), (1080, 2400), (4000, 3000), (5, 1000),
                              (70, 98), (27, 29), (1000, 6), (9999, 64), (56, 84), (224, 224), (333, 777)):
            height_to, width_to = smart_resize(height, width, 28, low, high)
            rows.append([low, high, width, height, width_to, height_to])
    return rows


def patches():
    """Whole rows would be large: the sum of each row and every 97th value are kept."""
    rows = []
    for name, kind in (("pil", Qwen2VLImageProcessorPil), ("torch", Qwen2VLImageProcessor)):
        for seed, (width, height) in enumerate(((56, 56), (40, 30), (100, 62))):
            result = kind(min_pixels=3136, max_pixels=12544)(Image.fromarray(picture(width, height, seed)), return_tensors="pt")
            values = result["pixel_values"].to(torch.float64)
            rows.append({"processor": name, "seed": seed, "from": [width, height],
                         "grid": result["image_grid_thw"][0].tolist(), "shape": list(values.shape),
                         "row_sums": [round(v, 4) for v in values.sum(1).tolist()],
                         "every_97th": [round(v, 6) for v in values.flatten()[::97].tolist()]})
    return rows


def configs():
    """As transformers writes them, and the forms of older files."""
    folder = os.path.join(OUT, "saved")
    Qwen2VLImageProcessor(min_pixels=3136, max_pixels=50176, patch_size=16).save_pretrained(folder)
    path = os.path.join(folder, "preprocessor_config.json")
    saved = json.load(open(path))
    os.remove(path)
    os.rmdir(folder)
    return saved


def main():
    row = {"versions": {"PIL": PIL.__version__, "transformers": transformers.__version__, "torch": torch.__version__},
           "resizes": resizes(), "torchvision": torchvision_resizes(), "sizes": sizes(), "patches": patches(), "saved_config": configs()}
    with open(os.path.join(OUT, "expected.json"), "w") as file:
        json.dump(row, file)
    a, b = (np.array([r["row_sums"] for r in row["patches"] if r["processor"] == p][1]) for p in ("pil", "torch"))
    print("largest difference of row sums between the two processors:", np.abs(a - b).max())
    for p, q in zip(row["patches"][:3], row["patches"][3:]):
        print(p["from"], "largest difference of a value:", np.abs(np.array(p["every_97th"]) - np.array(q["every_97th"])).max())
    print(json.dumps(row["saved_config"]))


main()
