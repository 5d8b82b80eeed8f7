"""transformers' generate on a model folder: the same work as benchmarks/perf/decode_bench.cc.

transformers_generate.py FOLDER [threads, 2] [new tokens, 64] [--first-token]

fp32, sampling at T = 1, end-of-turn tokens switched off so that every sample has all its tokens, each prompt with its
own picture. 32 x 8 runs at the batch size (prompts a call) that is fastest of several. One JSON object per line.
--first-token: only one token of one prompt, nothing warmed up, for timing the process from its start.
"""

import json
import sys
import time

import numpy as np
import torch
from PIL import Image
from transformers import AutoTokenizer, Qwen2_5_VLForConditionalGeneration, Qwen2VLImageProcessor

arguments = [argument for argument in sys.argv[1:] if argument != "--first-token"]
folder = arguments[0]
threads = int(arguments[1]) if len(arguments) > 1 else 2
new_tokens = int(arguments[2]) if len(arguments) > 2 else 64
torch.set_num_threads(threads)
tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
images = Qwen2VLImageProcessor.from_pretrained(folder)
model = Qwen2_5_VLForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
model.generation_config.eos_token_id = None
random = np.random.default_rng(0)
QUESTION = "What is the sum of the red bar and the blue bar?"


def make_inputs(prompts):
    pictures = [Image.fromarray(random.integers(0, 256, (112, 112, 3), dtype=np.uint8)) for _ in range(prompts)]
    pixels = images(images=pictures, return_tensors="pt")
    text = tokenizer.apply_chat_template(
        [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": QUESTION}]}],
        tokenize=False, add_generation_prompt=True)
    texts = [text.replace("<|image_pad|>", "<|image_pad|>" * int(grid.prod() // 4)) for grid in pixels["image_grid_thw"]]
    inputs = dict(tokenizer(texts, return_tensors="pt", padding=True))
    inputs.pop("token_type_ids", None)
    inputs["mm_token_type_ids"] = (inputs["input_ids"] == model.config.image_token_id).int()
    return {**inputs, **pixels}


@torch.inference_mode()
def generate(inputs, samples, tokens):
    out = model.generate(**inputs, do_sample=True, temperature=1.0, top_k=0, top_p=1.0, num_return_sequences=samples,
                         min_new_tokens=tokens, max_new_tokens=tokens, pad_token_id=0)
    assert out.shape[1] == inputs["input_ids"].shape[1] + tokens
    return out


def seconds_of(prompts, batch, samples, tokens):
    start = time.perf_counter()
    for _ in range(0, prompts, batch):
        generate(make_inputs(min(batch, prompts)), samples, tokens)
    return time.perf_counter() - start


def median(values):
    return sorted(values)[len(values) // 2]


if "--first-token" in sys.argv:
    print(tokenizer.decode(generate(make_inputs(1), 1, 1)[0, -1:]))
    sys.exit()
for prompts, batches in ((1, [1]), (32, [4, 8, 16, 32])):
    for batch in batches:
        seconds_of(batch, batch, 8, 4)  # warm up
    first = {batch: seconds_of(prompts, batch, 8, new_tokens) for batch in batches}
    best = min(first, key=first.get)
    seconds = median([first[best]] + [seconds_of(prompts, best, 8, new_tokens) for _ in range(2)])
    print(json.dumps({"prompts": prompts, "samples": 8, "new_tokens": new_tokens, "batch": best,
                      "seconds": round(seconds, 4), "tokens_per_second": round(prompts * 8 * new_tokens / seconds)}),
          flush=True)
seconds_of(1, 1, 1, 1)
print(json.dumps({"first_token_ms": round(1e3 * median([seconds_of(1, 1, 1, 1) for _ in range(5)]), 2)}))
