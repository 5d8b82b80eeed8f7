"""Model folders with configs drawn at random, as the hub has them: every layout of config.json, of the weights' names,
types and files, of the tokenizer, the chat template and the settings of pictures.

A draw depends on its seed and its architecture alone. What agon documents as refused is not drawn.
"""

import json
import math
import random
import shutil

import torch
from safetensors.torch import save_file
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText, PreTrainedTokenizerFast

CLASSES = {"llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM", "qwen3": "Qwen3ForCausalLM",
           "qwen2_vl": "Qwen2VLForConditionalGeneration", "qwen2_5_vl": "Qwen2_5_VLForConditionalGeneration",
           "qwen3_vl": "Qwen3VLForConditionalGeneration"}
TYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
HEAD_SIZES = [2, 4, 6, 10, 14, 16, 18, 32, 34, 64, 66, 80, 96, 128]
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
SEEING = ["<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"]
LEARNED = ["The red bar is 4 and the blue bar is 7, so it's 11.", "def main():\n    return 12345\n",
           "Été à la plage, naïve"]
BLOCK = 32  # values that Q8_0 and Q4_0 keep together
LLAMA3_SPLIT = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
                r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2_SPLIT = LLAMA3_SPLIT.replace(r"\p{N}{1,3}", r"\p{N}")
TEMPLATE = r"""{%- for message in messages -%}
  {{- '<|im_start|>' + message['role'] + '\n' -}}
  {%- if message['content'] is string -%}
    {{- message['content'] -}}
  {%- else -%}
    {%- for part in message['content'] -%}
      {%- if part['type'] in ['image', 'video'] -%}
        {{- '<|vision_start|><|' + part['type'] + '_pad|><|vision_end|>' -}}
      {%- else -%}
        {{- part['text'] -}}
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}
  {{- '<|im_end|>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
  {{- '<|im_start|>assistant\n' -}}
{%- endif -%}
"""
DEFAULT_SYSTEM = r"""{%- if messages[0]['role'] != 'system' -%}
  {{- '<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n' -}}
{%- endif -%}
"""


def sees(architecture):
    return architecture.endswith("_vl")


