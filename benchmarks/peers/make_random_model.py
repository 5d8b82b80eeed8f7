"""make_random_model.py FROM OUT [--layers 36] [--hidden 2048] [--inner 11008] [--heads 16] [--keys 2]: a Qwen2 model of
random bf16 weights with the tokenizer of the folder FROM; as given, of the shape of Qwen2.5-3B (3.1 billion parameters,
tied). One shard a layer, so that it takes little memory. Needs numpy.
"""
import argparse
import json
import os
import shutil
import struct

import numpy

parser = argparse.ArgumentParser()
parser.add_argument("source")
parser.add_argument("out")
parser.add_argument("--layers", type=int, default=36)
parser.add_argument("--hidden", type=int, default=2048)
parser.add_argument("--inner", type=int, default=11008)
parser.add_argument("--heads", type=int, default=16)
parser.add_argument("--keys", type=int, default=2)
flags = parser.parse_args()
draw = numpy.random.default_rng(0)
size, words = flags.hidden // flags.heads, 151936
os.makedirs(flags.out, exist_ok=True)


def values(shape, name):
    if name.endswith("norm.weight"):
        return numpy.full(shape, 1, numpy.float32)
    return draw.standard_normal(shape, numpy.float32) * numpy.float32(0.02)


def write(path, shapes):
    header, at = {}, 0
    for name, shape in shapes.items():
        end = at + 2 * int(numpy.prod(shape))
        header[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [at, end]}
        at = end
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, shape in shapes.items():
            file.write((values(shape, name).view(numpy.uint32) >> 16).astype(numpy.uint16).tobytes())


def layer(number):
    stem, key_size = f"model.layers.{number}.", flags.keys * size
    shapes = {"self_attn.q_proj.weight": (flags.hidden, flags.hidden), "self_attn.q_proj.bias": (flags.hidden,),
              "self_attn.k_proj.weight": (key_size, flags.hidden), "self_attn.k_proj.bias": (key_size,),
              "self_attn.v_proj.weight": (key_size, flags.hidden), "self_attn.v_proj.bias": (key_size,),
              "self_attn.o_proj.weight": (flags.hidden, flags.hidden), "mlp.gate_proj.weight": (flags.inner, flags.hidden),
              "mlp.up_proj.weight": (flags.inner, flags.hidden), "mlp.down_proj.weight": (flags.hidden, flags.inner),
              "input_layernorm.weight": (flags.hidden,), "post_attention_layernorm.weight": (flags.hidden,)}
    return {stem + name: shape for name, shape in shapes.items()}


shards = [{"model.embed_tokens.weight": (words, flags.hidden), "model.norm.weight": (flags.hidden,)}]
shards += [layer(number) for number in range(flags.layers)]
index = {}
for number, shapes in enumerate(shards):
    name = f"model-{number + 1:05}-of-{len(shards):05}.safetensors"
    write(os.path.join(flags.out, name), shapes)
    index.update(dict.fromkeys(shapes, name))
json.dump({"metadata": {}, "weight_map": index}, open(os.path.join(flags.out, "model.safetensors.index.json"), "w"))
config = json.load(open(os.path.join(flags.source, "config.json")))
config.update({"hidden_size": flags.hidden, "intermediate_size": flags.inner, "num_hidden_layers": flags.layers,
               "num_attention_heads": flags.heads, "num_key_value_heads": flags.keys, "vocab_size": words,
               "tie_word_embeddings": True})
json.dump(config, open(os.path.join(flags.out, "config.json"), "w"), indent=1)
for name in ("tokenizer.json", "tokenizer_config.json", "generation_config.json", "chat_template.jinja"):
    if os.path.exists(os.path.join(flags.source, name)):
        shutil.copy(os.path.join(flags.source, name), flags.out)
