"""The guided search of critic/search/method.h (SPC) on transformers: the policy writes a step, the critic judges it, and a
wrong step is sampled again, at most five times; then the last one is kept.

transformers_guided.py POLICY CRITIC RUN [threads, 2] [batch, 32]

RUN: a run of agon on charts, whose test tasks are searched. fp32, T = 1, all tasks in lock-step: the steps of up to
`batch` tasks are written in one call of generate, and judged in one. Prints one JSON object; seconds are of the search
alone, without loading.
"""

import io
import json
import re
import sqlite3
import sys
import time

import torch
from PIL import Image
from transformers import AutoTokenizer, Qwen2_5_VLForConditionalGeneration, Qwen2VLImageProcessor

ATTEMPTS, NEW_TOKENS, BLANK = 5, 256, "\n\n"
CRITIC = "Is the last step right? End with <Answer>Correct</Answer> or <Answer>Incorrect</Answer>."
NOTHING_YET = "Let's solve this problem."


class Model:
    def __init__(self, folder):
        self.tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
        self.images = Qwen2VLImageProcessor.from_pretrained(folder)
        self.model = Qwen2_5_VLForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
        self.end = self.tokenizer.convert_tokens_to_ids("<|im_end|>")

    def prompt(self, system, content, prefix):
        messages = [{"role": "system", "content": system}, {"role": "user", "content": content}]
        return self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True) + prefix

    @torch.inference_mode()
    def write(self, prompts, pictures, greedy, stop):
        """The continuation of each prompt, up to the first `stop` or the end of the turn."""
        pixels = self.images(images=pictures, return_tensors="pt")
        texts = [text.replace("<|image_pad|>", "<|image_pad|>" * int(grid.prod() // 4))
                 for text, grid in zip(prompts, pixels["image_grid_thw"])]
        inputs = dict(self.tokenizer(texts, return_tensors="pt", padding=True))
        inputs.pop("token_type_ids", None)
        inputs["mm_token_type_ids"] = (inputs["input_ids"] == self.model.config.image_token_id).int()
        how = {"do_sample": False} if greedy else {"do_sample": True, "temperature": 1.0, "top_k": 0, "top_p": 1.0}
        if stop:
            how |= {"stop_strings": [stop], "tokenizer": self.tokenizer}
        out = self.model.generate(**inputs, **pixels, **how, max_new_tokens=NEW_TOKENS, pad_token_id=self.end)
        written = out[:, inputs["input_ids"].shape[1]:]
        ended = [bool((row == self.end).any()) for row in written]
        texts = self.tokenizer.batch_decode(written, skip_special_tokens=True)
        return [(text, end and not (stop and text.endswith(stop))) for text, end in zip(texts, ended)]


class Task:
    def __init__(self, parts, picture, gold, system):
        self.parts, self.picture, self.gold, self.system = parts, picture, gold, system
        self.turn, self.step, self.ended, self.attempt, self.done = "", "", False, 0, False

    def content(self, head=(), tail=()):
        return [*head, *self.parts, *tail]

    def judged(self, correct):
        self.attempt += 1
        if correct or self.attempt == ATTEMPTS:
            self.turn, self.done, self.attempt = self.turn + self.step, self.ended, 0

    def answer(self):
        found = re.findall(r"<answer>(.*?)</answer>", self.turn, re.S)
        return found[-1].strip() if found else None


def text(value):
    return {"type": "text", "text": value}


def write_steps(policy, tasks):
    for greedy in (True, False):
        chosen = [task for task in tasks if (task.attempt == 0) == greedy]
        if not chosen:
            continue
        prompts = [policy.prompt(task.system, task.content(), task.turn) for task in chosen]
        for task, (step, ended) in zip(chosen, policy.write(prompts, [task.picture for task in chosen], greedy, BLANK)):
            task.step, task.ended = step, ended


def judge_steps(critic, tasks):
    prompts = []
    for task in tasks:
        before = BLANK.join(part.strip() for part in task.turn.split(BLANK) if part.strip()) or NOTHING_YET
        step = task.step.strip()
        if "</answer>" in step:
            step = step[:step.rfind("</answer>") + len("</answer>")]
        tail = text(f"\n\n## Partial Solution\n{before}\n\n## Last Step\n{step}")
        prompts.append(critic.prompt(CRITIC, task.content([text("## Problem\n")], [tail]), ""))
    for task, (critique, _) in zip(tasks, critic.write(prompts, [task.picture for task in tasks], True, None)):
        task.judged("<Answer>Incorrect</Answer>" not in critique)


def tasks_of(path):
    database = sqlite3.connect(f"{path}/run.sqlite")
    system = json.loads(database.execute("SELECT config FROM run").fetchone()[0]).get("instructions", "")
    rows = database.execute(
        "SELECT t.gold, u.observation FROM tasks t JOIN episodes e USING (task_index) "
        "JOIN turns u ON u.episode_id = e.id AND u.turn = 0 WHERE e.sample = 0 ORDER BY t.task_index").fetchall()
    for gold, observation in rows:
        parts, picture = [], None
        for part in json.loads(observation):
            if "image" in part:
                png = database.execute("SELECT png FROM images WHERE hash = ?", (part["image"],)).fetchone()[0]
                picture = Image.open(io.BytesIO(png)).convert("RGB")
                parts.append({"type": "image"})
            else:
                parts.append(text(part["text"]))
        yield Task(parts, picture, json.loads(gold), system)


def main(policy, critic, run, threads="2", batch="32"):
    torch.set_num_threads(int(threads))
    policy, critic, tasks = Model(policy), Model(critic), list(tasks_of(run))
    write_steps(policy, tasks[:2])  # warms up
    start = time.perf_counter()
    while open_tasks := [task for task in tasks if not task.done]:
        for first in range(0, len(open_tasks), int(batch)):
            now = open_tasks[first:first + int(batch)]
            write_steps(policy, now)
            judge_steps(critic, now)
    seconds = time.perf_counter() - start
    right = sum(task.answer() == str(task.gold) for task in tasks)
    print(json.dumps({"tasks": len(tasks), "accuracy": right / len(tasks), "seconds": round(seconds, 3)}))


main(*sys.argv[1:])
