"""Compares what agon writes with what transformers makes of the same folder, prompt and tokens, in fp32."""

import json
import math
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from transformers import (AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText, AutoProcessor, AutoTokenizer,
                          Qwen2VLImageProcessor, Qwen2VLImageProcessorPil)

from pictures import write_avi


class Refused(Exception):
    """agon ended with a message."""


class Different(Exception):
    """agon and transformers do not agree."""


@dataclass
class Prompt:
    text: str
    system: str = ""
    pictures: list = field(default_factory=list)
    video: tuple | None = None  # frames [frames, height, width, 3], and how many a second
    shown_rate: float = 2  # frames of a video a second
    new_tokens: int = 40


@dataclass
class Result:
    prompt: str
    prompt_tokens: int
    token_ids: list
    logprobs: list
    equal: int  # tokens that transformers finds likeliest too, or as likely within the bound
    difference: float  # the largest of a log-probability


def run_agon(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode < 0 or done.returncode > 128:
        raise Different(f"{' '.join(map(str, command))} crashed ({done.returncode}): {done.stderr[-600:]}")
    reason = done.stderr.strip().removeprefix("agon: ")
    if re.match(r"[\w<>]+::", reason):
        raise Different(f"{' '.join(map(str, command))} ended by an exception of the library: {reason}")
    if done.returncode != 0:
        raise Refused(reason)
    return done.stdout


def complete(agon, policy, prompt):
    with tempfile.TemporaryDirectory() as temporary:
        command = [agon, "complete", "--policy", policy, "--prompt", prompt.text, "--temperature", 0, "--max-tokens",
                   prompt.new_tokens, "--json"]
        if not any(device in policy for device in ("torch:", "cuda")):
            command += ["--threads", 1]
        for number, picture in enumerate(prompt.pictures):
            picture.save(f"{temporary}/{number}.png")
            command += ["--image", f"{temporary}/{number}.png"]
        if prompt.video:
            write_avi(Path(temporary) / "video.avi", *prompt.video)
            command += ["--video", f"{temporary}/video.avi", "--video-fps", prompt.shown_rate]
        if prompt.system:
            command += ["--system", prompt.system]
        return json.loads(run_agon(command))


def shown_frames(count, fps, rate):
    """The frames that `agon complete --video` shows at a rate."""
    wanted = min(max(int(count / fps * rate), 4), 768, count)
    return np.linspace(0, count - 1, wanted).round().astype(int)


def is_expected(name):
    """Old programs saved the rotations of Llama, and the head of a model that ties it."""
    return name.endswith("rotary_emb.inv_freq") or name == "lm_head.weight"


class Reference:
    """A folder as transformers reads it, with the resampler of pictures that agon reads from it, or another one."""

    def __init__(self, folder, resampler=None, dtype=torch.float32):
        self.folder = Path(folder)
        self.config = AutoConfig.from_pretrained(folder)
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.sees = hasattr(self.config, "vision_config")
        kind = AutoModelForImageTextToText if self.sees else AutoModelForCausalLM
        self.model, loading = kind.from_pretrained(folder, dtype=dtype, attn_implementation="eager",
                                                   output_loading_info=True)
        self.model.eval()
        problems = {key: list(names) for key, names in loading.items() if any(not is_expected(str(n)) for n in names)}
        if problems:
            raise Different(f"transformers does not read the folder as it is: {problems}")
        self.processor = self.open_processor(resampler or self.named_resampler()) if self.sees else None

    def open_processor(self, resampler):
        processor = AutoProcessor.from_pretrained(self.folder)
        kinds = {"pil": Qwen2VLImageProcessorPil, "torchvision": Qwen2VLImageProcessor}
        processor.image_processor = kinds[resampler].from_pretrained(self.folder)
        processor.chat_template = processor.chat_template or self.tokenizer.chat_template
        return processor

    def named_resampler(self):
        path = self.folder / "preprocessor_config.json"
        settings = json.loads((path if path.exists() else self.folder / "processor_config.json").read_text())
        name = settings.get("image_processor", settings).get("image_processor_type")
        return "torchvision" if name == "Qwen2VLImageProcessorFast" else "pil"

    def inputs(self, prompt):
        parts = ([{"type": "video"}] if prompt.video else []) + [{"type": "image"} for _ in prompt.pictures]
        content = parts + [{"type": "text", "text": prompt.text}] if self.sees else prompt.text
        messages = ([{"role": "system", "content": prompt.system}] if prompt.system else []) + [
            {"role": "user", "content": content}]
        if not self.sees:
            return dict(self.tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=True,
                                                           return_tensors="pt"))
        text = self.processor.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        inputs = dict(self.processor(text=[text], images=prompt.pictures or None, return_tensors="pt",
                                     **self.video_inputs(prompt)))
        inputs.pop("video_metadata", None)
        if "second_per_grid_ts" in inputs:
            inputs["second_per_grid_ts"] = torch.as_tensor(inputs["second_per_grid_ts"], dtype=torch.float32)
        return inputs

    def video_inputs(self, prompt):
        if not prompt.video:
            return {}
        frames, fps = prompt.video
        places = shown_frames(len(frames), fps, prompt.shown_rate)
        metadata = dict(total_num_frames=len(frames), fps=fps, frames_indices=places.tolist())
        return dict(videos=[frames[places]], video_metadata=[metadata], do_sample_frames=False)

    def rows(self, prompt, token_ids):
        """The number of prompt tokens, and the logits that each token was chosen from."""
        inputs = self.inputs(prompt)
        prompt_tokens, tail = inputs["input_ids"].shape[1], torch.tensor([token_ids])
        inputs["input_ids"] = torch.cat([inputs["input_ids"], tail], 1)
        inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
        if "mm_token_type_ids" in inputs:
            inputs["mm_token_type_ids"] = torch.nn.functional.pad(inputs["mm_token_type_ids"], (0, tail.shape[1]))
        with torch.inference_mode():
            return prompt_tokens, self.model(**inputs).logits[0, prompt_tokens - 1 : -1]

    def may_be_written(self, size):
        """Of each id: agon writes text, and the tokens that end a turn."""
        allowed = torch.zeros(size, dtype=torch.bool)
        allowed[: len(self.tokenizer)] = True
        allowed[[id for id, token in self.tokenizer.added_tokens_decoder.items() if token.special]] = False
        ends = self.model.generation_config.eos_token_id
        allowed[ends if ends is not None else self.config.get_text_config().eos_token_id] = True
        return allowed


