"""Writes a config.json as transformers saves it: script/golden.d/model_config.py OUTPUT_FOLDER"""

import sys
from pathlib import Path

from transformers import Qwen2_5_VLConfig

out = Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
config = Qwen2_5_VLConfig(
    vision_config=dict(depth=2, hidden_size=32, intermediate_size=64, num_heads=2, out_hidden_size=32,
                       fullatt_block_indexes=[1]),
    text_config=dict(vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2,
                     num_key_value_heads=1, max_position_embeddings=512, rms_norm_eps=1e-6, eos_token_id=[5, 6],
                     bos_token_id=None,
                     rope_parameters=dict(rope_type="default", rope_theta=10.0, mrope_section=[2, 3, 3])),
    image_token_id=60, video_token_id=61, vision_start_token_id=62, vision_end_token_id=63, tie_word_embeddings=True)
config.to_json_file(out / "transformers5.json", use_diff=True)
