"""transformers_decode.py FOLDER [--dtype bfloat16] [--threads 2] [--prompt-tokens 40] [--new-tokens 48] [--rounds 3]
[--batch 1,8,32]: how fast transformers reads and writes, measured as `agon bench` measures: tokens a second of all
sequences together, behind the first one of each. FOLDER may be a GGUF file, which is read as fp32. One JSON object.
"""
import time

start = time.perf_counter()

import os

import torch
from decode_measurement import decode_parser, print_speed
from transformers import AutoModelForCausalLM

parser = decode_parser()
parser.add_argument("--dtype", default="bfloat16")
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


print_speed("transformers " + flags.dtype, flags, start, seconds_of)
