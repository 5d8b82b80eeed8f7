"""Random tiny Qwen2-VL and Qwen3-VL models with what transformers makes of them: qwen_vl.py OUTPUT_FOLDER

NAME/ of CASES, as qwen2_5_vl.py has it: the model, and golden.safetensors with
  ids [B, S], positions [3, B, S], lengths [B]  right-padded prompts
  grids [pictures, 3], patches [P, width]       the pictures of all rows, one after another
  images [M, vectors * H], logits [B, S, V]     the vision tower's output, of DeepStack all levels; the decoder's
  loss, gradient.<parameter>                    of the mean cross-entropy of each real token's successor
generation/NAME/, a whole folder with patches of the family's size, generation/NAME-{0,1}.png and
  generation/expected.json  models {NAME: [{prompt, pictures, prompt_ids, ids, logprobs}]}: greedy, special tokens but
                            eos suppressed; logprobs of each id under the softmax over all ids
                            sizes [width, height, resized width, resized height] with Qwen3-VL's limits
The tokenizer is that of ../generation. The weights are rounded to bfloat16.
"""

import copy
import json
import sys
from pathlib import Path

import numpy as np
import torch
import transformers
from PIL import Image
from safetensors.torch import save_file
from transformers.models.qwen2_vl.image_processing_qwen2_vl import smart_resize
from transformers import (PreTrainedTokenizerFast, Qwen2VLConfig, Qwen2VLForConditionalGeneration,
                          Qwen2VLImageProcessor, Qwen3VLConfig, Qwen3VLForConditionalGeneration)

LETTERS = dict(image_token_id=40, video_token_id=41, vision_start_token_id=42, vision_end_token_id=43)
CASES = {
    "qwen2_vl": dict(kind="qwen2", tied=True, dtype=torch.float16, rows=[[(1, 4, 4), (1, 2, 6)], [], [(1, 6, 2)]]),
    "qwen3_vl": dict(kind="qwen3", tied=True, dtype=torch.bfloat16, places=16, deepstack=[0, 1], bias=False,
                     rows=[[(1, 4, 4), (1, 2, 6)], [], [(1, 6, 2)]]),
    "qwen3_vl_biased": dict(kind="qwen3", tied=False, dtype=torch.bfloat16, places=25, deepstack=[1], bias=True,
                            rows=[[(1, 2, 2)], [(1, 6, 6)]]),
}
GENERATION = {
    "qwen2_vl": dict(kind="qwen2", tied=True, patch=14),
    "qwen3_vl": dict(kind="qwen3", tied=True, patch=16, places=36, deepstack=[0, 1], bias=False),
}
PROMPTS = [dict(prompt="What is the sum of the red bar and the blue bar?", pictures=[0]),
           dict(prompt="Open the café app.", pictures=[]), dict(prompt="Which bar?", pictures=[1, 0])]
NEW_TOKENS = 24


def model_of(case, vocabulary, ids, eos, patch):
    common = dict(vocab_size=vocabulary, intermediate_size=16, num_hidden_layers=2, num_attention_heads=2,
                  num_key_value_heads=1, rms_norm_eps=1e-6, max_position_embeddings=512, bos_token_id=None,
                  eos_token_id=eos)
    if case["kind"] == "qwen2":
        return Qwen2VLForConditionalGeneration(Qwen2VLConfig(
            vision_config=dict(depth=2, embed_dim=8, mlp_ratio=2, num_heads=2, hidden_size=32, patch_size=patch),
            text_config=dict(common, hidden_size=32, rope_parameters=dict(rope_type="default", rope_theta=100.0,
                                                                         mrope_section=[2, 3, 3])),
            tie_word_embeddings=case["tied"], **ids))
    return Qwen3VLForConditionalGeneration(Qwen3VLConfig(
        vision_config=dict(depth=3, hidden_size=8, intermediate_size=12, num_heads=1, out_hidden_size=16,
                           patch_size=patch, num_position_embeddings=case["places"],
                           deepstack_visual_indexes=case["deepstack"]),
        text_config=dict(common, num_hidden_layers=3, hidden_size=16, head_dim=16, attention_bias=case["bias"],
                         rope_parameters=dict(rope_type="default", rope_theta=100.0, mrope_section=[4, 2, 2],
                                              mrope_interleaved=True)),
        tie_word_embeddings=case["tied"], **ids))


