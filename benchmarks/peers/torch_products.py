"""torch_products.py FOLDER [--rows 32] [--threads 2] [--rounds 20]: FLOP/s of LibTorch's products (oneDNN, MKL) on
the linears of one decoding step of FOLDER's model, in bf16 and fp32: x [rows, in] times W [out, in]^T, each
weight anew from memory as in a model. One JSON object.
"""
import argparse
import json
import time

import torch

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--rows", type=int, default=32)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--rounds", type=int, default=20)
flags = parser.parse_args()
torch.set_num_threads(flags.threads)
config = json.load(open(flags.folder + "/config.json"))
config = config.get("text_config", config)
hidden, inner, heads = config["hidden_size"], config["intermediate_size"], config["num_attention_heads"]
size = config.get("head_dim") or hidden // heads
keys = config.get("num_key_value_heads", heads)
layer = [((heads + 2 * keys) * size, hidden), (hidden, heads * size), (2 * inner, hidden), (hidden, inner)]
shapes = layer * config["num_hidden_layers"] + [(config["vocab_size"], hidden)]
flops = sum(2 * flags.rows * out * inputs for out, inputs in shapes)
result = {"rows": flags.rows, "threads": flags.threads, "gflop": flops * 1e-9}
with torch.inference_mode():
    for dtype in (torch.bfloat16, torch.float32):
        weights = [torch.randn(shape, dtype=torch.float32).to(dtype) for shape in shapes]
        inputs = {n: torch.randn(flags.rows, n).to(dtype) for n in {n for _, n in shapes}}
        best = float("inf")
        for _ in range(flags.rounds):
            start = time.perf_counter()
            for weight in weights:
                torch.nn.functional.linear(inputs[weight.shape[1]], weight)
            best = min(best, time.perf_counter() - start)
        result[str(dtype).split(".")[1]] = {"seconds": best, "gflop_per_second": flops * 1e-9 / best}
        del weights
print(json.dumps(result))
