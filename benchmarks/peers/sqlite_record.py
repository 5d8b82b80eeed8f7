"""The work of benchmarks/perf/record_bench.cc in Python: sqlite3 executemany, same tables, WAL, synchronous=NORMAL.

Usage: sqlite_record.py FOLDER [EPISODES]. Needs numpy and cv2. Prints one JSON object.
"""
import array
import hashlib
import json
import pathlib
import random
import re
import sqlite3
import sys
import time

import cv2
import numpy as np

SAMPLES, TOKENS, SIDE, BATCH = 9, 60, 112, 1000
PROMPT = "What is the sum of the red bar and the blue bar?"
TEXT = "The red bar is 4.\n\nThe blue bar is 3.\n\n4 + 3 = 7\n\n<answer>7</answer><score>0.82</score>"


def schema():
    header = pathlib.Path(__file__).resolve().parents[2] / "env" / "run_schema.h"
    return re.search(r'R"sql\((.*?)\)sql"', header.read_text(), re.S).group(1)


def picture():
    image = np.full((SIDE, SIDE, 3), 255, np.uint8)
    for bar in range(5):
        image[random.randint(10, 90):104, 8 + bar * 20:22 + bar * 20, bar % 3] = random.randint(0, 200)
    return image


def make_episodes(count):
    episodes, image = [], None
    for i in range(count):
        if i % SAMPLES == 0:
            image = picture()
        episodes.append({
            "task_index": i // SAMPLES, "sample": i % SAMPLES - 1, "image": image,
            "token_ids": array.array("i", (random.randint(0, 4000) for _ in range(TOKENS))),
            "logprobs": array.array("f", (-random.random() for _ in range(TOKENS)))})
    return episodes


def record(database, episodes):
    tasks, images, number, hashes = set(), set(), 0, {}
    for begin in range(0, len(episodes), BATCH):
        task_rows, episode_rows, turn_rows, image_rows = [], [], [], []
        for episode in episodes[begin:begin + BATCH]:
            number += 1
            index, image = episode["task_index"], episode["image"]
            if index not in tasks:
                tasks.add(index)
                task_rows.append((index, f"charts/2/test/{index}", 2, "sum", PROMPT, json.dumps("7")))
            key = hashes.get(id(image))
            if key is None:
                key = hashes[id(image)] = hashlib.blake2b(image.tobytes(), digest_size=16).hexdigest()
            if key not in images:
                images.add(key)
                image_rows.append((key, SIDE, SIDE, cv2.imencode(".png", image)[1].tobytes()))
            episode_rows.append((number, index, episode["sample"], "done", "", 1.0, 1, 0, "7", 0.82, 0.2))
            turn_rows.append((number, 0, json.dumps([{"image": key}, {"text": PROMPT}]), TEXT,
                              episode["token_ids"].tobytes(), episode["logprobs"].tobytes(), "stop", 40, 1.0,
                              json.dumps({"accuracy": 1.0, "format": 0.0}), json.dumps({})))
        with database:
            database.executemany("INSERT INTO tasks VALUES (?,?,?,?,?,?)", task_rows)
            database.executemany("INSERT INTO images VALUES (?,?,?,?)", image_rows)
            database.executemany("INSERT INTO episodes VALUES (?,?,?,?,?,?,?,?,?,?,?)", episode_rows)
            database.executemany("INSERT INTO turns VALUES (?,?,?,?,?,?,?,?,?,?,?)", turn_rows)


def main():
    folder = pathlib.Path(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20_000
    random.seed(1)
    episodes = make_episodes(count)
    rows = 2 * count + 2 * ((count + SAMPLES - 1) // SAMPLES)
    start = time.perf_counter()
    folder.mkdir(parents=True)
    database = sqlite3.connect(folder / "run.sqlite")
    database.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = OFF;" + schema())
    record(database, episodes)
    seconds = time.perf_counter() - start
    database.close()
    print(json.dumps({"episodes": count, "rows": rows, "seconds": round(seconds, 4), "rows_per_second": round(rows / seconds)}))


main()