def draw(model):
    model.float().eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            # Larger than the initial weights, so that every part shows in the logits.
            noise = 0.25 * torch.randn_like(parameter)
            is_scale = name.endswith("weight") and ("norm" in name or "ln_q" in name)
            parameter.copy_((noise + 1 if is_scale else noise).bfloat16())
    model.config._attn_implementation = "eager"


def save(model, dtype, folder):
    copy.deepcopy(model).to(dtype).save_pretrained(folder)  # the copy's rotary tables lose digits too
    for file in folder.iterdir():
        file.chmod(0o644)


def letters_with(grids):
    ids = torch.randint(0, 40, (3,)).tolist()
    for t, h, w in grids:
        ids += [42] + [40] * (t * h * w // 4) + [43] + torch.randint(0, 40, (2,)).tolist()
    return ids + torch.randint(0, 40, (4,)).tolist()


def short_name(name):
    return name.replace("model.visual", "visual").replace("model.language_model", "model")


def is_compared(name):
    parts = ("visual.patch_embed", "pos_embed", "visual.blocks.0.norm1", "visual.blocks.1.mlp", "visual.merger.ln_q",
             "visual.merger.norm", "deepstack_merger_list.0.norm", "deepstack_merger_list.1.linear_fc2.bias",
             "language_model.embed_tokens", "layers.0.self_attn.k_proj", "layers.1.self_attn.q_norm", "language_model.norm")
    return any(part in name for part in parts)


def write_case(name, case, out):
    torch.manual_seed(sum(map(ord, name)))
    model = model_of(case, 48, LETTERS, 44, patch=2)
    draw(model)
    save(model, case["dtype"], out / name)
    prompts = [letters_with(grids) for grids in case["rows"]]
    lengths = torch.tensor([len(prompt) for prompt in prompts])
    ids = torch.zeros(len(prompts), int(lengths.max()), dtype=torch.long)
    for row, prompt in enumerate(prompts):
        ids[row, : len(prompt)] = torch.tensor(prompt)
    mask = (torch.arange(ids.shape[1]) < lengths[:, None]).long()
    grids = torch.tensor([grid for grids in case["rows"] for grid in grids])
    patches = torch.randn(int(grids.prod(1).sum()), 3 * 2 * 2 * 2).bfloat16().float()
    positions, _ = model.model.get_rope_index(ids, (ids == 40).int(), image_grid_thw=grids, attention_mask=mask)
    output = model(input_ids=ids, attention_mask=mask, pixel_values=patches, image_grid_thw=grids,
                   position_ids=positions)
    labels = torch.where(mask[:, 1:] == 1, ids[:, 1:], -100)
    loss = torch.nn.functional.cross_entropy(output.logits[:, :-1].flatten(0, 1), labels.flatten())
    loss.backward()
    seen = model.model.visual(patches, grid_thw=grids)
    images = torch.cat([seen.pooler_output, *(getattr(seen, "deepstack_features", None) or [])], 1)
    golden = dict(ids=ids, positions=positions, lengths=lengths, grids=grids, patches=patches, images=images.detach(),
                  logits=output.logits.detach() * mask[..., None], loss=loss.detach())
    golden |= {"gradient." + short_name(key): value.grad for key, value in model.named_parameters() if is_compared(key)}
    save_file({key: value.contiguous() for key, value in golden.items()}, out / name / "golden.safetensors",
              metadata={"versions": f"transformers {transformers.__version__}, torch {torch.__version__}"})
    (out / name / "golden.safetensors").chmod(0o644)


def picture_of(height, width):  # multiples of a block of patches: it is not resized
    y, x = np.mgrid[0:height, 0:width]
    return Image.fromarray(np.stack([x * 255 // (width - 1), y * 255 // (height - 1), (x // 9 + y // 7) % 2 * 200],
                                    -1).astype(np.uint8))


def expect(case, model, tokenizer, images, pictures):
    content = [{"type": "image"} for _ in case["pictures"]] + [{"type": "text", "text": case["prompt"]}]
    text = tokenizer.apply_chat_template([{"role": "user", "content": content}], tokenize=False,
                                         add_generation_prompt=True)
    pixels = {}
    if case["pictures"]:
        pixels = dict(images(images=[pictures[i] for i in case["pictures"]], return_tensors="pt"))
    for grid in pixels.get("image_grid_thw", []):
        text = text.replace("<|image_pad|>", "<|placeholder|>" * int(grid.prod() // 4), 1)
    prompt = torch.tensor([tokenizer(text.replace("<|placeholder|>", "<|image_pad|>"))["input_ids"]])

    def inputs(ids):
        return dict(input_ids=ids, mm_token_type_ids=(ids == model.config.image_token_id).int(),
                    attention_mask=torch.ones_like(ids), **pixels)

    eos = model.generation_config.eos_token_id
    special = [i for i, token in tokenizer.added_tokens_decoder.items() if token.special]
    suppressed = [i for i in range(model.config.text_config.vocab_size)
                  if i != eos and (i >= len(tokenizer) or i in special)]
    with torch.inference_mode():
        out = model.generate(**inputs(prompt), do_sample=False, max_new_tokens=NEW_TOKENS, suppress_tokens=suppressed)
        logprobs = model(**inputs(out)).logits[0].log_softmax(-1)
    new = out[0, prompt.shape[1]:]
    rows = logprobs[prompt.shape[1] - 1:-1]
    return dict(case, prompt_ids=prompt[0].tolist(), ids=new.tolist(),
                logprobs=[round(float(row[i]), 6) for row, i in zip(rows, new)])


def write_generation(name, case, tokenizer, out):
    torch.manual_seed(sum(map(ord, name)))
    id_of = tokenizer.convert_tokens_to_ids
    ids = dict(image_token_id=id_of("<|image_pad|>"), video_token_id=id_of("<|video_pad|>"),
               vision_start_token_id=id_of("<|vision_start|>"), vision_end_token_id=id_of("<|vision_end|>"))
    eos = id_of("<|im_end|>")
    model = model_of(case, len(tokenizer) + 6, ids, eos, case["patch"])
    draw(model)
    model.generation_config.eos_token_id = eos
    model.generation_config.pad_token_id = id_of("<|endoftext|>")
    block = 2 * case["patch"]
    images = Qwen2VLImageProcessor(patch_size=case["patch"], min_pixels=block ** 2, max_pixels=(8 * block) ** 2,
                                   **({"image_mean": [0.5] * 3, "image_std": [0.5] * 3} if block == 32 else {}))
    pictures = [picture_of(3 * block, 4 * block), picture_of(2 * block, block)]
    for i, picture in enumerate(pictures):
        picture.save(out / f"{name}-{i}.png")
    expected = [expect(prompt, model, tokenizer, images, pictures) for prompt in PROMPTS]
    save(model, torch.bfloat16, out / name)
    tokenizer.save_pretrained(out / name)
    images.save_pretrained(out / name)
    for file in (out / name).iterdir():
        file.chmod(0o644)
    return expected


out = Path(sys.argv[1])
(out / "generation").mkdir(parents=True, exist_ok=True)
for name, case in CASES.items():
    write_case(name, case, out)
tokenizer = PreTrainedTokenizerFast.from_pretrained(out.parent / "generation" / "model")
models = {name: write_generation(name, case, tokenizer, out / "generation") for name, case in GENERATION.items()}
sizes = [[width, height, *smart_resize(height, width, 32, 65536, 16777216)[::-1]]
         for width, height in ((1, 1), (48, 80), (640, 480), (1080, 2400), (9000, 7000), (70, 998), (333, 777), (16, 48))]
(out / "generation" / "expected.json").write_text(json.dumps(
    dict(versions=f"transformers {transformers.__version__}, torch {torch.__version__}", models=models, sizes=sizes)) + "\n")
