"""Golden files of the tokenizers of other families than Qwen2: small ones that the tokenizers library learned, each with
the pipeline of its family's tokenizer.json, and the ids that the library gives for a fuzz corpus.
Usage: tokenizer_families.py OUTPUT_FOLDER. script/check_tokenizer compares more texts."""
import json
import os
import random
import sys

import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

OUT, COUNT = sys.argv[1], 500
LLAMA3_REGEX = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
                r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2_REGEX = LLAMA3_REGEX.replace(r"\p{N}{1,3}", r"\p{N}")
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEXTS = [
    "The red bar is 4 and the blue bar is 7.\n\n4 + 7 = 11, and 1999 - 1984 = 15. It's 12345.67, isn't it?",
    "Which bar is higher, the green one or the yellow one? They've said we'll see; I'm sure you'd know.",
    "\u00c9t\u00e9 \u00e0 la plage, na\u00efve caf\u00e9s. Stra\u00dfe, \u041f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440, \u4f60\u597d\u4e16\u754c\u3002",
    "    for (int i = 0; i < 10; ++i)\n\t\tsum += values[i];   // adds them\r\n\r\n  return sum;\n",
    "\U0001f600 emoji \u2764\ufe0f and 1234567890 digits; 3.14159, 1e-6, 0xff. the the the red red circle circle",
] * 3


def family(name):
    """A tokenizer that has learned nothing, its alphabet beside."""
    tokenizer = Tokenizer(models.BPE(ignore_merges=name == "llama3"))
    byte_level = lambda use_regex: pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=use_regex)
    split = lambda regex: pre_tokenizers.Split(Regex(regex), behavior="isolated")
    tokenizer.pre_tokenizer = {
        "gpt2": lambda: byte_level(True),
        "smollm2": lambda: pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), byte_level(True)]),
        "llama3": lambda: pre_tokenizers.Sequence([split(LLAMA3_REGEX), byte_level(False)]),
        "qwen3": lambda: pre_tokenizers.Sequence([split(QWEN2_REGEX), byte_level(False)]),
    }[name]()
    if name == "qwen3":
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def learned(name):
    tokenizer = family(name)
    trainer = trainers.BpeTrainer(vocab_size=480, special_tokens=SPECIAL, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(TEXTS, trainer)
    tokenizer.add_tokens([AddedToken("<word>", single_word=True, normalized=False),
                          AddedToken("<left>", lstrip=True, normalized=False),
                          AddedToken("<right>", rstrip=True, normalized=name != "gpt2"),
                          AddedToken("<both>", lstrip=True, rstrip=True, single_word=True, normalized=False),
                          AddedToken("caf\u00e9s!", normalized=True)])
    if name == "llama3":
        tokenizer.post_processor = processors.Sequence([
            processors.ByteLevel(trim_offsets=False),
            processors.TemplateProcessing(single="<|im_start|> $A", pair=None,
                                          special_tokens=[("<|im_start|>", tokenizer.token_to_id("<|im_start|>"))])])
    elif name != "gpt2":
        tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def corpus(count):
    rng = random.Random(20261129)
    pieces = [
        *" \t\n\r\v\f\u0085\u00a0\u180e\u2003\u2028\u3000", "  ", "\r\n", "\n\n", " \n ", "   \t",
        *"aZ0z9'\"<>|.,!?-_=+()[]{}", "'s", "'S", "'\u017f", "'T", "'re", "'RE", "'vE", "'m", "'LL", "'d", "''s", "it's",
        *SPECIAL, "<word>", "<left>", "<right>", "<both>", "caf\u00e9s!", "cafe\u0301s!", "<wor", "<|im_", "hello", " the",
        " red", "circle", "e\u0301", "\u00e9", "a\u0323\u0307", "\u0301", "\uac00\u11a8", "\u4f60\u597d", "\u041f\u0440",
        "\u0661\u0662", "\u00b2", "\u2167", "\u00bd", "\U0001f600", "\U0001f468\u200d\U0001f469", "\u200b", "\ufeff", "\ufffd",
        "\x00", "\x1f", "\x7f", "\x80", "\U0010ffff", "123", "12345", " 7", "1 2", "4 + 7 = 11", "_", "\u203f", "\u0300",
    ]
    texts = ["", " ", "  ", "\n", "a", "'", "Hello world", " Hello world", "a" * 200, " " * 50, "1" * 40, "\u24d3<both>",
             "<both>\u0897", "\U00010d40<both>", *TEXTS[:5]]
    while len(texts) < count:
        if rng.random() < 0.85:
            texts.append("".join(rng.choice(pieces) for _ in range(rng.randint(1, 14))))
        else:  # any code points
            any_of = lambda: rng.choice([rng.randint(0, 0x2fff), rng.randint(0, 0xd7ff), rng.randint(0x10000, 0x32fff)])
            texts.append("".join(chr(any_of()) for _ in range(rng.randint(1, 10))))
    return texts


def main():
    names = ["gpt2", "smollm2", "llama3", "qwen3"]
    families = {name: learned(name) for name in names}
    withheld = {name: Tokenizer.from_str(one.to_str()) for name, one in families.items()}
    for one in withheld.values():
        one.encode_special_tokens = True
    encode = lambda tokenizer, text: tokenizer.encode(text, add_special_tokens=False).ids
    rows = [{"versions": {"tokenizers": tokenizers.__version__}}]
    for text in corpus(COUNT):
        row = {"text": text}
        for name in names:
            row[name] = encode(families[name], text)
            if (ids := encode(withheld[name], text)) != row[name]:
                row[name + " withheld"] = ids
        rows.append(row)
    for name, one in families.items():
        one.save(os.path.join(OUT, name + ".json"), pretty=False)
    with open(os.path.join(OUT, "corpus.jsonl"), "w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


main()
