"""Random tiny text models of every architecture, as transformers saves them, and what transformers generates with them:
text_models.py OUTPUT_FOLDER

  NAME/           config.json, weights (each of another type), tokenizer; heads that do not make up the hidden size, and
                  all biases, are among them
  NAME.gguf       the same model and tokenizer as llama.cpp keeps them
  expected.json   {NAME: [{prompt, prompt_ids, ids, logprobs}]}: greedy, special tokens but eos suppressed; logprobs of
                  each id under the softmax over all ids
"""

import json
import sys
from pathlib import Path

import gguf
import numpy as np
import torch
import transformers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM,
                          Qwen3Config, Qwen3ForCausalLM)

SPLIT = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
         r"\s+(?!\S)|\s+")
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = """{% for message in messages %}<|im_start|>{{ message['role'] }}
{{ message['content'] }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
PROMPTS = ["What is 12 + 30?", "Name the colours of the café's flag, from left to right, and say which comes first. " * 2]
NEW_TOKENS = 40


def make_tokenizer():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(SPLIT), "isolated"),
         pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    trainer = trainers.BpeTrainer(vocab_size=290, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(PROMPTS * 9, trainer)
    tokenizer.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in SPECIAL])
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    fast.chat_template = TEMPLATE
    return fast


def make_models(tokenizer):
    common = dict(vocab_size=len(tokenizer) + 6, intermediate_size=48, num_hidden_layers=2, rms_norm_eps=1e-6,
                  max_position_embeddings=512, bos_token_id=None, eos_token_id=tokenizer.eos_token_id,
                  pad_token_id=tokenizer.pad_token_id)
    plain = dict(rope_type="default", rope_theta=100.0)
    llama3 = dict(rope_type="llama3", rope_theta=100.0, factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0,
                  original_max_position_embeddings=64)
    return {
        "qwen2": (Qwen2ForCausalLM(Qwen2Config(**common, hidden_size=32, num_attention_heads=4, num_key_value_heads=2,
                                               rope_parameters=plain, tie_word_embeddings=True)), torch.bfloat16),
        "qwen3": (Qwen3ForCausalLM(Qwen3Config(**common, hidden_size=24, num_attention_heads=6, num_key_value_heads=2,
                                               head_dim=16, rope_parameters=plain, tie_word_embeddings=False)),
                  torch.float16),
        "llama": (LlamaForCausalLM(LlamaConfig(**common, hidden_size=36, num_attention_heads=9, num_key_value_heads=3,
                                               rope_parameters=plain, tie_word_embeddings=True)), torch.bfloat16),
        "llama3": (LlamaForCausalLM(LlamaConfig(**common, hidden_size=32, num_attention_heads=2, num_key_value_heads=1,
                                                rope_parameters=llama3, attention_bias=True, mlp_bias=True,
                                                tie_word_embeddings=False)), torch.float32)}


def draw(model, dtype):
    model.float().eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = 0.25 * torch.randn_like(parameter)
            parameter.copy_((noise + 1 if "norm" in name else noise).to(dtype))


def expect(prompt, model, tokenizer):
    text = tokenizer.apply_chat_template([{"role": "user", "content": prompt}], tokenize=False,
                                         add_generation_prompt=True)
    ids = torch.tensor([tokenizer(text)["input_ids"]])
    special = tokenizer.convert_tokens_to_ids(SPECIAL)
    suppressed = [i for i in range(model.config.vocab_size)
                  if i != tokenizer.eos_token_id and (i >= len(tokenizer) or i in special)]
    with torch.inference_mode():
        out = model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), do_sample=False,
                             max_new_tokens=NEW_TOKENS, suppress_tokens=suppressed)
        logprobs = model(input_ids=out).logits[0].log_softmax(-1)
    new = out[0, ids.shape[1]:]
    rows = logprobs[ids.shape[1] - 1:-1]
    return dict(prompt=prompt, prompt_ids=ids[0].tolist(), ids=new.tolist(),
                logprobs=[round(float(row[i]), 6) for row, i in zip(rows, new)])


GGUF_NAMES = {"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "self_attn.q_proj": "attn_q",
              "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
              "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "mlp.gate_proj": "ffn_gate",
              "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "model.embed_tokens": "token_embd",
              "model.norm": "output_norm", "lm_head": "output"}


def gguf_name(name):
    stem, kind = name.rsplit(".", 1)
    if stem.startswith("model.layers."):
        layer, rest = stem.removeprefix("model.layers.").split(".", 1)
        return f"blk.{layer}.{GGUF_NAMES[rest]}.{kind}"
    return f"{GGUF_NAMES[stem]}.{kind}"


def in_order_of_llama_cpp(values, heads):
    return values.reshape(heads, 2, values.shape[0] // heads // 2, *values.shape[1:]).swapaxes(1, 2).reshape(values.shape)


def write_gguf(path, name, model, dtype, tokenizer):
    config, writer = model.config, gguf.GGUFWriter(path, "llama" if name == "llama3" else name)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    if getattr(config, "head_dim", None):
        writer.add_key_length(config.head_dim)
    words = {id: token for token, id in tokenizer.get_vocab().items()}
    tokens = [words.get(id, f"[PAD{id}]") for id in range(config.vocab_size)]
    kinds = [gguf.TokenType.UNUSED if id not in words else
             gguf.TokenType.CONTROL if words[id] in SPECIAL else gguf.TokenType.NORMAL
             for id in range(config.vocab_size)]
    model_part = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges([merge if isinstance(merge, str) else " ".join(merge) for merge in model_part["merges"]])
    writer.add_eos_token_id(tokenizer.eos_token_id)
    writer.add_pad_token_id(tokenizer.pad_token_id)
    writer.add_chat_template(TEMPLATE)
    heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
    for key, parameter in model.state_dict().items():
        if key == "lm_head.weight" and config.tie_word_embeddings:
            continue
        values, part = parameter.float().numpy(), key.split(".")[-2]
        if name.startswith("llama") and part in heads:
            values = in_order_of_llama_cpp(values, heads[part])
        if values.ndim == 1:  # norms and biases stay as they are
            writer.add_tensor(gguf_name(key), values)
        elif dtype == torch.bfloat16:
            kind = gguf.GGMLQuantizationType.BF16
            writer.add_tensor(gguf_name(key), gguf.quants.quantize(values, kind), raw_dtype=kind)
        else:
            writer.add_tensor(gguf_name(key), values.astype(np.float16 if dtype == torch.float16 else np.float32))
    if name == "llama3":  # what its frequencies are divided by
        size = config.hidden_size // config.num_attention_heads
        plain = config.rope_parameters["rope_theta"] ** -(np.arange(0, size, 2, dtype=np.float32) / size)
        writer.add_tensor("rope_freqs.weight", (plain / model.model.rotary_emb.inv_freq.numpy()).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


out = Path(sys.argv[1])
torch.manual_seed(7)
tokenizer = make_tokenizer()
expected = {}
for name, (model, dtype) in make_models(tokenizer).items():
    draw(model, dtype)
    expected[name] = [expect(prompt, model, tokenizer) for prompt in PROMPTS]
    write_gguf(out / (name + ".gguf"), name, model, dtype, tokenizer)
    model.to(dtype).save_pretrained(out / name)
    tokenizer.save_pretrained(out / name)
    for file in (out / name).iterdir():
        file.chmod(0o644)
(out / "expected.json").write_text(json.dumps(
    dict(versions=f"transformers {transformers.__version__}, torch {torch.__version__}", models=expected)) + "\n")
