"""llama_decode.py GGUF [--threads 2] [--prompt-tokens 40] [--new-tokens 48] [--rounds 3] [--batch 1,8,32]: how fast
llama.cpp reads and writes, measured as `agon bench` measures: tokens a second of all sequences together, behind the
first one of each. Needs the package xllamacpp 2026.10.11549. One JSON object.
"""
import random
import threading
import time

import xllamacpp
from decode_measurement import batches_of, decode_parser, print_speed

flags = decode_parser().parse_args()
batches = batches_of(flags)

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


print_speed("llama.cpp", flags, start, seconds_of)
