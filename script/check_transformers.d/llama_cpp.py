"""The log-probability that llama.cpp gives to the likeliest token behind each prompt: llama_cpp.py GGUF, and on
standard input one JSON object a line, {"prompt": ids, "forbidden": ids}. Writes {"id", "logprob"} for each, in fp32, or
{} for a token that is a part of a character. A process of its own, since llama.cpp ends the process of a model that it
does not take. Needs the package xllamacpp 2026.10.11549.
"""

import json
import sys

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.hostnames, parameters.port, parameters.verbosity = ["127.0.0.1"], 0, 0
parameters.n_ctx, parameters.n_parallel = 8192, 1
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
parameters.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
parameters.cache_type_k = parameters.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
server = xllamacpp.Server(parameters)
for line in sys.stdin:
    wanted = json.loads(line)
    answer = server.handle_completions({
        "prompt": wanted["prompt"], "max_tokens": 1, "temperature": 0, "logprobs": 1,
        "logit_bias": [[id, False] for id in wanted["forbidden"]]})
    tokens = (answer["choices"][0]["logprobs"] or {}).get("content")
    print(json.dumps(dict(id=tokens[0]["id"], logprob=tokens[0]["logprob"]) if tokens else {}))
