"""Golden files of the tokenizer: a tokenizer learned by the contract of learn_tokenizer (naively, here) and a fuzz corpus
with the ids that the tokenizers library gives. Usage: tokenizer.py OUTPUT_FOLDER"""
import collections
import json
import os
import random
import sys

import tokenizers
import transformers
from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers

OUT = sys.argv[1]
QWEN2_REGEX = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
               r"|\s*[\r\n]+|\s+(?!\S)|\s+")
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>"]
TAGS = ["<answer>", "</answer>", "<think>", "</think>", "<score>", "</score>", "<a", "<answer>!"]
TEXTS = [
    "The red bar is 4 and the blue bar is 7.\n\n4 + 7 = 11\n\n<answer>11</answer><score>0.9</score>",
    "Which bar is higher, the green one or the yellow one? Look at the picture and think in steps.",
    "Tap the button that opens the settings. Scroll down. It's there, isn't it? They've said we'll see; I'm sure you'd.",
    "CLICK <point>[[512, 300]]</point>\nSCROLL [DOWN]\nTYPE [hello world]\nPRESS_BACK",
    "\u00c9t\u00e9 \u00e0 la plage, na\u00efve caf\u00e9s; e\u0301te\u0301 decomposed. Stra\u00dfe, \u041f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440, \u4f60\u597d\u4e16\u754c\u3002 \u3053\u3093\u306b\u3061\u306f\u4e16\u754c",
    "    for (int i = 0; i < 10; ++i)\n\t\tsum += values[i];   // adds them\r\n\r\n  return sum;\n",
    "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 emoji \u2764\ufe0f and 1234567890 digits; 3.14159, 1e-6, 0xff.",
] * 2 + ["the the the the red red red circle circle square", "aaaaaaaaaaaa aaaaa aaaa", "bar bar bar bars"]


def byte_symbols():
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    return {**{b: chr(b) for b in printable}, **{b: chr(256 + n) for n, b in enumerate(others)}}


SYMBOLS = byte_symbols()
SPLIT = pre_tokenizers.Split(Regex(QWEN2_REGEX), behavior="isolated")


def words_of(text):
    import re
    pieces = re.split("|".join(re.escape(t) for t in sorted(SPECIAL + TAGS, key=len, reverse=True)), text)
    for piece in pieces:
        yield from (word for word, _ in SPLIT.pre_tokenize_str(normalizers.NFC().normalize_str(piece)))


def learn(texts, vocab_size):
    """Most frequent pair first, ties by the bytes of the left and then of the right; stops when no pair occurs twice."""
    counts = collections.Counter(word for text in texts for word in words_of(text))
    words = {word: tuple(bytes([b]) for b in word.encode()) for word in counts}
    vocab, merges = [bytes([b]) for b in range(256)], []
    while len(vocab) < vocab_size:
        pairs = collections.Counter()
        for word, parts in words.items():
            for pair in zip(parts, parts[1:]):
                pairs[pair] += counts[word]
        best = min(pairs, key=lambda pair: (-pairs[pair], pair), default=None)
        if best is None or pairs[best] < 2:
            break
        merges.append(best)
        if best[0] + best[1] not in vocab:
            vocab.append(best[0] + best[1])
        for word, parts in words.items():
            merged, i = [], 0
            while i < len(parts):
                step = 2 if parts[i:i + 2] == best else 1
                merged.append(b"".join(parts[i:i + step]))
                i += step
            words[word] = tuple(merged)
    return vocab, merges


def tokenizer_json(vocab, merges):
    write = lambda token: "".join(SYMBOLS[b] for b in token)
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    split = {"type": "Split", "pattern": {"Regex": QWEN2_REGEX}, "behavior": "Isolated", "invert": False}
    added = [{"id": len(vocab) + i, "content": token, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": token in SPECIAL} for i, token in enumerate(SPECIAL + TAGS)]
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": {"type": "NFC"},
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]},
            "post_processor": byte_level, "decoder": byte_level,
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "",
                      "end_of_word_suffix": "", "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                      "vocab": {write(token): i for i, token in enumerate(vocab)},
                      "merges": [[write(a), write(b)] for a, b in merges]}}


