"""What llama.cpp continues a prompt with: llama_cpp.py GGUF, and on standard input one JSON object a line, {"prompt":
ids, "tokens": number, "forbidden": ids}. Greedy, in fp32. Writes {"ids", "logprobs"} for each. A process of its own,
since llama.cpp ends the process for a model that it does not take. Needs the package xllamacpp 2026.10.11549.
"""

import json
import sys

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.hostnames, parameters.port, parameters.verbosity = ["127.0.0.1"], 0, 0
parameters.n_ctx, parameters.n_parallel = 8192, 1
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
parameters.cache_type_k = parameters.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
server = xllamacpp.Server(parameters)
for line in sys.stdin:
    wanted = json.loads(line)
    answer = server.handle_completions({
        "prompt": wanted["prompt"], "max_tokens": wanted["tokens"], "temperature": 0, "logprobs": 1,
        "logit_bias": [[id, False] for id in wanted["forbidden"]], "cache_prompt": False})
    tokens = answer["choices"][0]["logprobs"]["content"]
    print(json.dumps(dict(ids=[token["id"] for token in tokens], logprobs=[token["logprob"] for token in tokens])))
