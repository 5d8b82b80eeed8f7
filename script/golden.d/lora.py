"""LoRA adapters as PEFT writes them, on the models of tests/golden/qwen2_5_vl: lora.py OUTPUT_FOLDER

One folder a case: adapter_config.json and adapter_model.safetensors, and golden.safetensors with
  logits [B, S, V]              of the case's model with the adapter on the model's own golden inputs
  gradient.<module>.lora_A, _B  of the mean cross-entropy of each real token's successor
Modules are named as on the hub.
"""

import json
import os
import sys
from pathlib import Path

import peft
import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import Qwen2_5_VLForConditionalGeneration

DECODER = r"model\.language_model\.layers\.\d+\.(self_attn\.[qkvo]_proj|mlp\.(gate|up|down)_proj)"
CASES = {
    "decoder": dict(model="uneven_windows", rank=4, alpha=8, targets=DECODER),
    "both_towers": dict(model="wide_head", rank=3, alpha=5, rslora=True,
                        targets=["qkv", "o_proj", "visual.merger.mlp.0", "language_model.layers.1.mlp.up_proj"]),
}


def write(name, case, out):
    torch.manual_seed(sum(map(ord, name)))
    base = Path("tests/golden/qwen2_5_vl") / case["model"]
    model = Qwen2_5_VLForConditionalGeneration.from_pretrained(base, dtype=torch.float32)
    model.config._attn_implementation = "eager"
    model = peft.get_peft_model(model, peft.LoraConfig(r=case["rank"], lora_alpha=case["alpha"],
                                                       use_rslora=case.get("rslora", False),
                                                       target_modules=case["targets"]))
    matrices = {key: value for key, value in model.named_parameters() if "lora_" in key}
    with torch.no_grad():
        for key, value in matrices.items():
            if "lora_B" in key:
                value.copy_(0.3 * torch.randn_like(value))
    model.save_pretrained(out / name)
    (out / name / "README.md").unlink()
    config = json.loads((out / name / "adapter_config.json").read_text())
    if isinstance(config["target_modules"], list):  # a set's order: another in every run
        config["target_modules"].sort()
    (out / name / "adapter_config.json").write_text(json.dumps(config, indent=2, sort_keys=True))

    golden = load_file(base / "golden.safetensors")
    mask = (torch.arange(golden["ids"].shape[1]) < golden["lengths"][:, None]).long()
    output = model(input_ids=golden["ids"], attention_mask=mask, pixel_values=golden["patches"],
                   image_grid_thw=golden["grids"], position_ids=golden["positions"])
    labels = torch.where(mask[:, 1:] == 1, golden["ids"][:, 1:], -100)
    torch.nn.functional.cross_entropy(output.logits[:, :-1].flatten(0, 1), labels.flatten()).backward()
    results = {"logits": output.logits.detach() * mask[..., None]}
    for key, value in matrices.items():
        short = key.removeprefix("base_model.model.").removesuffix(".default.weight")
        short = short.replace("model.visual", "visual").replace("model.language_model", "model")
        results["gradient." + short] = value.grad
    save_file(results, out / name / "golden.safetensors",
              metadata={"versions": f"peft {peft.__version__}, transformers {transformers.__version__}, "
                                    f"torch {torch.__version__}"})
    for file in (out / name).iterdir():
        file.chmod(0o644)


os.chdir(Path(__file__).parents[2])
for name, case in CASES.items():
    write(name, case, Path(sys.argv[1]))
