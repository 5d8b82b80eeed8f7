"""What the programs *_decode.py share: their flags, and the measurement."""
import argparse
import json
import statistics
import time


def decode_parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--prompt-tokens", type=int, default=40)
    parser.add_argument("--new-tokens", type=int, default=48)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch", default="1,8,32")
    return parser


def batches_of(flags):
    return [int(size) for size in flags.batch.split(",")]


def print_speed(program, flags, start, seconds_of):
    """Prints the JSON object. `start`: when the program began to load its model, of time.perf_counter();
    `seconds_of(batch, prompt_tokens, new_tokens)` writes so many sequences."""
    seconds_of(1, 8, 1)
    result = {"program": program, "first_token_seconds": time.perf_counter() - start, "threads": flags.threads,
              "prompt_tokens": flags.prompt_tokens, "new_tokens": flags.new_tokens, "decode": []}
    prefill = statistics.median(seconds_of(1, flags.prompt_tokens, 1) for _ in range(flags.rounds))
    result["prefill"] = {"tokens_per_second": flags.prompt_tokens / prefill}
    for batch in batches_of(flags):
        rounds = []
        for _ in range(flags.rounds):
            first = seconds_of(batch, flags.prompt_tokens, 1)
            rounds.append(seconds_of(batch, flags.prompt_tokens, flags.new_tokens + 1) - first)
        result["decode"].append({"batch": batch,
                                 "tokens_per_second": batch * flags.new_tokens / statistics.median(rounds)})
    print(json.dumps(result))
