"""Golden losses, gradients and figures of GRPO by TRL: its own loss function on fixed logits.
Usage: policy_loss.py FOLDER"""
import json
import pathlib
import sys
from collections import defaultdict
from types import SimpleNamespace

import torch
import trl
from trl.trainer.grpo_trainer import GRPOTrainer
from trl.trainer.utils import selective_log_softmax_and_entropy

LENGTHS = [7, 1, 4, 6]  # tokens of each roll-out
WIDTH, VOCABULARY, MAX_COMPLETION = 7, 11, 9


def rows(tensor):
    """Nested lists with the nine digits that a float32 needs."""
    return [rows(row) for row in tensor] if tensor.dim() else float(f"{tensor.item():.9g}")


def stub(logits, ids, loss_type, beta, low, high, temperature):
    """What GRPOTrainer._compute_loss asks of its trainer, for one process and one step of accumulation."""
    def log_probabilities(*_, **__):
        return *selective_log_softmax_and_entropy(logits, ids, temperature=temperature), None

    return SimpleNamespace(
        _get_per_token_logps_and_entropies=log_probabilities, loss_type=loss_type, beta=beta, epsilon_low=low,
        epsilon_high=high, aux_loss_enabled=False, top_entropy_quantile=1.0, off_policy_mask_threshold=None,
        importance_sampling_level="token", use_vllm=False, vllm_importance_sampling_correction=False,
        max_completion_length=MAX_COMPLETION, current_gradient_accumulation_steps=1, _entropy_bonus_enabled=False,
        model=SimpleNamespace(training=True), _metrics={"train": defaultdict(list)},
        args=SimpleNamespace(delta=None, use_bias_correction_kl=False, steps_per_generation=1),
        accelerator=SimpleNamespace(num_processes=1, reduce=lambda x, reduction: x, gather=lambda x: x))


def case(loss_type, beta, low, high, temperature, per_token):
    torch.manual_seed(len(loss_type) + int(100 * high))
    logits = (2 * torch.randn(len(LENGTHS), WIDTH, VOCABULARY)).requires_grad_()
    ids = torch.randint(VOCABULARY, (len(LENGTHS), WIDTH))
    mask = (torch.arange(WIDTH) < torch.tensor(LENGTHS)[:, None]).long()
    current = selective_log_softmax_and_entropy(logits.detach(), ids, temperature=temperature)[0]
    old = current + 0.3 * torch.randn(ids.shape)
    reference = current + 0.5 * torch.randn(ids.shape)
    advantages = torch.randn(ids.shape if per_token else len(LENGTHS))

    trainer = stub(logits, ids, loss_type, beta, low, high, temperature)
    loss = GRPOTrainer._compute_loss(trainer, None, {
        "prompt_ids": torch.zeros(len(LENGTHS), 2, dtype=torch.long),
        "prompt_mask": torch.ones(len(LENGTHS), 2, dtype=torch.long), "completion_ids": ids, "completion_mask": mask,
        "advantages": advantages, "old_per_token_logps": old, "ref_per_token_logps": reference,
        "num_items_in_batch": mask.sum()})
    loss.backward()
    figures = {name: values[0] for name, values in trainer._metrics["train"].items()}
    assert 0 < figures["clip_ratio/low_mean"] + figures["clip_ratio/high_mean"] < 1
    return {"loss_type": loss_type, "beta": beta, "clip_low": low, "clip_high": high, "temperature": temperature,
            "max_completion": MAX_COMPLETION, "lengths": LENGTHS, "logits": rows(logits.detach()), "ids": ids.tolist(),
            "old_logprob": rows(old), "reference_logprob": rows(reference),
            "advantage": rows(advantages.reshape(len(LENGTHS), -1).expand(ids.shape)), "loss": loss.item(),
            "logits_gradient": rows(logits.grad), "figures": figures}


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
cases = [case("grpo", 0.04, 0.2, 0.2, 1.0, False), case("grpo", 0.0, 0.2, 0.28, 0.7, False),
         case("bnpo", 0.04, 0.2, 0.28, 1.0, False), case("dapo", 0.1, 0.2, 0.28, 1.3, True),
         case("dr_grpo", 0.04, 0.1, 0.3, 1.0, True)]
golden = {"versions": {"trl": trl.__version__, "torch": torch.__version__}, "cases": cases}
(folder / "trl.json").write_text(json.dumps(golden) + "\n")