def draw_heads(rng, architecture, unit):
    """Sizes that are multiples of `unit`."""
    key_values, group = rng.choice([1, 1, 2, 3, 4]), rng.choice([1, 1, 2, 3, 4, 7])
    heads = key_values * group
    size = rng.choice([size for size in HEAD_SIZES if heads * size <= 900 and heads * size % unit == 0])
    keys = dict(num_attention_heads=heads, num_key_value_heads=key_values)
    fills_hidden = architecture in ("qwen2_vl", "qwen2_5_vl")
    if fills_hidden or (architecture in ("llama", "qwen2") and rng.random() < 0.5):
        return dict(keys, hidden_size=heads * size), size
    step = math.lcm(unit, heads) if architecture == "llama" else unit
    return dict(keys, hidden_size=step * rng.randint(math.ceil(6 / step), max(2, 160 // step)), head_dim=size), size


def draw_rope(rng, architecture, head_size):
    rope = dict(rope_type="default", rope_theta=rng.choice([100.0, 10000.0, 500000.0, 1000000, 5000000.0]))
    if sees(architecture):
        half = head_size // 2
        cuts = sorted(rng.randint(0, half) for _ in range(2))
        rope["mrope_section"] = [cuts[0], cuts[1] - cuts[0], half - cuts[1]]
        if architecture == "qwen3_vl":
            rope["mrope_interleaved"] = True
    elif rng.random() < (0.4 if architecture == "llama" else 0.1):
        low, high = rng.choice([(1.0, 4.0), (1.0, 4.0), (2.0, 4.0), (1.0, 2.0)])
        rope.update(rope_type="llama3", factor=rng.choice([2.0, 8.0, 32.0]), low_freq_factor=low, high_freq_factor=high,
                    original_max_position_embeddings=rng.choice([16, 64, 1024]))
    return rope


def draw_text(rng, architecture):
    unit = rng.choice([1, 1, BLOCK])
    keys, head_size = draw_heads(rng, architecture, unit)
    keys |= dict(intermediate_size=unit * rng.randint(math.ceil(4 / unit), 200 // unit),
                 num_hidden_layers=rng.choice([1, 1, 2, 3, 4]), rms_norm_eps=rng.choice([1e-6, 1e-5, 1e-3]),
                 max_position_embeddings=4096 if sees(architecture) else rng.choice([256, 4096]),
                 rope_parameters=draw_rope(rng, architecture, head_size))
    if architecture in ("llama", "qwen3", "qwen3_vl"):
        keys["attention_bias"] = rng.random() < 0.4
    if architecture == "llama":
        keys["mlp_bias"] = rng.random() < 0.4
    return keys


def draw_vision(rng, architecture, text):
    heads, depth = rng.choice([1, 2, 3]), rng.choice([1, 2, 3, 4])
    width = heads * rng.choice([4, 8, 12, 16, 20, 40, 80])
    patch, merge = rng.choice([4, 7, 14, 14, 16]), rng.choice([1, 2, 2, 2, 3])
    keys = dict(depth=depth, num_heads=heads, patch_size=patch, spatial_merge_size=merge,
                temporal_patch_size=rng.choice([1, 2, 2, 2, 2]))
    if architecture == "qwen2_vl":
        return dict(keys, embed_dim=width, mlp_ratio=rng.choice([1, 2, 4]), hidden_size=text["hidden_size"])
    keys |= dict(hidden_size=width, intermediate_size=rng.randint(4, 120), out_hidden_size=text["hidden_size"])
    some = sorted(rng.sample(range(depth), rng.randint(0, min(depth, text["num_hidden_layers"]))))
    if architecture == "qwen3_vl":
        return dict(keys, num_position_embeddings=rng.randint(1, 12) ** 2, deepstack_visual_indexes=some)
    block, every = patch * merge, rng.randint(1, 3)
    some = rng.choice([some, list(range(every - 1, depth, every))])
    return dict(keys, window_size=rng.choice([block, 2 * block, 3 * block + 1, 4 * block, 8 * block]),
                fullatt_block_indexes=some, tokens_per_second=rng.choice([1, 2, 4, 25]))


def draw_pixel_limits(rng, block):
    least, most = rng.choice([1, block**2, 4 * block**2]), rng.randint(6, 40) * block**2
    edges = dict(size=dict(shortest_edge=least, longest_edge=most))
    # Qwen3-VL's videos have limits of their own beside the second form: too many tokens if they are small.
    return rng.choice([edges, dict(min_pixels=least, max_pixels=most)]) if block >= 14 else edges


def draw_images(rng, vision):
    block = vision["patch_size"] * vision["spatial_merge_size"]
    keys = dict(patch_size=vision["patch_size"], merge_size=vision["spatial_merge_size"],
                temporal_patch_size=vision["temporal_patch_size"])
    if rng.random() < 0.5:
        keys |= dict(image_mean=[0.5] * 3, image_std=[0.5] * 3)
    name = rng.choice([None, "Qwen2VLImageProcessor", "Qwen2VLImageProcessorPil", "Qwen2VLImageProcessorFast"])
    pictures = keys | draw_pixel_limits(rng, block) | (dict(image_processor_type=name) if name else {})
    return dict(pictures=pictures, videos=keys | draw_pixel_limits(rng, block))


def draw_layout(rng, architecture):
    has_flat_form = architecture in ("qwen2_vl", "qwen2_5_vl")
    return dict(is_flat=has_flat_form and rng.random() < 0.5, has_old_names=has_flat_form and rng.random() < 0.5,
                says_rope_scaling=rng.random() < 0.5, type=rng.choice(list(TYPES)), has_f32_norms=rng.random() < 0.2,
                shards=rng.choice([1, 1, 2, 3]), is_tied=rng.random() < 0.5, keeps_tied_head=rng.random() < 0.3,
                keeps_rotations=architecture == "llama" and rng.random() < 0.2,
                ends=rng.choice(["one", "list", "generation_config", "generation_config_alone"]),
                template=rng.choice(["jinja", "tokenizer_config"]), processor=rng.choice(["one", "two", "nested"]))


def draw_tokenizer(rng, architecture):
    split = "qwen2" if architecture.startswith("qwen") else rng.choice(["llama3", "smollm2", "gpt2"])
    return dict(split=split, size=rng.randint(256, 330), padding=rng.choice([0, 1, 7, 64]),
                has_bos=architecture == "llama" and rng.random() < 0.5, has_default_system=rng.random() < 0.3)


def draw(architecture, seed):
    rng = random.Random(f"{architecture} {seed}")
    text = draw_text(rng, architecture)
    vision = draw_vision(rng, architecture, text) if sees(architecture) else None
    return dict(architecture=architecture, seed=seed, text=text, vision=vision,
                images=draw_images(rng, vision) if vision else None, tokenizer=draw_tokenizer(rng, architecture),
                layout=draw_layout(rng, architecture))


def resampler(model):
    """Of its pictures, if it sees."""
    if not model["vision"]:
        return None
    name = model["images"]["pictures"].get("image_processor_type")
    return "torchvision" if name == "Qwen2VLImageProcessorFast" else "pil"


def make_tokenizer(drawn):
    split = drawn["split"]
    tokenizer = Tokenizer(models.BPE(ignore_merges=split == "llama3"))
    if split == "qwen2":
        tokenizer.normalizer = normalizers.NFC()
    by = lambda regex: pre_tokenizers.Split(Regex(regex), "isolated")
    bytes_of = lambda use_regex: pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=use_regex)
    tokenizer.pre_tokenizer = {
        "qwen2": lambda: pre_tokenizers.Sequence([by(QWEN2_SPLIT), bytes_of(False)]),
        "llama3": lambda: pre_tokenizers.Sequence([by(LLAMA3_SPLIT), bytes_of(False)]),
        "smollm2": lambda: pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), bytes_of(True)]),
        "gpt2": lambda: bytes_of(True)}[split]()
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=drawn["size"], show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(LEARNED * 5, trainer)
    return tokenizer


