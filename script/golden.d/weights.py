"""Writes small safetensors files with the reference writer: script/golden.d/weights.py OUTPUT_FOLDER"""

import json
import sys
from pathlib import Path

import safetensors
import torch
from safetensors.torch import save_file

out = Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)

tensors = {
    "b.weight": torch.arange(6, dtype=torch.float32).reshape(2, 3),
    "a.half": torch.arange(3, dtype=torch.bfloat16),
    "z.flags": torch.tensor([True, False, True]),
    "a.count": torch.tensor(7, dtype=torch.int64),
    "c.empty": torch.zeros(0, 4, dtype=torch.float32),
    "d.half": torch.tensor([1.5], dtype=torch.float16),
}
save_file(tensors, out / "mixed.safetensors", metadata={"format": "pt", "versions": f"safetensors {safetensors.__version__}"})

shards = {"first.weight": "model-00001-of-00002.safetensors", "second.weight": "model-00002-of-00002.safetensors"}
for value, (name, file) in enumerate(shards.items()):
    save_file({name: torch.full((2, 2), float(value + 1))}, out / file, metadata={"format": "pt"})
index = {"metadata": {"total_size": 32}, "weight_map": shards}
(out / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")
