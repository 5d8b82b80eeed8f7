"""Random tiny Qwen2.5-VL models with inputs, logits and gradients of transformers: qwen2_5_vl.py OUTPUT_FOLDER

One folder a case: the model as transformers saves it, and golden.safetensors with
  ids [B, S], positions [3, B, S], lengths [B]  right-padded prompts
  grids [pictures, 3], patches [P, width]       the pictures of all rows, one after another
  images [M, H], logits [B, S, V]               the vision tower's output, the decoder's
  gradient.<parameter>                          of the mean cross-entropy of each real token's successor
The weights are rounded to bfloat16 first; each case stores them in another type.
"""

import copy
import sys
from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file
from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

IMAGE, VIDEO, START, END, EOS = 40, 41, 42, 43, 44
CASES = {
    "one_picture": dict(heads=2, kv=1, dim=16, sections=[2, 3, 3], tied=True, vision_heads=2, window=16, full=[1],
                        dtype=torch.float32, rows=[[(1, 4, 4)], [(1, 4, 4)]]),
    "uneven_windows": dict(heads=4, kv=2, dim=16, sections=[4, 2, 2], tied=False, vision_heads=2, window=16, full=[1],
                           dtype=torch.bfloat16, rows=[[(1, 10, 6), (1, 4, 8)], [], [(1, 6, 14)]]),
    "wide_head": dict(heads=2, kv=2, dim=32, sections=[4, 6, 6], tied=True, vision_heads=1, window=8, full=[0, 2],
                      dtype=torch.float16, rows=[[(1, 2, 2), (1, 6, 4)], [(1, 6, 4)]]),
}


def config_of(case):
    hidden = case["heads"] * case["dim"]
    return Qwen2_5_VLConfig(
        vision_config=dict(depth=3, hidden_size=16, intermediate_size=24, num_heads=case["vision_heads"],
                           out_hidden_size=hidden, patch_size=4, window_size=case["window"],
                           fullatt_block_indexes=case["full"]),
        text_config=dict(vocab_size=48, hidden_size=hidden, intermediate_size=40, num_hidden_layers=2,
                         num_attention_heads=case["heads"], num_key_value_heads=case["kv"], rms_norm_eps=1e-6,
                         max_position_embeddings=256, bos_token_id=None, eos_token_id=EOS,
                         rope_parameters=dict(rope_type="default", rope_theta=100.0, mrope_section=case["sections"])),
        image_token_id=IMAGE, video_token_id=VIDEO, vision_start_token_id=START, vision_end_token_id=END,
        tie_word_embeddings=case["tied"])


def prompt_of(grids):
    ids = torch.randint(0, 40, (3,)).tolist()
    for t, h, w in grids:
        ids += [START] + [IMAGE] * (t * h * w // 4) + [END] + torch.randint(0, 40, (2,)).tolist()
    return ids + torch.randint(0, 40, (4,)).tolist()


def write(name, case, out):
    torch.manual_seed(sum(map(ord, name)))
    model = Qwen2_5_VLForConditionalGeneration(config_of(case)).float()
    with torch.no_grad():
        for parameter_name, parameter in model.named_parameters():
            # Larger than the initial weights, so that every part shows in the logits.
            noise = 0.2 * torch.randn_like(parameter)
            parameter.copy_((noise + 1 if "norm" in parameter_name or "ln_q" in parameter_name else noise).bfloat16())
    model.config._attn_implementation = "eager"
    copy.deepcopy(model).to(case["dtype"]).save_pretrained(out / name)  # the copy's rotary tables lose digits too

    prompts = [prompt_of(grids) for grids in case["rows"]]
    lengths = torch.tensor([len(prompt) for prompt in prompts])
    ids = torch.zeros(len(prompts), int(lengths.max()), dtype=torch.long)
    for row, prompt in enumerate(prompts):
        ids[row, : len(prompt)] = torch.tensor(prompt)
    mask = (torch.arange(ids.shape[1]) < lengths[:, None]).long()
    grids = torch.tensor([grid for grids in case["rows"] for grid in grids])
    patches = torch.randn(int(grids.prod(1).sum()), 3 * 2 * 4 * 4).bfloat16().float()
    positions, _ = model.model.get_rope_index(ids, (ids == IMAGE).int(), image_grid_thw=grids, attention_mask=mask)

    output = model(input_ids=ids, attention_mask=mask, pixel_values=patches, image_grid_thw=grids,
                   position_ids=positions)
    labels = torch.where(mask[:, 1:] == 1, ids[:, 1:], -100)
    loss = torch.nn.functional.cross_entropy(output.logits[:, :-1].flatten(0, 1), labels.flatten())
    loss.backward()
    images = model.model.visual(patches, grid_thw=grids).pooler_output.detach()

    named = dict(model.named_parameters())
    golden = dict(ids=ids, positions=positions, lengths=lengths, grids=grids, patches=patches, images=images,
                  logits=output.logits.detach() * mask[..., None], loss=loss.detach())
    for parameter_name in ("model.visual.patch_embed.proj.weight", "model.visual.blocks.0.attn.qkv.weight",
                           "model.visual.blocks.2.norm1.weight", "model.visual.merger.mlp.0.bias",
                           "model.language_model.embed_tokens.weight", "model.language_model.layers.0.self_attn.k_proj.bias",
                           "model.language_model.layers.1.mlp.gate_proj.weight", "model.language_model.norm.weight"):
        short = parameter_name.replace("model.visual", "visual").replace("model.language_model", "model")
        golden["gradient." + short] = named[parameter_name].grad
    save_file({key: value.contiguous() for key, value in golden.items()}, out / name / "golden.safetensors",
              metadata={"versions": f"transformers {transformers.__version__}, torch {torch.__version__}"})
    for file in (out / name).iterdir():
        file.chmod(0o644)


for name, case in CASES.items():
    write(name, case, Path(sys.argv[1]))
