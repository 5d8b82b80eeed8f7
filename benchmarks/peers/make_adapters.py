"""make_adapters.py BASE OUT N: N random LoRA adapters of rank 16 on every linear of BASE, by peft, as OUT/0 .. N - 1.
Needs torch, transformers==5.17.0 and peft==0.21.2.
"""
import sys

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

base, out, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
for number in range(count):
    torch.manual_seed(number)
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    adapted = get_peft_model(model, LoraConfig(r=16, lora_alpha=16, target_modules="all-linear"))
    for name, values in adapted.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(values, std=0.002)
    adapted.peft_config["default"].base_model_name_or_path = base
    adapted.save_pretrained(f"{out}/{number}")