def save_tokenizer(model, folder):
    drawn = model["tokenizer"]
    tokenizer = make_tokenizer(drawn)
    special = SPECIAL + (SEEING if model["vision"] else [])
    tokenizer.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in special])
    bos = dict(bos_token="<|endoftext|>") if drawn["has_bos"] else {}
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>", **bos)
    fast.chat_template = (("{{- bos_token -}}\n" if drawn["has_bos"] else "") +
                          (DEFAULT_SYSTEM if drawn["has_default_system"] else "") + TEMPLATE)
    fast.save_pretrained(folder)
    if model["layout"]["template"] == "tokenizer_config":
        settings = json.loads((folder / "tokenizer_config.json").read_text())
        write_json(folder / "tokenizer_config.json", settings | dict(chat_template=fast.chat_template))
        (folder / "chat_template.jinja").unlink()
    return fast


def write_json(path, value):
    path.write_text(json.dumps(value, indent=2) + "\n")


def end_tokens(tokenizer):
    return [tokenizer.convert_tokens_to_ids(text) for text in ("<|im_end|>", "<|endoftext|>", "<|im_start|>")]


def text_keys(model, tokenizer):
    layout, keys = model["layout"], dict(model["text"])
    keys |= dict(vocab_size=len(tokenizer) + model["tokenizer"]["padding"], hidden_act="silu", bos_token_id=None)
    ends = end_tokens(tokenizer)
    if layout["ends"] != "generation_config_alone":
        keys["eos_token_id"] = ends[:2] if layout["ends"] == "list" else ends[0]
    if model["architecture"].startswith("qwen"):
        keys |= dict(use_sliding_window=False, sliding_window=4096, max_window_layers=1)
    if layout["says_rope_scaling"]:
        rope = dict(keys.pop("rope_parameters"))
        keys["rope_theta"] = rope.pop("rope_theta")
        if model["architecture"] in ("qwen2_vl", "qwen2_5_vl"):
            rope["type"] = "mrope" if rope.pop("rope_type") else None
        keys["rope_scaling"] = rope if rope != dict(rope_type="default") else None
    return keys


def config_of(model, tokenizer):
    architecture, layout, text = model["architecture"], model["layout"], text_keys(model, tokenizer)
    root = dict(architectures=[CLASSES[architecture]], model_type=architecture, tie_word_embeddings=layout["is_tied"])
    root["torch_dtype" if layout["says_rope_scaling"] else "dtype"] = str(TYPES[layout["type"]]).removeprefix("torch.")
    if not model["vision"]:
        return root | text
    id_of = tokenizer.convert_tokens_to_ids
    root |= dict(image_token_id=id_of("<|image_pad|>"), video_token_id=id_of("<|video_pad|>"),
                 vision_start_token_id=id_of("<|vision_start|>"), vision_end_token_id=id_of("<|vision_end|>"),
                 vision_config=dict(model["vision"], model_type=architecture + "_vision"))
    return root | (text if layout["is_flat"] else dict(text_config=dict(text, model_type=architecture + "_text")))


