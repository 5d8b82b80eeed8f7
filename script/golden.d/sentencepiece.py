"""Golden files of SentencePiece's BPE as Llama 2 has it: small tokenizers of each form that tokenizer.json comes in, and the
ids and texts that the tokenizers library gives for a fuzz corpus. One is kept with scores too, as GGUF has it.
Usage: sentencepiece.py OUTPUT_FOLDER. script/check_tokenizer compares more texts."""
import json
import os
import random
import sys

import gguf
import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

OUT, COUNT = sys.argv[1], 160
MARK = "\u2581"
CONTROL = ["<unk>", "<s>", "</s>"]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
ADDED = [AddedToken("<|end|>", special=True, rstrip=True, normalized=False),
         AddedToken("<sep>", special=True, normalized=True),
         AddedToken("<left>", lstrip=True, normalized=False),
         AddedToken("<right>", rstrip=True, normalized=True),
         AddedToken("<both>", lstrip=True, rstrip=True, single_word=True, normalized=False),
         AddedToken("<word>", single_word=True, normalized=True),
         AddedToken("two words", normalized=True),
         AddedToken("red", single_word=True, normalized=False),
         AddedToken(MARK * 4, normalized=False)]
TEXTS = [
    "The red bar is 4 and the blue bar is 7.\n\n4 + 7 = 11, and 1999 - 1984 = 15. It's 12345.67, isn't it?",
    "Which bar is higher, the green one or the yellow one? They've said we'll see; I'm sure you'd know.",
    "\u00c9t\u00e9 \u00e0 la plage, na\u00efve caf\u00e9s. Stra\u00dfe, \u041f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440, \u4f60\u597d\u4e16\u754c\u3002",
    "    for (int i = 0; i < 10; ++i)\n        sum += values[i];   // adds them\n\n  return sum;  </s> <s> s> <0x41>",
    "1234567890 digits; 3.14159, 1e-6, 0xff. the the the red red circle circle ababab aaaa aaaaaaa abcabc",
] * 3


def learned(words):
    """The tokens, in the order in which they were learned, and their merges."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend(MARK), normalizers.Replace(" ", MARK)])
    if words:
        tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(f"{MARK}+[^{MARK}]*|[^{MARK}]+"), "isolated")
    tokenizer.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=320, show_progress=False))
    model = json.loads(tokenizer.to_str())["model"]
    taken = {*CONTROL, *BYTES}
    merges = [(left, right) for left, right in model["merges"] if not taken & {left, right, left + right}]
    return [token for token in model["vocab"] if token not in taken], merges


def merges_of(scores):
    """Those of transformers' convert_slow_tokenizer: every way to cut a token, by falling score."""
    ids = {token: id for id, token in enumerate(scores)}
    cuts = []
    for token, score in scores.items():
        pairs = [(token[:i], token[i:]) for i in range(1, len(token)) if token[:i] in ids and token[i:] in ids]
        cuts += [(left, right, score) for left, right in sorted(pairs, key=lambda pair: (ids[pair[0]], ids[pair[1]]))]
    cuts.sort(key=lambda cut: (cut[2], len(cut[0]), len(cut[1])), reverse=True)
    return [(left, right) for left, right, _ in cuts]


def decoder(dropped):
    steps = [decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse()]
    return decoders.Sequence(steps + ([decoders.Strip(" ", dropped, 0)] if dropped else []))


def build(pieces, merges, before, bytes=True, fuse=True, unknown="<unk>", dropped=1):
    tokens = CONTROL + (BYTES if bytes else []) + pieces
    tokenizer = Tokenizer(models.BPE(vocab={token: id for id, token in enumerate(tokens)}, merges=merges,
                                     byte_fallback=bytes, fuse_unk=fuse, unk_token=unknown))
    if before == "normalizer":
        tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend(MARK), normalizers.Replace(" ", MARK)])
    elif before == "replace":
        tokenizer.normalizer = normalizers.Replace(" ", MARK)
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=MARK, prepend_scheme=before, split=False)
    tokenizer.decoder = decoder(dropped)
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", pair=None, special_tokens=[("<s>", 1)])
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in CONTROL])
    tokenizer.add_tokens(ADDED)
    return tokenizer


