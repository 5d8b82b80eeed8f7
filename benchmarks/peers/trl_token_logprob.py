"""The work of benchmarks/perf/token_logprob_bench.cc by TRL: the logits of a batch of 8 by one product, then
selective_log_softmax and entropy_from_logits on them ("logits"), or TRL's own chunked LM head ("chunked").
Usage: trl_token_logprob.py logits|chunked TOKENS WIDTH [VOCABULARY, 151936] [threads, 2] [runs, 3] [grad|value, grad]"""
import json
import statistics
import sys
import time

import torch
import trl
from trl.trainer import utils

KIND, TOKENS, WIDTH = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
VOCABULARY, THREADS, RUNS = (int(sys.argv[i]) if len(sys.argv) > i else fallback
                             for i, fallback in ((4, 151936), (5, 2), (6, 3)))
ENTROPY_GRADIENT = len(sys.argv) <= 7 or sys.argv[7] == "grad"
BATCH = 8


def memory(name):
    """A value of /proc/self/status, in KiB."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name + ":"))


def results(hidden, head, ids):
    if KIND == "chunked":
        return utils._ChunkedLogProbFunction.apply(
            hidden.reshape(-1, WIDTH), head, None, ids.reshape(-1), 1.0, utils._CHUNKED_LOGPROB_CHUNK_SIZE, None, 1.0,
            ("log_probs", "entropy"))[:2]
    logits = hidden @ head.t()
    logprob = utils.selective_log_softmax(logits, ids)
    with torch.set_grad_enabled(ENTROPY_GRADIENT):
        return logprob, utils.entropy_from_logits(logits)


def step(hidden, head, ids, upstream):
    outputs = results(hidden, head, ids)
    count = 2 if ENTROPY_GRADIENT else 1
    return torch.autograd.grad(outputs[:count], [hidden, head],
                               [u.reshape(o.shape) for u, o in zip(upstream, outputs[:count])])


def main():
    torch.set_num_threads(THREADS)
    torch.manual_seed(1)
    hidden = torch.randn(BATCH, TOKENS // BATCH, WIDTH).requires_grad_()
    head = torch.randn(VOCABULARY, WIDTH).div_(WIDTH ** 0.5).requires_grad_()
    ids = torch.randint(VOCABULARY, (BATCH, TOKENS // BATCH))
    upstream = torch.randn(ids.shape), torch.randn(ids.shape) * 0.01
    step(hidden[:, :1].detach().requires_grad_(), head[:40].detach().requires_grad_(), ids[:, :1] % 40,
         [u[:, :1] for u in upstream])

    with open("/proc/self/clear_refs", "w") as refs:
        refs.write("5")  # resets the peak memory
    before = memory("VmRSS")
    step(hidden, head, ids, upstream)
    extra = (memory("VmHWM") - before) / 1024 - (hidden.numel() + head.numel()) * 4 / 2**20

    seconds, cpu = [], []
    for _ in range(RUNS):
        clock_start, cpu_start = time.perf_counter(), time.process_time()
        step(hidden, head, ids, upstream)
        seconds.append(time.perf_counter() - clock_start)
        cpu.append(time.process_time() - cpu_start)
    print(json.dumps({"side": KIND, "seconds": round(statistics.median(seconds), 4),
                      "cpu_seconds": round(statistics.median(cpu), 4), "extra_mib": round(extra, 1),
                      "versions": {"trl": trl.__version__, "torch": torch.__version__}}))


main()
