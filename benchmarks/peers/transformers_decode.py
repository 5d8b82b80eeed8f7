"""transformers_decode.py FOLDER [--dtype bfloat16] [--threads 2] [--prompt-tokens 40] [--new-tokens 48] [--rounds 3]
[--batch 1,8,32]: how fast transformers reads and writes, measured as `agon bench` measures: tokens a second of all
sequences together, behind the first one of each. FOLDER may be a GGUF file, which is read as fp32. One JSON object.
"""
import time

start = time.perf_counter()

import argparse
import json
import os
import statistics

import torch
from transformers import AutoModelForCausalLM

parser = argparse.ArgumentParser()
parser.add_argument("model")
parser.add_argument("--dtype", default="bfloat16")
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--prompt-tokens", type=int, default=40)
parser.add_argument("--new-tokens", type=int, default=48)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--batch", default="1,8,32")
flags = parser.parse_args()
torch.set_num_threads(flags.threads)
file = {"gguf_file": os.path.basename(flags.model)} if flags.model.endswith(".gguf") else {}
folder = os.path.dirname(flags.model) if file else flags.model
model = AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, flags.dtype), **file).eval()
model.generation_config.eos_token_id = None
draw = torch.Generator().manual_seed(0)


@torch.inference_mode()
def seconds_of(batch, prompt_tokens, new_tokens):
    ids = torch.randint(1000, min(40000, model.config.vocab_size), (batch, prompt_tokens), generator=draw)
    begin = time.perf_counter()
    out = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, min_new_tokens=new_tokens,
                         max_new_tokens=new_tokens, pad_token_id=0)
    assert out.shape[1] == prompt_tokens + new_tokens
    return time.perf_counter() - begin


seconds_of(1, 8, 1)
result = {"program": "transformers " + flags.dtype, "first_token_s": time.perf_counter() - start,
          "threads": flags.threads, "prompt_tokens": flags.prompt_tokens, "new_tokens": flags.new_tokens, "decode": []}
prefill = statistics.median(seconds_of(1, flags.prompt_tokens, 1) for _ in range(flags.rounds))
result["prefill"] = {"tokens_per_second": flags.prompt_tokens / prefill}
for batch in (int(size) for size in flags.batch.split(",")):
    rounds = []
    for _ in range(flags.rounds):
        first = seconds_of(batch, flags.prompt_tokens, 1)
        rounds.append(seconds_of(batch, flags.prompt_tokens, flags.new_tokens + 1) - first)
    result["decode"].append({"batch": batch, "tokens_per_second": batch * flags.new_tokens / statistics.median(rounds)})
print(json.dumps(result))
