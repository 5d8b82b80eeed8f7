"""The work of benchmarks/perf/front_bench.cc, done by tokenizers and transformers. Writes the text (this repository's own
files) and the tokenizer that both sides use to FOLDER, and prints the fastest of several runs
(in CPU time, so that a busy machine matters less). Usage: front.py FOLDER"""
import os

os.environ.update(TOKENIZERS_PARALLELISM="false", RAYON_NUM_THREADS="1")
import subprocess
import sys
import time

import numpy as np
import tokenizers
import torch
import transformers
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
from transformers.models.qwen2_vl.image_processing_qwen2_vl import Qwen2VLImageProcessor

FOLDER = sys.argv[1]
QWEN2_REGEX = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
               r"|\s*[\r\n]+|\s+(?!\S)|\s+")


def fastest(work, runs=5):
    times = []
    for _ in range(runs):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def repository_text():
    root = os.path.join(os.path.dirname(__file__), "..", "..")
    names = subprocess.check_output(["git", "-C", root, "ls-files", "*.cc", "*.h", "*.md", "*.py", "*.txt"], text=True).split()
    return "".join(open(os.path.join(root, name), encoding="utf-8").read() for name in sorted(names))


def train(text):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(QWEN2_REGEX), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator([text], trainers.BpeTrainer(
        vocab_size=8000, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|image_pad|>"]))
    return tokenizer


def main():
    os.makedirs(FOLDER, exist_ok=True)
    print("tokenizers", tokenizers.__version__, "transformers", transformers.__version__, "torch", torch.__version__)
    text = repository_text()
    tokenizer = train(text)
    tokenizer.save(os.path.join(FOLDER, "tokenizer.json"))
    raw = text.encode()
    open(os.path.join(FOLDER, "text.txt"), "wb").write(raw)
    calls = [raw[i:i + 4096].decode(errors="ignore") for i in range(0, len(raw), 4096)]
    seconds = fastest(lambda: [tokenizer.encode(call, add_special_tokens=False) for call in calls])
    print(f"tokenise: {len(raw) / 1e6 / seconds:.1f} MB/s, one thread, {len(raw)} bytes in calls of 4 KB")
    torch.set_num_threads(1)
    for width, height in ((224, 224), (640, 480), (1920, 1080)):
        pixels = (np.arange(width * height * 3, dtype=np.uint64) * 2654435761 % 2**32 >> 24).astype(np.uint8).reshape(height, width, 3)
        for kind in (Qwen2VLImageProcessorPil, Qwen2VLImageProcessor):
            processor = kind(min_pixels=3136, max_pixels=1003520)
            print(f"picture {width}x{height}: {fastest(lambda: processor(pixels, return_tensors='pt')) * 1e3:.2f} ms, {kind.__name__}")


main()
