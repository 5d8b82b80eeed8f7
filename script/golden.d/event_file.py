"""TensorBoard event files of a training run and of its resumed second part, and what TensorBoard reads from them together.
Usage: event_file.py FOLDER"""
import json
import math
import pathlib
import struct
import sys
import tempfile

import google.protobuf
import tensorboard
from tensorboard.backend.event_processing.plugin_event_accumulator import EventAccumulator
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

# Each part: the wall time it starts at, its first step, and its steps with their metrics. Step 130 is two bytes long.
PARTS = [
    {"wall_time": 1700000000.25, "first_step": 0, "steps": [
        [0, 1700000001.5, [["reward/total", 0.0], ["policy/kl", 1e-9]]],
        [1, 1700000002.5, [["reward/total", 0.1], ["policy/kl", -2.5], ["score/auc", None]]],
        [130, 1700000003.5, [["reward/total", 0.7], ["eval/" + "long/" * 40, 3.0]]],
        [131, 1700000004.5, [["reward/total", 0.9]]]]},
    {"wall_time": 1700000100.0, "first_step": 130, "steps": [
        [130, 1700000101.0, [["reward/total", 0.71]]],
        [131, 1700000102.0, []],
        [2**40, 1700000103.0, [["reward/total", 1e30]]]]},
]


def events(part):
    yield Event(wall_time=part["wall_time"], file_version="brain.Event:2")
    yield Event(wall_time=part["wall_time"], step=part["first_step"], session_log=SessionLog(status=SessionLog.START))
    for step, wall_time, metrics in part["steps"]:
        values = [Summary.Value(tag=name, simple_value=math.nan if value is None else value) for name, value in metrics]
        yield Event(wall_time=wall_time, step=step, summary=Summary(value=values))


def write(path, part):
    with open(path, "wb") as file:
        writer = RecordWriter(file)
        for event in events(part):
            writer.write(event.SerializeToString())


def read(paths):
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            pathlib.Path(folder, path.name).write_bytes(path.read_bytes())
        accumulator = EventAccumulator(folder)
        accumulator.Reload()
        return {tag: [[event.step, event.tensor_proto.float_val[0]] for event in accumulator.Tensors(tag)]
                for tag in accumulator.Tags()["tensors"]}


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
paths = []
for part in PARTS:
    paths.append(folder / f"events.out.tfevents.{int(part['wall_time']):010}.agon")
    write(paths[-1], part)
single = lambda value: struct.unpack("<f", struct.pack("<f", value))[0]
curves = read(paths)  # of steps 130 and 131 only what the second part says
assert curves["reward/total"] == [[0, 0.0], [1, single(0.1)], [130, single(0.71)], [2**40, single(1e30)]], curves
assert math.isnan(curves["score/auc"][0][1]) and curves["policy/kl"] == [[0, single(1e-9)], [1, -2.5]], curves
golden = {"versions": {"tensorboard": tensorboard.__version__, "protobuf": google.protobuf.__version__}, "parts": PARTS}
(folder / "parts.json").write_text(json.dumps(golden) + "\n")
