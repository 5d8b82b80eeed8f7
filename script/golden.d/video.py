"""Golden files of videos: what transformers' video processors choose, resize and cut, the prompts of its processors, and
the logits of tiny models that other scripts have made. Usage: video.py OUTPUT_FOLDER

expected.json
  sampling  [{processor settings, frames, fps, places}]
  sizes     [[settings, frames, width, height, resized width, resized height]]
  patches   [{processor, frames, grid, row_sums, every_97th}]
  prompts   [{model, processor, messages, videos, prompt_ids, positions, next, ids, logprobs}]: greedy, special tokens
            but eos suppressed; logprobs of each id under the softmax over all ids
NAME/golden.safetensors, of the models in ../qwen_vl and ../qwen2_5_vl, as those of qwen_vl.py
  grids [parts, 3], steps [parts], patches  of every picture and every part of a video, in the order of the prompts
"""

import copy
import json
import random
import re
import sys
from pathlib import Path

import numpy as np
import torch
import transformers
from PIL import Image
from safetensors.torch import save_file
from transformers import (AutoModelForImageTextToText, PreTrainedTokenizerFast, Qwen2_5_VLProcessor,
                          Qwen2VLImageProcessor, Qwen2VLProcessor, Qwen2VLVideoProcessor, Qwen3VLProcessor,
                          Qwen3VLVideoProcessor)
from transformers.video_processing_utils import BaseVideoProcessor
from transformers.video_utils import VideoMetadata

# agon's own template, as prompt.py has it.
PLAIN = re.search(r'PLAIN = r"""(.*?)"""', (Path(__file__).parent / "prompt.py").read_text(), re.S).group(1)
KINDS = {"Qwen2VLVideoProcessor": Qwen2VLVideoProcessor, "Qwen3VLVideoProcessor": Qwen3VLVideoProcessor}
IMAGE, VIDEO, START, END = 40, 41, 42, 43