def corpus():
    rng = random.Random(20250301)
    pieces = [
        *" \t\n\r\v\f\u0085\u00a0\u180e\u2003\u2028\u3000", "  ", "\r\n", "\n\n", " \n ", "   \t",
        *"aZ0z9'\"<>|.,!?-_=+()[]{}", "'s", "'S", "'\u017f", "'T", "'re", "'RE", "'vE", "'m", "'LL", "'d", "''s", "it's",
        *TAGS, *SPECIAL, "<ans", "<|im_", "<<answer>>", "hello", "world", " the", " red", "circle", "bar", "Stra\u00dfe",
        "e\u0301", "\u00e9", "a\u0323\u0307", "a\u0307\u0323", "\u0301", "\u0338", "\u1100\u1161\u11a8", "\uac00\u11a8",
        "\u0958", "\u2126", "\u212b", "\ufb01", "\u0345", "\u0344", "\u0f73", "\U0001d15e", "\U000105d2\u0307",
        "\u4f60\u597d", "\u4e16", "\u3053", "\u041f\u0440", "\u0661\u0662", "\u00b2", "\u2167", "\u00bd",
        "\U0001f600", "\U0001f468\u200d\U0001f469", "\u2764\ufe0f", "\U0001f1e9\U0001f1ea", "\u200b", "\ufeff", "\ufffd",
        "\x00", "\x01", "\x1f", "\x7f", "\x80", "\U0010ffff", "\ue000", "\U0002ebf0", "\U000116d0", "123", "4 + 7 = 11",
    ]
    texts = ["", " ", "  ", "\n", "a", "'", "Hello world", " Hello world", "a" * 200, " " * 50, "ab" * 60 + " \n" * 9,
             "\u0301\u0323" * 40, *TEXTS[:7]]
    for _ in range(500):
        texts.append("".join(rng.choice(pieces) for _ in range(rng.randint(1, 14))))
    for _ in range(60):  # any code points
        texts.append("".join(chr(rng.choice([rng.randint(0, 0x2fff), rng.randint(0, 0xd7ff), rng.randint(0x10000, 0x32fff)]))
                             for _ in range(rng.randint(1, 10))))
    return texts


def write(name, rows):
    with open(os.path.join(OUT, name), "w") as file:
        file.write(rows)


def main():
    content = tokenizer_json(*learn(TEXTS, 420))
    write("tokenizer.json", json.dumps(content, indent=1, ensure_ascii=False))
    plain = Tokenizer.from_str(json.dumps(content))
    withheld = Tokenizer.from_str(json.dumps(content))
    withheld.encode_special_tokens = True
    for token in content["added_tokens"]:
        token["normalized"] = True
    normalized = Tokenizer.from_str(json.dumps(content))
    encode = lambda tokenizer, text: tokenizer.encode(text, add_special_tokens=False).ids
    rows = [{"versions": {"tokenizers": tokenizers.__version__, "transformers": transformers.__version__},
             "learned_from": TEXTS, "vocab_size": 420 + len(SPECIAL) + len(TAGS), "special": SPECIAL, "tags": TAGS}]
    for text in corpus():
        row = {"text": text, "ids": encode(plain, text)}
        for key, tokenizer in (("withheld", withheld), ("normalized", normalized)):  # only where they differ
            if (ids := encode(tokenizer, text)) != row["ids"]:
                row[key] = ids
        rows.append(row)
    write("corpus.jsonl", "".join(json.dumps(row) + "\n" for row in rows))

    # The file must load in transformers as the family's own class and give the same ids there.
    json.dump({"tokenizer_class": "Qwen2Tokenizer", "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"},
              open(os.path.join(OUT, "tokenizer_config.json"), "w"))
    for load in (transformers.AutoTokenizer, transformers.Qwen2Tokenizer, transformers.PreTrainedTokenizerFast):
        hub = load.from_pretrained(OUT)
        wrong = [row["text"] for row in rows[1:] if hub(row["text"], add_special_tokens=False)["input_ids"] != row["ids"]]
        print(load.__name__, type(hub).__name__, len(hub), "differing:", len(wrong), wrong[:3])
        assert not wrong
    os.remove(os.path.join(OUT, "tokenizer_config.json"))


main()
