"""Golden files of word pieces and the sentence encoder: a small random BERT, what transformers' tokenizer cuts texts
into, and the mean of the last layer, of length 1.
Usage: sentence_encoder.py OUTPUT_FOLDER"""
import json
import os
import sys

import torch
import transformers
from transformers import BertConfig, BertModel, BertTokenizerFast

OUT = sys.argv[1]
TEXTS = [
    "", " ", "the red bar", "The RED bar's height?", "unaffable, unbelievable", "Café naïve ÉCOLE Ångström",
    "two  spaces\tand\na line", "no\u200bwidth \u00adsoft \x07bell", "a" * 100, "a" * 101, "what is 北京 in English",
    "emoji 😀 bar", "under_score & (brackets) [mask] <tag>", "1,234.5%", "\u00a0no\u2003break\u3000space",
    "İstanbul ΣΑΣ ﬁne", "\ufffd odd \ufeff mark", "bar " * 40, "한국어", "x\u0301y\u0327", "¿quién? «sí» – “no”…",
]

letters = "abcdefghijklmnopqrstuvwxyz0123456789"
pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
pieces += list(letters) + ["##" + c for c in letters] + list("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
pieces += ["the", "red", "bar", "height", "un", "##aff", "##able", "##believ", "cafe", "naive", "##s", "北", "京", "ecole",
           "##gst", "what", "is", "in", "english", "\u2013", "\u201c", "\u201d", "\u2026", "\u00bf", "\u1112", "##\u1161", "##\u11ab", "\u03c3", "##\u03c3"]
pieces = list(dict.fromkeys(pieces))

with open(os.path.join(OUT, "vocab.txt"), "w", encoding="utf-8") as file:
    file.write("".join(piece + "\n" for piece in pieces))
tokenizer = BertTokenizerFast(vocab={piece: i for i, piece in enumerate(pieces)}, do_lower_case=True)

torch.manual_seed(3)
config = BertConfig(vocab_size=len(pieces), hidden_size=24, num_hidden_layers=2, num_attention_heads=3,
                    intermediate_size=40, max_position_embeddings=48, hidden_dropout_prob=0,
                    attention_probs_dropout_prob=0)
model = BertModel(config, add_pooling_layer=False).eval()
with torch.no_grad():
    for parameter in model.parameters():
        parameter.add_(0.2 * torch.randn_like(parameter))
model.save_pretrained(OUT)
saved = json.load(open(os.path.join(OUT, "config.json")))
saved.setdefault("position_embedding_type", "absolute")
json.dump({k: v for k, v in saved.items() if not isinstance(v, (dict, list)) or k == "architectures"},
          open(os.path.join(OUT, "config.json"), "w"), indent=1)
json.dump({"max_seq_length": 32}, open(os.path.join(OUT, "sentence_bert_config.json"), "w"))
json.dump({"do_lower_case": True}, open(os.path.join(OUT, "tokenizer_config.json"), "w"))

cases = []
for text in TEXTS:
    ids = tokenizer(text, truncation=True, max_length=32)["input_ids"]
    with torch.no_grad():
        mean = model(torch.tensor([ids])).last_hidden_state[0].mean(0)
    cases.append({"text": text, "ids": ids, "vector": [round(v, 7) for v in (mean / mean.norm()).tolist()]})
lines = ",\n".join(json.dumps(case) for case in cases)
with open(os.path.join(OUT, "expected.json"), "w") as file:
    file.write('{"transformers": "%s", "torch": "%s", "cases": [\n%s\n]}\n'
               % (transformers.__version__, torch.__version__, lines))

# The real model, where script/checkpoint has put it: how alike texts are to it.
REAL = ".deps/minilm"
if os.path.isdir(REAL):
    tokenizer, model = BertTokenizerFast.from_pretrained(REAL), BertModel.from_pretrained(REAL).eval()

    def embed(text):
        with torch.no_grad():
            mean = model(**tokenizer(text, truncation=True, max_length=256, return_tensors="pt")).last_hidden_state[0].mean(0)
        return mean / mean.norm()

    texts = ["who founded the town of Tarn", "founder of Tarn", "Tarn population in 1921", "height of the red tower",
             "How tall is the red tower?", "Café Müller's opening year", "北京 weather", "bar " * 400]
    pairs = [{"a": a, "b": b, "cosine": round(float(embed(a) @ embed(b)), 6)} for i, a in enumerate(texts) for b in texts[i + 1:]]
    with open(os.path.join(OUT, "minilm.json"), "w") as file:
        json.dump({"pairs": pairs}, file, indent=0)
