"""hub_prompts.py FOLDER STRINGS PICTURE [rounds]: how fast tokenizers and torchvision's picture processor do what
prompt_bench does. FOLDER's tokenizer.json and preprocessor_config.json are read. One JSON object.
"""
import json
import statistics
import sys
import time

import torch
from PIL import Image
from tokenizers import Tokenizer
from transformers import AutoImageProcessor

folder, strings_file, picture_file = sys.argv[1:4]
rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 5
tokenizer = Tokenizer.from_file(folder + "/tokenizer.json")
strings = [json.loads(line) for line in open(strings_file, encoding="utf-8")]
picture = Image.open(picture_file).convert("RGB")
picture.load()
processor = AutoImageProcessor.from_pretrained(folder, backend="torchvision")


def median_ms(work):
    work()
    each = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        each.append(1e3 * (time.perf_counter() - start))
    return statistics.median(each)


def patch():
    return processor(images=[picture], return_tensors="pt")["pixel_values"]


torch.set_num_threads(1)
result = {"strings": len(strings), "tokens": sum(len(tokenizer.encode(text).ids) for text in strings),
          "tokenise_ms": median_ms(lambda: [tokenizer.encode(text) for text in strings]),
          "values": patch().numel(), "picture_ms": median_ms(patch)}
torch.set_num_threads(2)
result["picture_2_threads_ms"] = median_ms(patch)
result["processor"] = type(processor).__name__
print(json.dumps(result))
