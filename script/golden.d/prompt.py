"""Golden files of chat template and prompt: conversations rendered by transformers' apply_chat_template (the family's
template, written here from its documented behaviour, and agon's plain one) and positions of get_rope_index.
Usage: prompt.py OUTPUT_FOLDER"""
import json
import os
import sys

import torch
import transformers
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast, Qwen2_5_VLConfig, Qwen2_5_VLModel

OUT = sys.argv[1]

# agon's own template: the C++ test compares ChatTemplate::plain_jinja() with it.
PLAIN = r"""{%- for message in messages -%}
  {{- '<|im_start|>' + message['role'] + '\n' -}}
  {%- if message['content'] is string -%}
    {{- message['content'] -}}
  {%- else -%}
    {%- for part in message['content'] -%}
      {%- if part['type'] == 'image' -%}
        {{- '<|vision_start|><|image_pad|><|vision_end|>' -}}
      {%- elif part['type'] == 'video' -%}
        {{- '<|vision_start|><|video_pad|><|vision_end|>' -}}
      {%- else -%}
        {{- part['text'] -}}
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}
  {{- '<|im_end|>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
  {{- '<|im_start|>assistant\n' -}}
{%- endif -%}
"""
# The same with the family's default system message.
FAMILY = r"""{%- if messages[0]['role'] != 'system' -%}
  {{- '<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n' -}}
{%- endif -%}
""" + PLAIN

IMAGE, VIDEO = {"type": "image"}, {"type": "video"}
text = lambda words: {"type": "text", "text": words}
CONVERSATIONS = [
    [{"role": "user", "content": "What is this?"}],
    [{"role": "system", "content": "Answer briefly."}, {"role": "user", "content": [IMAGE, text("Which bar is highest?")]}],
    [{"role": "user", "content": [text("Compare "), IMAGE, text(" with "), IMAGE, text(".\n")]},
     {"role": "assistant", "content": "They are equal.\n\n<answer>yes</answer>"},
     {"role": "user", "content": "\n\nSure? \u00e9\n"}],
    [{"role": "user", "content": [IMAGE, IMAGE]}, {"role": "assistant", "content": "CLICK"},
     {"role": "tool", "content": [text("done "), IMAGE]}],
    [{"role": "user", "content": ""}],
    [{"role": "user", "content": [VIDEO, text("What happens "), IMAGE, text("?"), VIDEO]}],
]


def templates():
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()))
    return [{"name": name, "jinja": jinja, "prompts": [
        {"messages": messages, "text": tokenizer.apply_chat_template(messages, chat_template=jinja, tokenize=False,
                                                                     add_generation_prompt=True)}
        for messages in CONVERSATIONS]} for name, jinja in (("plain", PLAIN), ("family", FAMILY))]


def positions():
    """Text, image (97) and vision start and end (95, 96) as ids."""
    config = Qwen2_5_VLConfig(
        text_config={"vocab_size": 100, "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1,
                     "num_attention_heads": 2, "num_key_value_heads": 1,
                     "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 3, 3]}},
        vision_config={"depth": 1, "hidden_size": 32, "intermediate_size": 32, "num_heads": 2, "out_hidden_size": 32,
                       "fullatt_block_indexes": [0], "tokens_per_second": 2},
        image_token_id=97, video_token_id=98, vision_start_token_id=95, vision_end_token_id=96)
    model = Qwen2_5_VLModel(config)
    rows = []
    for before, grids, between, after in ((3, [(1, 4, 6)], 0, 2), (0, [(1, 2, 2)], 0, 1), (2, [(1, 8, 4), (1, 4, 10)], 3, 4),
                                          (1, [(1, 2, 20), (1, 2, 2), (1, 6, 6)], 1, 0), (5, [(1, 20, 2)], 0, 3)):
        ids = [1] * before
        for i, (t, h, w) in enumerate(grids):
            ids += ([2] * between if i else []) + [95] + [97] * (t * h * w // 4) + [96]
        ids += [3] * after
        tensor = torch.tensor([ids])
        found, delta = model.get_rope_index(tensor, (tensor == 97).int(), image_grid_thw=torch.tensor(grids))
        rows.append({"ids": ids, "grids": grids, "positions": found[:, 0].T.tolist(), "next": len(ids) + int(delta[0])})
    return rows


def main():
    row = {"versions": {"transformers": transformers.__version__, "torch": torch.__version__}, "templates": templates(),
           "positions": positions()}
    with open(os.path.join(OUT, "expected.json"), "w") as file:
        json.dump(row, file)
    print(*(prompt["text"] for prompt in row["templates"][1]["prompts"]), sep="\n----\n")


main()
