"""A small GGUF file and what the package gguf reads from it: gguf.py OUTPUT_FOLDER

  small.gguf      keys of every kind, and a tensor of every type that agon reads, of random blocks
  expected.json   its keys; of each tensor, the shape and the values
"""

import importlib.metadata
import json
import sys
from pathlib import Path

sys.path = [path for path in sys.path if Path(path or ".").resolve() != Path(__file__).resolve().parent]
import gguf  # noqa: E402  (this file has the package's name)
import numpy as np  # noqa: E402

QUANTISED = ["Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K", "Q5_K", "Q6_K"]
SCALES = {"Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q4_K": [0, 2], "Q5_K": [0, 2],
          "Q6_K": [208]}  # bytes of a block where its half-precision numbers begin


def random_blocks(draw, name, rows, blocks):
    kind = gguf.GGMLQuantizationType[name]
    size = gguf.GGML_QUANT_SIZES[kind][1]
    data = draw.integers(0, 256, (rows, blocks, size), dtype=np.uint8)
    for at in SCALES[name]:
        scales = (draw.standard_normal((rows, blocks, 1)) * 0.01).astype(np.float16)
        data[:, :, at:at + 2] = scales.view(np.uint8).reshape(rows, blocks, 2)
    return kind, data.reshape(rows, blocks * size)


out = Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
draw = np.random.default_rng(3)
writer = gguf.GGUFWriter(out / "small.gguf", "llama")
keys = {"a.u8": 200, "a.i8": -3, "a.u16": 60000, "a.i16": -300, "a.u32": 4_000_000_000, "a.i32": -70000,
        "a.f32": 0.5, "a.bool": True, "a.text": "café", "a.u64": 2**63 + 5, "a.i64": -2**40, "a.f64": 0.1}
for name, value in keys.items():
    kind = {"u8": "uint8", "i8": "int8", "u16": "uint16", "i16": "int16", "u32": "uint32", "i32": "int32",
            "f32": "float32", "bool": "bool", "text": "string", "u64": "uint64", "i64": "int64", "f64": "float64"}
    getattr(writer, "add_" + kind[name.split(".")[1]])(name, value)
keys |= {"a.texts": ["x", "", "\u00e9\n"], "a.numbers": [1, -2, 3]}
writer.add_array("a.texts", keys["a.texts"])
writer.add_array("a.numbers", keys["a.numbers"])
tensors = {}
plain = draw.standard_normal((3, 5)).astype(np.float32)
writer.add_tensor("plain.f32", plain)
tensors["plain.f32"] = ("F32", plain)
writer.add_tensor("plain.f16", plain.astype(np.float16))
tensors["plain.f16"] = ("F16", plain.astype(np.float16).astype(np.float32))
rounded = gguf.quants.quantize(plain, gguf.GGMLQuantizationType.BF16)
writer.add_tensor("plain.bf16", rounded, raw_dtype=gguf.GGMLQuantizationType.BF16)
tensors["plain.bf16"] = ("BF16", gguf.quants.dequantize(rounded, gguf.GGMLQuantizationType.BF16))
for name in QUANTISED:
    kind, data = random_blocks(draw, name, 2, 2)
    writer.add_tensor("blocks." + name.lower(), data, raw_dtype=kind)
    tensors["blocks." + name.lower()] = (name, gguf.quants.dequantize(data, kind))
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
(out / "expected.json").write_text(json.dumps(
    dict(versions="gguf " + importlib.metadata.version("gguf"), keys={"general.architecture": "llama"} | keys,
         tensors={name: dict(type=kind, shape=list(values.shape), values=[float(v) for v in values.ravel()])
                  for name, (kind, values) in tensors.items()})) + "\n")
