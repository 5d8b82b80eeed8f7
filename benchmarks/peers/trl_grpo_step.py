"""TRL's GRPOTrainer on a model folder and the tasks of a recorded run: seconds per step of 32 prompts x 8 roll-outs.

trl_grpo_step.py FOLDER RUN [threads, 2] [steps, 3]

fp32 on the processor, full fine-tuning, no KL, one optimiser step on each step's roll-outs; generation by transformers.
RUN: a run of agon on charts, whose task prompts and pictures are used. Prints one JSON object with the seconds of each
step after the first, which warms up.
"""

import io
import json
import re
import sqlite3
import sys
import tempfile
import time

import torch
from datasets import Dataset
from PIL import Image
from transformers import AutoTokenizer, Qwen2_5_VLForConditionalGeneration, Qwen2_5_VLProcessor, Qwen2VLImageProcessor
from transformers import Qwen2VLVideoProcessor, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

folder, run = sys.argv[1:3]
threads = int(sys.argv[3]) if len(sys.argv) > 3 else 2
steps = int(sys.argv[4]) if len(sys.argv) > 4 else 3
torch.set_num_threads(threads)

PROMPTS, SAMPLES, NEW_TOKENS = 32, 8, 256


def tasks_of(path):
    database = sqlite3.connect(f"{path}/run.sqlite")
    rows = database.execute(
        "SELECT t.prompt, t.gold, u.observation FROM tasks t JOIN episodes e USING (task_index) "
        "JOIN turns u ON u.episode_id = e.id AND u.turn = 0 WHERE e.sample = 0 ORDER BY t.task_index").fetchall()
    system = json.loads(database.execute("SELECT config FROM run").fetchone()[0]).get("instructions", "")
    tasks = []
    for prompt, gold, observation in rows:
        picture = next(part["image"] for part in json.loads(observation) if "image" in part)
        png = database.execute("SELECT png FROM images WHERE hash = ?", (picture,)).fetchone()[0]
        messages = [{"role": "user", "content": prompt}]
        if system:
            messages.insert(0, {"role": "system", "content": system})
        tasks.append({"prompt": messages, "image": Image.open(io.BytesIO(png)).convert("RGB"), "gold": json.loads(gold)})
    return tasks


def accuracy(completions, gold, **_):
    def answer(completion):
        found = re.findall(r"<answer>(.*?)</answer>", completion[0]["content"], re.S)
        return found[-1].strip() if found else None
    return [float(answer(completion) == truth) for completion, truth in zip(completions, gold)]


class Clock(TrainerCallback):
    def __init__(self):
        self.ends = []

    def on_step_end(self, *_, **__):
        self.ends.append(time.perf_counter())


def main():
    tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
    processor = Qwen2_5_VLProcessor(
        image_processor=Qwen2VLImageProcessor.from_pretrained(folder), tokenizer=tokenizer,
        video_processor=Qwen2VLVideoProcessor(), chat_template=tokenizer.chat_template)
    model = Qwen2_5_VLForConditionalGeneration.from_pretrained(folder, dtype=torch.float32)
    clock = Clock()
    with tempfile.TemporaryDirectory() as work:
        config = GRPOConfig(
            output_dir=work, use_cpu=True, bf16=False, fp16=False, gradient_checkpointing=False, max_steps=steps + 1,
            per_device_train_batch_size=PROMPTS * SAMPLES, num_generations=SAMPLES, max_completion_length=NEW_TOKENS,
            temperature=1.0, beta=0.0, learning_rate=1e-4, loss_type="grpo", report_to=[], save_strategy="no",
            logging_steps=1, disable_tqdm=True, dataloader_num_workers=0)
        trainer = GRPOTrainer(model=model, reward_funcs=accuracy, args=config, processing_class=processor,
                              train_dataset=Dataset.from_list(tasks_of(run)), callbacks=[clock])
        trainer.train()
    seconds = [end - begin for begin, end in zip(clock.ends, clock.ends[1:])]
    print(json.dumps({"seconds": seconds, "rewards": [log["reward"] for log in trainer.state.log_history if "reward" in log]}))


main()
