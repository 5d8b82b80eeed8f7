"""The vision towers of tests/golden/qwen_vl/generation as llama.cpp's converter writes them, with the names of the
package gguf: gguf_vision.py OUTPUT_FOLDER (beside qwen_vl)

  NAME.gguf   the mmproj file of the model NAME: matrices in BF16, everything else in F32
"""

import json
import sys
from pathlib import Path

import gguf
import numpy as np
import safetensors

PROJECTORS = {"qwen2_vl": gguf.VisionProjectorType.QWEN2VL, "qwen3_vl": gguf.VisionProjectorType.QWEN3VL}


def read_tower(path):
    """Tensors of the tower in fp32, by their names behind "visual."."""
    tower = {}
    for name, tensor in safetensors.deserialize(path.read_bytes()):
        if "visual." not in name:
            continue
        assert tensor["dtype"] == "BF16"
        bits = np.frombuffer(bytes(tensor["data"]), np.uint16).astype(np.uint32) << 16
        tower[name[name.index("visual."):]] = bits.view(np.float32).reshape(tensor["shape"])
    return tower


def split(name, values, deepstack):
    """What the converter makes of a tensor before it looks its name up: [(name or final name, values, is final)]."""
    if name == "visual.patch_embed.proj.weight":
        stem = gguf.TENSOR_NAMES[gguf.MODEL_TENSOR.V_ENC_EMBD_PATCH] + ".weight"
        return [(stem, values[:, :, 0], True), (stem + ".1", values[:, :, 1], True)]
    if ".qkv." in name and not deepstack:
        return [(name.replace("qkv", part), values[i * len(values) // 3:(i + 1) * len(values) // 3], False)
                for i, part in enumerate("qkv")]
    kind = name.rsplit(".", 1)[1]
    if name.startswith("visual.deepstack_merger_list."):
        index, part = name.split(".")[2:4]
        tensor = {"norm": gguf.MODEL_TENSOR.V_DS_NORM, "linear_fc1": gguf.MODEL_TENSOR.V_DS_FC1,
                  "linear_fc2": gguf.MODEL_TENSOR.V_DS_FC2}[part]
        return [(gguf.TENSOR_NAMES[tensor].format(bid=deepstack[int(index)]) + "." + kind, values, True)]
    if name.startswith("visual.merger.") and deepstack:
        part = name.split(".")[2]
        stem = (gguf.TENSOR_NAMES[gguf.MODEL_TENSOR.V_POST_NORM] if part == "norm" else
                gguf.TENSOR_NAMES[gguf.MODEL_TENSOR.V_MMPROJ].format(bid={"linear_fc1": 0, "linear_fc2": 2}[part]))
        return [(stem + "." + kind, values, True)]
    return [(name, values, False)]


def write(path, model, folder):
    config = json.loads((folder / "config.json").read_text())
    images = json.loads((folder / "preprocessor_config.json").read_text())
    vision, text = config["vision_config"], config["text_config"]
    hidden = vision.get("embed_dim", vision["hidden_size"])
    deepstack = vision.get("deepstack_visual_indexes", [])
    writer = gguf.GGUFWriter(path, "clip")
    writer.add_type(gguf.GGUFType.MMPROJ)
    writer.add_clip_has_vision_encoder(True)
    writer.add_clip_projector_type(PROJECTORS[model])
    writer.add_vision_projection_dim(text["hidden_size"])
    places = vision.get("num_position_embeddings")
    writer.add_vision_image_size(int(places**0.5) * vision["patch_size"] if places else 560)
    writer.add_vision_patch_size(vision["patch_size"])
    writer.add_vision_embedding_length(hidden)
    # As the converter has it: of Qwen2-VL not the MLP's width, which only the tensors tell.
    writer.add_vision_feed_forward_length(vision.get("intermediate_size", vision["hidden_size"]))
    writer.add_vision_block_count(vision["depth"])
    writer.add_vision_head_count(vision["num_heads"])
    writer.add_vision_attention_layernorm_eps(text["rms_norm_eps"])
    writer.add_vision_image_mean(images["image_mean"])
    writer.add_vision_image_std(images["image_std"])
    if deepstack:
        writer.add_vision_use_gelu(True)
        writer.add_vision_spatial_merge_size(vision["spatial_merge_size"])
        writer.add_vision_is_deepstack_layers([block in deepstack for block in range(vision["depth"])])
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.MMPROJ, 32)
    for name, values in sorted(read_tower(folder / "model.safetensors").items()):
        for part, some, is_final in split(name, values, deepstack):
            final = part if is_final else names.get_name(part, try_suffixes=(".weight", ".bias"))
            assert final, f"the package has no name for {part}"
            some = np.ascontiguousarray(some)
            if some.ndim == 2 and not final.startswith("v.position_embd"):
                kind = gguf.GGMLQuantizationType.BF16
                writer.add_tensor(final, gguf.quants.quantize(some, kind), raw_dtype=kind)
            else:
                writer.add_tensor(final, some)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


out = Path(sys.argv[1])
out.mkdir(exist_ok=True)
for model in PROJECTORS:
    write(out / (model + ".gguf"), model, out.parent / "qwen_vl" / "generation" / model)