def frame(width, height, seed):
    """The C++ test draws the same bytes."""
    y, x, c = np.mgrid[0:height, 0:width, 0:3]
    return ((x * (seed + 3) + y * 5 + c * 40 + (x // 7 + y // 5 + seed) % 3 * 60) % 256).astype(np.uint8)


def frames_of(video):
    return [frame(video["width"], video["height"], i) for i in range(video["frames"])]


def sampling():
    random.seed(1)
    rows = []
    for i in range(240):
        kind = list(KINDS)[i % 2]
        settings = {"video_processor_type": kind, "do_sample_frames": True, "min_frames": random.choice([2, 4, 5]),
                    "max_frames": random.choice([7, 16, 64])}
        frames, fps = random.randint(2, 400), random.choice([1, 2, 5, 23.976, 24, 25, 29.97, 30, 60])
        settings |= ({"num_frames": random.randint(1, min(48, frames))} if i % 5 == 4 else
                     {"fps": random.choice([0.5, 1, 2, 3, 4.5])})
        processor = KINDS[kind](**settings)
        arguments = {"num_frames": settings["num_frames"], "fps": None} if "num_frames" in settings else {
            "fps": settings["fps"]}
        if kind == "Qwen3VLVideoProcessor" and "num_frames" in settings:
            processor.fps = None  # its own rate would count as a second wish
        try:
            places = processor.sample_frames(VideoMetadata(total_num_frames=frames, fps=fps), **arguments)
        except (ValueError, RuntimeError, ZeroDivisionError):
            continue  # as many as there are not, or none
        rows.append({"settings": settings, "frames": frames, "fps": fps, "places": [int(p) for p in places]})
    return rows


class Shape:
    def __init__(self, *shape):
        self.shape = shape


def sizes():
    random.seed(2)
    resize, rows = BaseVideoProcessor.resize, []
    BaseVideoProcessor.resize = lambda self, image, size, resample: [size.width, size.height]
    for i in range(160):
        kind = list(KINDS)[i % 2]
        size = random.choice([{}, {"size": {"shortest_edge": 4096, "longest_edge": 25165824}},
                              {"size": {"shortest_edge": 3136, "longest_edge": 200000}}])
        settings = {"video_processor_type": kind, "cap_pixels_per_frame": i % 3 == 2} | copy.deepcopy(size)
        if i % 7 == 0:
            settings["max_video_tokens"] = random.choice([64, 5000])
        processor = KINDS[kind](**copy.deepcopy(settings))
        frames, width, height = random.randint(2, 300), random.randint(8, 2000), random.randint(8, 1500)
        if max(width, height) > 100 * min(width, height):
            continue
        factor = 2 * processor.patch_size
        found = processor.resize(Shape(1, frames, 3, height, width), size=processor.size, resample=3, factor=factor,
                                 temporal_factor=2, cap_pixels_per_frame=settings["cap_pixels_per_frame"])
        rows.append([settings, processor.patch_size, frames, width, height, *found])
    BaseVideoProcessor.resize = resize
    return rows


def patches():
    """Whole rows would be large: the sum of each row and every 97th value are kept."""
    rows = []
    for kind, video, size in (("Qwen2VLVideoProcessor", dict(frames=4, width=60, height=40), (3136, 12544)),
                              ("Qwen2VLVideoProcessor", dict(frames=3, width=90, height=200), (3136, 6272)),
                              ("Qwen3VLVideoProcessor", dict(frames=5, width=100, height=70), (4096, 40000)),
                              ("Qwen3VLVideoProcessor", dict(frames=2, width=30, height=20), (4096, 40000))):
        settings = {"video_processor_type": kind, "do_sample_frames": False,
                    "size": {"shortest_edge": size[0], "longest_edge": size[1]}}
        processor = KINDS[kind](**copy.deepcopy(settings))
        result = processor([np.stack(frames_of(video))], return_tensors="pt")
        values = result["pixel_values_videos"].to(torch.float64)
        rows.append({"settings": settings, "video": video, "patch_size": processor.patch_size,
                     "image_mean": processor.image_mean, "image_std": processor.image_std,
                     "grid": result["video_grid_thw"][0].tolist(), "shape": list(values.shape),
                     "row_sums": [round(v, 4) for v in values.sum(1).tolist()],
                     "every_97th": [round(v, 6) for v in values.flatten()[::97].tolist()]})
    return rows


PROMPTS = [
    ("generation/model", Qwen2_5_VLProcessor, "Qwen2VLVideoProcessor", 14, 24),
    ("qwen_vl/generation/qwen2_vl", Qwen2VLProcessor, "Qwen2VLVideoProcessor", 14, 24),
    ("qwen_vl/generation/qwen3_vl", Qwen3VLProcessor, "Qwen3VLVideoProcessor", 16, 24),
]
CASES = [  # parts of one message: texts, a picture of 4 x 4 patches, videos
    ["What happens? ", dict(frames=8, width=56, height=84, fps=4)],
    ["Look: ", dict(frames=4, width=56, height=56, fps=0.5)],  # its positions go past those of the text behind it
    [dict(picture=True), dict(frames=40, width=70, height=50, fps=10), "Which bar is higher",
     dict(frames=5, width=64, height=64, fps=1.3)],
]


def write_prompt(folder, kind, video_kind, patch, new_tokens, case):
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    block = 2 * patch
    area = block ** 2
    settings = {"video_processor_type": video_kind, "do_sample_frames": True, "fps": 2.0, "min_frames": 2,
                "max_frames": 6, "patch_size": patch,
                "size": {"shortest_edge": area, "longest_edge": 16 * area * (6 if patch == 16 else 1)}}
    saved = json.load(open(folder / "preprocessor_config.json"))
    colours = {key: saved[key] for key in ("image_mean", "image_std")}
    videos = KINDS[video_kind](**copy.deepcopy(settings), **colours)
    processor = kind(image_processor=Qwen2VLImageProcessor.from_pretrained(folder), tokenizer=tokenizer,
                     video_processor=videos, chat_template=PLAIN)
    content, shown, metadata, pictures = [], [], [], []
    for part in case:
        if isinstance(part, str):
            content.append({"type": "text", "text": part})
        elif "picture" in part:
            content.append({"type": "image"})
            pictures.append(Image.fromarray(frame(4 * patch, 4 * patch, 9)))
        else:
            content.append({"type": "video"})
            shown.append(np.stack(frames_of(part)))
            metadata.append({"total_num_frames": part["frames"], "fps": part["fps"]})
    text = processor.apply_chat_template([{"role": "user", "content": content}], tokenize=False,
                                         add_generation_prompt=True)
    inputs = processor(text=[text], images=pictures or None, videos=shown, video_metadata=metadata,
                       return_tensors="pt")
    inputs.pop("video_metadata", None)
    extra = {"second_per_grid_ts": torch.tensor(inputs["second_per_grid_ts"])} if "second_per_grid_ts" in inputs else {}
    inputs = {key: value for key, value in inputs.items() if key != "second_per_grid_ts"} | extra
    positions, _ = model.model.get_rope_index(
        inputs["input_ids"], inputs["mm_token_type_ids"], image_grid_thw=inputs.get("image_grid_thw"),
        video_grid_thw=inputs["video_grid_thw"], attention_mask=inputs["attention_mask"], **extra)
    prompt = inputs["input_ids"]
    eos = model.generation_config.eos_token_id
    special = [i for i, token in tokenizer.added_tokens_decoder.items() if token.special]
    suppressed = [i for i in range(model.config.text_config.vocab_size)
                  if i != eos and (i >= len(tokenizer) or i in special)]
    with torch.inference_mode():
        out = model.generate(**inputs, do_sample=False, max_new_tokens=new_tokens, suppress_tokens=suppressed)
        fresh = out.shape[1] - prompt.shape[1]
        grown = dict(inputs, input_ids=out, attention_mask=torch.ones_like(out),
                     mm_token_type_ids=torch.nn.functional.pad(inputs["mm_token_type_ids"], (0, fresh)))
        # generate continues from the last position, not from the largest, as its rope_deltas would have it.
        after = int(positions[0, 0, -1]) + 1
        places = torch.nn.functional.pad(positions, (0, fresh))
        places[:, 0, prompt.shape[1]:] = after + torch.arange(fresh)
        logprobs = model(**grown, position_ids=places).logits[0].log_softmax(-1)
    rows = logprobs[prompt.shape[1] - 1:-1]
    new = out[0, prompt.shape[1]:]
    return {"model": str(folder.relative_to(folder.parents[2] if "qwen_vl" in str(folder) else folder.parents[1])),
            "settings": settings, "parts": case, "patch_size": patch, "prompt_ids": prompt[0].tolist(),
            "positions": positions[:, 0].T.tolist(), "next": after, "ids": new.tolist(),
            "logprobs": [round(float(row[i]), 6) for row, i in zip(rows, new)]}


# Rows of prompts of letters: pictures (i) and videos (v) with their grids and, of Qwen2.5-VL, seconds a frame.
ROWS = [[("i", (1, 4, 2), 0), ("v", (3, 2, 4), 2.5)], [("v", (2, 4, 4), 1.0), ("v", (1, 2, 2), 0.4)], []]
MODELS = {"qwen2_vl": "qwen_vl/qwen2_vl", "qwen3_vl": "qwen_vl/qwen3_vl",
          "uneven_windows": "qwen2_5_vl/uneven_windows"}


def letters(n):
    return torch.randint(0, 40, (n,)).tolist()


def row_of(items, apart):
    ids, parts = letters(3), []
    for kind, (t, h, w), seconds in items:
        token, tokens = (IMAGE if kind == "i" else VIDEO), h * w // 4
        if kind == "v" and apart:
            ids += [START]
            for _ in range(t):
                ids += letters(2) + [START] + [token] * tokens + [END]
                parts.append((kind, (1, h, w), seconds))
            ids += [END] + letters(1)
        else:
            ids += [START] + [token] * (t * tokens) + [END] + letters(2)
            parts.append((kind, (t, h, w), seconds))
    return ids + letters(4), parts


def write_case(name, source, out):
    torch.manual_seed(sum(map(ord, name)))
    folder = out.parent / source
    model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    vision = model.config.vision_config
    apart = model.config.model_type == "qwen3_vl"
    rows = [row_of(items, apart) for items in ROWS]
    lengths = torch.tensor([len(ids) for ids, _ in rows])
    ids = torch.zeros(len(rows), int(lengths.max()), dtype=torch.long)
    for i, (row, _) in enumerate(rows):
        ids[i, : len(row)] = torch.tensor(row)
    mask = (torch.arange(ids.shape[1]) < lengths[:, None]).long()
    parts = [part for _, row in rows for part in row]
    width = 3 * 2 * vision.patch_size ** 2
    cut = [torch.randn(int(np.prod(grid)), width).bfloat16().float() for _, grid, _ in parts]
    of_kind = lambda kind: torch.cat([c for c, part in zip(cut, parts) if part[0] == kind])
    whole = [item for items in ROWS for item in items]
    image_grids = torch.tensor([grid for kind, grid, _ in whole if kind == "i"])
    video_grids = torch.tensor([grid for kind, grid, _ in whole if kind == "v"])
    seconds = torch.tensor([s for kind, _, s in whole if kind == "v"])
    timed = {"second_per_grid_ts": seconds} if model.config.model_type == "qwen2_5_vl" else {}
    types = (ids == IMAGE).int() + 2 * (ids == VIDEO).int()
    positions, _ = model.model.get_rope_index(ids, types, image_grid_thw=image_grids, video_grid_thw=video_grids,
                                              attention_mask=mask, **timed)
    output = model(input_ids=ids, attention_mask=mask, pixel_values=of_kind("i"), image_grid_thw=image_grids,
                   pixel_values_videos=of_kind("v"), video_grid_thw=video_grids, position_ids=positions,
                   mm_token_type_ids=types)
    steps = [vision.tokens_per_second * int(s) if timed and kind == "v" else 1 for kind, _, s in parts]
    golden = dict(ids=ids, positions=positions, lengths=lengths, grids=torch.tensor([grid for _, grid, _ in parts]),
                  steps=torch.tensor(steps), patches=torch.cat(cut), logits=output.logits.detach() * mask[..., None])
    (out / name).mkdir(exist_ok=True)
    save_file({key: value.contiguous() for key, value in golden.items()}, out / name / "golden.safetensors",
              metadata={"versions": f"transformers {transformers.__version__}, torch {torch.__version__}"})
    (out / name / "golden.safetensors").chmod(0o644)


out = Path(sys.argv[1])
out.mkdir(exist_ok=True)
for name, source in MODELS.items():
    write_case(name, source, out)
expected = dict(versions=f"transformers {transformers.__version__}, torch {torch.__version__}", sampling=sampling(),
                sizes=sizes(), patches=patches(),
                prompts=[write_prompt(out.parent / prompt[0], *prompt[1:], case) for prompt in PROMPTS for case in CASES])
(out / "expected.json").write_text(json.dumps(expected) + "\n")
tokenizer = PreTrainedTokenizerFast.from_pretrained(out.parent / "qwen_vl/generation/qwen3_vl")
print(tokenizer.decode(expected["prompts"][-1]["prompt_ids"]))