def fill(name, parameter, generator):
    """Larger than initial weights, so that every part shows in the logits and greedy tokens are decided."""
    noise = torch.randn(parameter.shape, generator=generator)
    if "norm" in name or "ln_q" in name or parameter.ndim == 1:
        return 0.25 * noise + (1 if name.endswith("weight") else 0)
    if "embed_tokens" in name or "pos_embed" in name:
        return noise
    return noise * (4 if "lm_head" in name else 1.4) / math.sqrt(parameter[0].numel())


def make_weights(model, folder):
    """By the names of transformers; the last parameter that ties another one is absent."""
    is_seeing = model["vision"] is not None
    kind = AutoModelForImageTextToText if is_seeing else AutoModelForCausalLM
    network = kind.from_config(AutoConfig.from_pretrained(folder), dtype=torch.float32)
    generator = torch.Generator().manual_seed(model["seed"])
    weights = {name: fill(name, parameter, generator) for name, parameter in network.named_parameters()}
    if model["layout"]["is_tied"]:
        words = next(name for name in weights if "embed_tokens" in name)
        weights[words] *= 4 / math.sqrt(weights[words].shape[1])
    return weights


def file_weights(model, weights):
    """As the files have them: names, types, and what old programs left there."""
    layout, type = model["layout"], TYPES[model["layout"]["type"]]
    if layout["is_tied"] and layout["keeps_tied_head"]:
        weights = weights | {"lm_head.weight": next(value for name, value in weights.items() if "embed_tokens" in name)}
    if layout["has_old_names"]:
        weights = {name.replace("model.visual.", "visual.").replace("model.language_model.", "model."): value
                   for name, value in weights.items()}
    if layout["keeps_rotations"]:
        rotations = {f"model.layers.{i}.self_attn.rotary_emb.inv_freq": torch.ones(4)
                     for i in range(model["text"]["num_hidden_layers"])}
        weights = weights | rotations
    stays_f32 = lambda value: layout["has_f32_norms"] and value.ndim == 1
    return {name: value.to(torch.float32 if stays_f32(value) else type).clone() for name, value in weights.items()}


def save_weights(model, weights, folder):
    weights, shards = file_weights(model, weights), model["layout"]["shards"]
    if shards == 1:
        return save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    places, names = {}, sorted(weights)
    for shard in range(shards):
        file, part = f"model-{shard + 1:05}-of-{shards:05}.safetensors", names[shard::shards]
        save_file({name: weights[name] for name in part}, folder / file, metadata={"format": "pt"})
        places |= dict.fromkeys(part, file)
    size = sum(value.nbytes for value in weights.values())
    write_json(folder / "model.safetensors.index.json", dict(metadata=dict(total_size=size), weight_map=places))


def save_processor(model, folder):
    architecture, drawn = model["architecture"], model["images"]
    videos = dict(drawn["videos"], video_processor_type="Qwen3VLVideoProcessor" if architecture == "qwen3_vl" else
                  "Qwen2VLVideoProcessor")
    processor = {"qwen2_vl": "Qwen2VLProcessor", "qwen2_5_vl": "Qwen2_5_VLProcessor", "qwen3_vl": "Qwen3VLProcessor"}
    named = dict(processor_class=processor[architecture])
    if model["layout"]["processor"] == "nested":
        whole = named | dict(image_processor=drawn["pictures"], video_processor=videos)
        return write_json(folder / "processor_config.json", whole)
    write_json(folder / "preprocessor_config.json", drawn["pictures"] | named)
    if model["layout"]["processor"] == "two":
        write_json(folder / "video_preprocessor_config.json", videos | named)


def save(model, folder):
    """Writes the folder of what draw() gave, in place of what is there."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tokenizer = save_tokenizer(model, folder)
    write_json(folder / "config.json", config_of(model, tokenizer))
    if model["layout"]["ends"].startswith("generation_config"):
        write_json(folder / "generation_config.json", dict(eos_token_id=end_tokens(tokenizer)))
    if model["vision"]:
        save_processor(model, folder)
    save_weights(model, make_weights(model, folder), folder)
