"""A random tiny model folder, as transformers saves it, and what transformers generates with it:
generation.py OUTPUT_FOLDER

  model/            the folder; specials and padded ids come after the text tokens
  picture.png       of the prompts that have one
  expected.json     [{system, prompt, picture, prompt_ids, ids, logprobs}]: greedy, special tokens but eos suppressed;
                    logprobs of each id under the softmax over all ids
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
import transformers
from PIL import Image
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (PreTrainedTokenizerFast, Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration,
                          Qwen2VLImageProcessor)

SPLIT = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
         r"\s+(?!\S)|\s+")
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>",
           "<|image_pad|>", "<|video_pad|>"]
TEMPLATE = """{% for message in messages %}<|im_start|>{{ message['role'] }}
{% if message['content'] is string %}{{ message['content'] }}{% else %}{% for content in message['content'] %}{% if content['type'] == 'image' %}<|vision_start|><|image_pad|><|vision_end|>{% elif 'text' in content %}{{ content['text'] }}{% endif %}{% endfor %}{% endif %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
PROMPTS = [dict(system="", prompt="What is the sum of the red bar and the blue bar?", picture=True),
           dict(system="You tap through screens.", prompt="Open the café app.", picture=False),
           dict(system="", prompt="x", picture=True)]
NEW_TOKENS = 40


def make_tokenizer():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(SPLIT), "isolated"),
         pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    trainer = trainers.BpeTrainer(vocab_size=290, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator([prompt["system"] + "\n" + prompt["prompt"] for prompt in PROMPTS] * 9, trainer)
    tokenizer.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in SPECIAL])
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    fast.chat_template = TEMPLATE
    return fast


def make_model(tokenizer):
    ids = {text: tokenizer.convert_tokens_to_ids(text) for text in SPECIAL}
    config = Qwen2_5_VLConfig(
        vision_config=dict(depth=2, hidden_size=16, intermediate_size=24, num_heads=2, out_hidden_size=32,
                           patch_size=14, window_size=56, fullatt_block_indexes=[1]),
        text_config=dict(vocab_size=len(tokenizer) + 6, hidden_size=32, intermediate_size=48, num_hidden_layers=2,
                         num_attention_heads=4, num_key_value_heads=2, rms_norm_eps=1e-6,
                         max_position_embeddings=512, bos_token_id=None, eos_token_id=ids["<|im_end|>"],
                         rope_parameters=dict(rope_type="default", rope_theta=100.0, mrope_section=[2, 1, 1])),
        image_token_id=ids["<|image_pad|>"], video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"], vision_end_token_id=ids["<|vision_end|>"],
        tie_word_embeddings=True)
    model = Qwen2_5_VLForConditionalGeneration(config).float().eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = 0.25 * torch.randn_like(parameter)
            parameter.copy_((noise + 1 if "norm" in name or "ln_q" in name else noise).bfloat16())
    model.generation_config.eos_token_id = ids["<|im_end|>"]
    model.generation_config.pad_token_id = ids["<|endoftext|>"]
    return model


def expect(case, model, tokenizer, images, picture):
    messages = [{"role": "system", "content": case["system"]}] if case["system"] else []
    content = ([{"type": "image"}] if case["picture"] else []) + [{"type": "text", "text": case["prompt"]}]
    text = tokenizer.apply_chat_template(messages + [{"role": "user", "content": content}], tokenize=False,
                                         add_generation_prompt=True)
    pixels = dict(images(images=[picture], return_tensors="pt")) if case["picture"] else {}
    if pixels:
        text = text.replace("<|image_pad|>", "<|image_pad|>" * int(pixels["image_grid_thw"].prod() // 4))
    prompt = torch.tensor([tokenizer(text)["input_ids"]])

    def inputs(ids):
        return dict(input_ids=ids, mm_token_type_ids=(ids == model.config.image_token_id).int(),
                    attention_mask=torch.ones_like(ids), **pixels)

    eos = model.generation_config.eos_token_id
    suppressed = [i for i in range(model.config.text_config.vocab_size)
                  if i != eos and (i >= len(tokenizer) or i in tokenizer.all_special_ids)]
    with torch.inference_mode():
        out = model.generate(**inputs(prompt), do_sample=False, max_new_tokens=NEW_TOKENS, suppress_tokens=suppressed)
        logprobs = model(**inputs(out)).logits[0].log_softmax(-1)
    new = out[0, prompt.shape[1]:]
    rows = logprobs[prompt.shape[1] - 1:-1]
    return dict(case, prompt_ids=prompt[0].tolist(), ids=new.tolist(),
                logprobs=[round(float(row[i]), 6) for row, i in zip(rows, new)])


out = Path(sys.argv[1])
(out / "model").mkdir(parents=True, exist_ok=True)
torch.manual_seed(5)
tokenizer = make_tokenizer()
model = make_model(tokenizer)
images = Qwen2VLImageProcessor(patch_size=14, merge_size=2, min_pixels=56 * 56, max_pixels=112 * 112)
y, x = np.mgrid[0:84, 0:112]  # no resizing
picture = Image.fromarray(np.stack([x * 255 // 111, y * 255 // 83, (x // 9 + y // 7) % 2 * 200], -1).astype(np.uint8))
picture.save(out / "picture.png")
expected = [expect(case, model, tokenizer, images, picture) for case in PROMPTS]
(out / "expected.json").write_text(json.dumps(
    dict(versions=f"transformers {transformers.__version__}, torch {torch.__version__}", cases=expected)) + "\n")
model.bfloat16().save_pretrained(out / "model")
tokenizer.save_pretrained(out / "model")
images.save_pretrained(out / "model")
for file in (out / "model").iterdir():
    file.chmod(0o644)