def scored(pieces):
    """The model with scores, some of them equal, and the tokenizer that transformers makes of it."""
    scores = {piece: float(-(place // 3 if place % 7 == 0 else place)) for place, piece in enumerate(pieces)}
    scores.setdefault("red", 0.0)  # an added token that others merge to
    return scores, build(list(scores), merges_of(scores), "normalizer")


def write_gguf(path, scores, tokenizer):
    pieces = list(scores)
    added = {content: token for id, token in tokenizer.get_added_tokens_decoder().items() for content in [token.content]}
    tokens = [tokenizer.id_to_token(id) for id in range(tokenizer.get_vocab_size())]
    kinds = {"<unk>": gguf.TokenType.UNKNOWN, **{token: gguf.TokenType.BYTE for token in BYTES}}

    def kind(token):
        if token in kinds:
            return kinds[token]
        if token in added:
            return gguf.TokenType.CONTROL if added[token].special else gguf.TokenType.USER_DEFINED
        return gguf.TokenType.NORMAL

    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_scores([scores.get(token, 0.0) for token in tokens])
    writer.add_token_types([kind(token) for token in tokens])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def plain(tokenizer):
    """As GGUF can say it: added tokens without flags."""
    file = json.loads(tokenizer.to_str())
    for token in file["added_tokens"]:
        token.update(normalized=False, single_word=False, lstrip=False, rstrip=False)
    return Tokenizer.from_str(json.dumps(file))


def corpus(count):
    rng = random.Random(20261129)
    pieces = [
        *" \t\n\r\u00a0\u2003\u3000", "  ", "   ", "        ", "\n\n", " \n ", MARK, MARK * 2, MARK * 4, " " + MARK,
        *"aZ0z9'\"<>|.,!?-_=+()", "it's", *CONTROL, *[token.content for token in ADDED], "<wor", "<|en", "<0x41>", "<0x0A>",
        "hello", " the", " red", "circle", "aaaa", "abab", "abcabc", "e\u0301", "\u00e9", "\u4f60\u597d", "\u041f\u0440",
        "\u0661\u0662", "\u0928\u092e\u0938\u094d\u0924\u0947", "\u0e2a\u0e27\u0e31\u0e2a", "\uac00", "\U0001f600",
        "\U0001f468\u200d\U0001f469", "\u200b", "\ufeff", "\ufffd", "\x00", "\x1f", "\x7f", "\x80", "\U0010ffff", "123", " 7",
        "4 + 7 = 11", "_",
    ]
    texts = ["", " ", "  ", "\n", "a", "Hello world", " Hello world", "a" * 100, " " * 33, "<s>", "<s>a", " <s> a", *TEXTS[:5]]
    while len(texts) < count:
        if rng.random() < 0.88:
            texts.append("".join(rng.choice(pieces) for _ in range(rng.randint(1, 10))))
        else:  # any code points
            any_of = lambda: rng.choice([rng.randint(0, 0x2fff), rng.randint(0, 0xd7ff), rng.randint(0x10000, 0x32fff)])
            texts.append("".join(chr(any_of()) for _ in range(rng.randint(1, 5))))
    return texts


def row_of(text, families, withheld):
    row = {"text": text}
    for name, tokenizer in families.items():
        row[name] = tokenizer.encode(text, add_special_tokens=False).ids
        if (ids := withheld[name].encode(text, add_special_tokens=False).ids) != row[name]:
            row[name + " withheld"] = ids
        # decode() itself keeps special tokens that are marked "normalized".
        special = {id for id, token in tokenizer.get_added_tokens_decoder().items() if token.special}
        if (decoded := tokenizer.decode([id for id in row[name] if id not in special])) != text:
            row[name + " decoded"] = decoded
    return row


def main():
    pieces, merges = learned(words=True)
    long_pieces, long_merges = learned(words=False)
    scores, by_score = scored(pieces)
    families = {
        "legacy": build(pieces, merges, "normalizer"),
        "replace": build(long_pieces, long_merges, "replace", dropped=0),
        "first": build(pieces, merges, "first"),
        "always": build(long_pieces, long_merges, "always"),
        "never": build(pieces, merges, "never", dropped=0),
        "fused": build(pieces, merges, "normalizer", bytes=False),
        "unfused": build(pieces, merges, "first", bytes=False, fuse=False, dropped=2),
        "nameless": build(pieces, merges, "always", bytes=False, unknown=None),
        "scored": plain(by_score),
    }
    withheld = {name: Tokenizer.from_str(one.to_str()) for name, one in families.items()}
    for one in withheld.values():
        one.encode_special_tokens = True
    rows = [row_of(text, families, withheld) for text in corpus(COUNT)]
    os.makedirs(OUT, exist_ok=True)
    for name, one in families.items():
        one.save(os.path.join(OUT, name + ".json"), pretty=False)
    write_gguf(os.path.join(OUT, "scored.gguf"), scores, families["scored"])
    with open(os.path.join(OUT, "corpus.jsonl"), "w") as file:
        file.write(json.dumps({"versions": {"tokenizers": tokenizers.__version__}}) + "\n")
        file.writelines(json.dumps(row) + "\n" for row in rows)


main()
