"""Scores of N responses by transformers: the work of benchmarks/perf/reward_bench.cc with a model of single responses.

transformers_reward.py FOLDER [threads, 2] [responses, 8]

fp32; the N responses of 64 tokens, each with the whole prompt of some 300 tokens and its picture, go forward as one
batch, and a head hidden -> 1024 -> 1 reads the state of each row's last token. Median of 15 after a warm-up, with the
picture already processed. One JSON object.
"""

import json
import sys
import time

import numpy as np
import torch
from PIL import Image
from transformers import AutoTokenizer, Qwen2_5_VLForConditionalGeneration, Qwen2VLImageProcessor

folder = sys.argv[1]
threads = int(sys.argv[2]) if len(sys.argv) > 2 else 2
responses = int(sys.argv[3]) if len(sys.argv) > 3 else 8
torch.set_num_threads(threads)
tokenizer = AutoTokenizer.from_pretrained(folder)
images = Qwen2VLImageProcessor.from_pretrained(folder)
model = Qwen2_5_VLForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
hidden = model.get_input_embeddings().embedding_dim
head = torch.nn.Sequential(torch.nn.Linear(hidden, 1024), torch.nn.SiLU(), torch.nn.Linear(1024, 1))
random = np.random.default_rng(0)


def make_inputs():
    picture = Image.fromarray(random.integers(0, 256, (112, 112, 3), dtype=np.uint8))
    pixels = images(images=[picture] * responses, return_tensors="pt")
    question = f"{random.integers(1_000_000, 9_999_999)} " + "".join(
        f"The bar number {i} has a height of {random.integers(1, 99)} and is red. " for i in range(9))
    text = tokenizer.apply_chat_template(
        [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": question}]}],
        tokenize=False, add_generation_prompt=True)
    text = text.replace("<|image_pad|>", "<|image_pad|>" * int(pixels["image_grid_thw"][0].prod() // 4))
    prompt = tokenizer(text, return_tensors="pt")["input_ids"].expand(responses, -1)
    behind = torch.from_numpy(random.integers(20, 500, (responses, 64)))
    ids = torch.cat([prompt, behind], 1)
    return prompt.shape[1], {"input_ids": ids, "attention_mask": torch.ones_like(ids),
                             "mm_token_type_ids": (ids == model.config.image_token_id).int(), **pixels}


@torch.inference_mode()
def seconds_of(inputs):
    start = time.perf_counter()
    scores = head(model.model(**inputs, use_cache=False).last_hidden_state[:, -1])
    assert scores.shape == (responses, 1)
    return time.perf_counter() - start


seconds = []
for run in range(16):
    prompt, inputs = make_inputs()
    seconds.append(seconds_of(inputs))
print(json.dumps({"responses": responses, "prompt_tokens": prompt, "batched_ms": round(1e3 * sorted(seconds[1:])[7], 2)}))