def compare(agon, policy, reference, prompt, bound):
    mine = complete(agon, policy, prompt)
    ids, shown = mine["token_ids"], prompt.text[:40]
    prompt_tokens, logits = reference.rows(prompt, ids)
    if prompt_tokens != mine["prompt_tokens"]:
        raise Different(f"{shown!r}: {mine['prompt_tokens']} prompt tokens, transformers has {prompt_tokens}")
    chosen = torch.tensor(ids)[:, None]
    logprobs = logits.log_softmax(-1).gather(1, chosen)[:, 0]
    likeliest = logits.masked_fill(~reference.may_be_written(logits.shape[1]), -math.inf).max(1).values
    equal = int((likeliest - logits.gather(1, chosen)[:, 0] < bound).sum())
    differences = (logprobs - torch.tensor(mine["logprobs"])).abs()
    difference = float(differences.max()) if len(ids) else 0.0
    result = Result(shown, prompt_tokens, ids, mine["logprobs"], equal, difference)
    if not difference < bound:
        raise Different(f"{shown!r}: token {int(differences.argmax())} differs by {difference:.2e}")
    if equal < len(ids):
        raise Different(f"{shown!r}: {len(ids) - equal} of {len(ids)} tokens are not the likeliest of transformers")
    return result


class Noise:
    """Of log-probabilities in bf16: how far agon and transformers are from transformers in fp32."""

    def __init__(self, folder):
        self.exact, self.rounded = Reference(folder), Reference(folder, dtype=torch.bfloat16)
        self.sees = self.exact.sees
        self.tokens = self.likeliest = 0
        self.mine = self.theirs = self.my_worst = self.their_worst = 0.0

    def add(self, agon, policy, prompt):
        """Of the tokens that agon writes in bf16."""
        written = complete(agon, policy, prompt)
        ids = torch.tensor(written["token_ids"])[:, None]
        logits = self.exact.rows(prompt, written["token_ids"])[1]
        exact = logits.log_softmax(-1).gather(1, ids)[:, 0]
        rounded = self.rounded.rows(prompt, written["token_ids"])[1].float().log_softmax(-1).gather(1, ids)[:, 0]
        mine, theirs = (torch.tensor(written["logprobs"]) - exact).abs(), (rounded - exact).abs()
        self.tokens += len(ids)
        self.likeliest += int((logits.argmax(-1) == ids[:, 0]).sum())
        self.mine, self.theirs = self.mine + float(mine.sum()), self.theirs + float(theirs.sum())
        self.my_worst = max(self.my_worst, float(mine.max()))
        self.their_worst = max(self.their_worst, float(theirs.max()))


def compare_with_llama_cpp(file, reference, prompt, result, bound):
    """Every token that agon wrote, behind those before it; llama.cpp tells nothing of a part of a character."""
    ids = reference.inputs(prompt)["input_ids"][0].tolist()
    forbidden = (~reference.may_be_written(reference.config.vocab_size)).nonzero()[:, 0].tolist()
    lines = [json.dumps(dict(prompt=ids + result.token_ids[:i], forbidden=forbidden))
             for i in range(len(result.token_ids))]
    done = subprocess.run([sys.executable, Path(__file__).with_name("llama_cpp.py"), file], input="\n".join(lines),
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise Refused(f"llama.cpp does not take it: {done.stderr.strip().splitlines()[-1]}")
    worst = 0.0
    for i, line in enumerate(done.stdout.splitlines()):
        theirs = json.loads(line)
        if theirs.get("id") == result.token_ids[i]:
            worst = max(worst, abs(theirs["logprob"] - result.logprobs[i]))
        elif theirs:
            raise Different(f"{result.prompt!r}: token {i} of llama.cpp is {theirs['id']}, not {result.token_ids[i]}")
    if not worst < bound:
        raise Different(f"{result.prompt!r}: llama.cpp's log-probabilities differ by {worst:.2e}")
