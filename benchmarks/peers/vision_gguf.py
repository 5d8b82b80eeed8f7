"""vision_gguf.py MODEL OUT: a Qwen2.5-VL folder of float32 weights as OUT.gguf and OUT-mmproj.gguf, for llama.cpp's
server (llama_cpp_server.py OUT.gguf PORT OUT-mmproj.gguf). Needs the packages gguf 0.19.0 and safetensors 0.8.0.
"""
import json
import pathlib
import sys

import gguf
import numpy
from safetensors.numpy import load_file

folder, out = pathlib.Path(sys.argv[1]), sys.argv[2]
config = json.loads((folder / "config.json").read_text())
text, vision = config["text_config"], config["vision_config"]
pictures = json.loads((folder / "preprocessor_config.json").read_text())
weights = load_file(folder / "model.safetensors")

TEXT_NAMES = {
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}
VISION_NAMES = {
    "norm1": "ln1", "norm2": "ln2", "attn.proj": "attn_out", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def text_name(name):
    if name == "model.embed_tokens.weight":
        return "token_embd.weight"
    if name == "model.norm.weight":
        return "output_norm.weight"
    if name == "lm_head.weight":
        return "output.weight"
    layer, rest = name.removeprefix("model.layers.").split(".", 1)
    module, kind = rest.rsplit(".", 1)
    return f"blk.{layer}.{TEXT_NAMES[module]}.{kind}"


def write_text():
    writer = gguf.GGUFWriter(out + ".gguf", "qwen2vl")
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_context_length(text["max_position_embeddings"])
    writer.add_embedding_length(text["hidden_size"])
    writer.add_feed_forward_length(text["intermediate_size"])
    writer.add_block_count(text["num_hidden_layers"])
    writer.add_head_count(text["num_attention_heads"])
    writer.add_head_count_kv(text["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(text["rms_norm_eps"])
    writer.add_rope_freq_base(text["rope_parameters"]["rope_theta"])
    writer.add_rope_dimension_sections(text["rope_parameters"]["mrope_section"] + [0])
    write_tokenizer(writer)
    for name, tensor in weights.items():
        if name.startswith(("model.", "lm_head.")):
            writer.add_tensor(text_name(name), tensor)
    finish(writer)


def type_of(added):
    if added is None:
        return gguf.TokenType.NORMAL
    return gguf.TokenType.CONTROL if added["special"] else gguf.TokenType.USER_DEFINED


def write_tokenizer(writer):
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    ids = dict(tokenizer["model"]["vocab"])
    added = {token["content"]: token for token in tokenizer["added_tokens"]}
    ids.update({content: token["id"] for content, token in added.items()})
    tokens = [f"[PAD{i}]" for i in range(text["vocab_size"])]
    types = [gguf.TokenType.UNUSED] * len(tokens)
    for content, at in ids.items():
        tokens[at] = content
        types[at] = type_of(added.get(content))
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in tokenizer["model"]["merges"]]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges(merges)
    end = text["eos_token_id"]
    writer.add_eos_token_id(end[0] if isinstance(end, list) else end)
    writer.add_add_bos_token(False)
    writer.add_chat_template((folder / "chat_template.jinja").read_text())


def vision_tensors(name, tensor):
    if name == "patch_embed.proj.weight":  # a tensor for each of the two frames
        return [("v.patch_embd.weight", tensor[:, :, 0]), ("v.patch_embd.weight.1", tensor[:, :, 1])]
    if name == "merger.ln_q.weight":
        return [("v.post_ln.weight", tensor)]
    if name.startswith("merger.mlp."):
        return [("mm." + name.removeprefix("merger.mlp."), tensor)]
    block, rest = name.removeprefix("blocks.").split(".", 1)
    module, kind = rest.rsplit(".", 1)
    if module == "attn.qkv":
        parts = numpy.split(tensor, 3)
        return [(f"v.blk.{block}.attn_{which}.{kind}", part) for which, part in zip("qkv", parts)]
    return [(f"v.blk.{block}.{VISION_NAMES[module]}.{kind}", tensor)]


def window_pattern():
    whole = vision["fullatt_block_indexes"]
    if len(whole) == vision["depth"]:
        return 0  # every block sees the whole picture
    return whole[0] + 1


def write_vision():
    writer = gguf.GGUFWriter(out + "-mmproj.gguf", "clip")
    writer.add_type(gguf.GGUFType.MMPROJ)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_clip_has_vision_encoder(True)
    writer.add_clip_projector_type(gguf.VisionProjectorType.QWEN25VL)
    writer.add_vision_image_size(560)
    writer.add_vision_patch_size(vision["patch_size"])
    writer.add_vision_embedding_length(vision["hidden_size"])
    writer.add_vision_feed_forward_length(vision["intermediate_size"])
    writer.add_vision_block_count(vision["depth"])
    writer.add_vision_head_count(vision["num_heads"])
    writer.add_vision_projection_dim(vision["out_hidden_size"])
    writer.add_vision_attention_layernorm_eps(1e-6)
    writer.add_vision_use_silu(True)
    writer.add_vision_n_wa_pattern(window_pattern())
    writer.add_vision_image_mean(pictures["image_mean"])
    writer.add_vision_image_std(pictures["image_std"])
    for name, tensor in weights.items():
        if name.startswith("visual."):
            for its_name, its_tensor in vision_tensors(name.removeprefix("visual."), tensor):
                writer.add_tensor(its_name, numpy.ascontiguousarray(its_tensor))
    finish(writer)


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


write_text()
write_vision()
