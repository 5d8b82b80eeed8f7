"""Logits that transformers' processors change, and which ids they leave: logit_changes.py OUTPUT_FOLDER

  logit_changes.json   cases: logits, prompt, written, repetition_penalty, and the changed logits; logits, top_k, top_p,
                       min_p, temperature, and the ids that may be drawn
"""
import json
import sys
from pathlib import Path

import torch
import transformers
from transformers import LogitsProcessorList
from transformers.generation.logits_process import (MinPLogitsWarper, RepetitionPenaltyLogitsProcessor,
                                                    TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper)

torch.manual_seed(5)
VOCABULARY = 40


def row():
    return (3 * torch.randn(1, VOCABULARY)).float()


def changed(penalty):
    prompt, written = torch.randint(VOCABULARY, (6,)).tolist(), torch.randint(VOCABULARY, (4,)).tolist()
    logits = row()
    after = RepetitionPenaltyLogitsProcessor(penalty)(torch.tensor([prompt + written]), logits.clone())
    return dict(logits=logits[0].tolist(), prompt=prompt, written=written, repetition_penalty=penalty,
                changed=after[0].tolist())


def kept(top_k, top_p, min_p, temperature):
    logits = row()
    steps = LogitsProcessorList([TemperatureLogitsWarper(temperature)])
    if top_k:
        steps.append(TopKLogitsWarper(top_k))
    if top_p < 1:
        steps.append(TopPLogitsWarper(top_p))
    if min_p:
        steps.append(MinPLogitsWarper(min_p))
    after = steps(torch.zeros(1, 1, dtype=torch.long), logits.clone())
    ids = torch.nonzero(after[0] > -torch.inf).flatten().tolist()
    return dict(logits=logits[0].tolist(), top_k=top_k, top_p=top_p, min_p=min_p, temperature=temperature, ids=ids)


out = Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
cases = [changed(penalty) for penalty in (1.1, 1.8, 0.7)]
cuts = [kept(*setting) for setting in [(0, 1.0, 0.1, 1.0), (0, 1.0, 0.02, 0.5), (10, 1.0, 0.05, 2.0), (0, 0.9, 0.2, 1.0),
                                       (12, 0.95, 0.03, 1.5), (5, 0.5, 1.0, 1.0)]]
(out / "logit_changes.json").write_text(json.dumps(
    dict(versions="transformers " + transformers.__version__, changes=cases, cuts=cuts), indent=1) + "\n")
