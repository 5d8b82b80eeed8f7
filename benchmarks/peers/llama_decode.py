"""llama_decode.py GGUF [--threads 2] [--prompt-tokens 40] [--new-tokens 48] [--rounds 3] [--batch 1,8,32]: how fast
llama.cpp reads and writes, measured as `agon bench` measures: tokens a second of all sequences together, behind the
first one of each. Needs the package xllamacpp 2026.10.11549. One JSON object.
"""
import argparse
import json
import random
import statistics
import threading
import time

import xllamacpp

parser = argparse.ArgumentParser()
parser.add_argument("model")
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--prompt-tokens", type=int, default=40)
parser.add_argument("--new-tokens", type=int, default=48)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--batch", default="1,8,32")
flags = parser.parse_args()
batches = [int(size) for size in flags.batch.split(",")]

parameters = xllamacpp.CommonParams()
parameters.model.path = flags.model
parameters.n_parallel = max(batches)
parameters.n_ctx = (flags.prompt_tokens + flags.new_tokens + 64) * max(batches)
parameters.hostnames = ["127.0.0.1"]
parameters.port = 0
parameters.verbosity = 0
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = flags.threads
start = time.perf_counter()
server = xllamacpp.Server(parameters)
draw = random.Random(0)


def seconds_of(batch, prompt_tokens, new_tokens):
    """Of so many sequences, each with its own prompt of ordinary tokens."""
    def complete(prompt):
        answer = server.handle_completions({"prompt": prompt, "max_tokens": new_tokens, "temperature": 0,
                                            "ignore_eos": True, "cache_prompt": False})
        assert answer["usage"]["completion_tokens"] == new_tokens, answer
    prompts = [[draw.randrange(1000, 40000) for _ in range(prompt_tokens)] for _ in range(batch)]
    threads = [threading.Thread(target=complete, args=(prompt,)) for prompt in prompts]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - begin


seconds_of(1, 8, 1)
result = {"program": "llama.cpp", "first_token_s": time.perf_counter() - start, "threads": flags.threads,
          "prompt_tokens": flags.prompt_tokens, "new_tokens": flags.new_tokens, "decode": []}
prefill = statistics.median(seconds_of(1, flags.prompt_tokens, 1) for _ in range(flags.rounds))
result["prefill"] = {"tokens_per_second": flags.prompt_tokens / prefill}
for batch in batches:
    rounds = []
    for _ in range(flags.rounds):
        first = seconds_of(batch, flags.prompt_tokens, 1)
        rounds.append(seconds_of(batch, flags.prompt_tokens, flags.new_tokens + 1) - first)
    result["decode"].append({"batch": batch, "tokens_per_second": batch * flags.new_tokens / statistics.median(rounds)})
print(json.dumps(result))
