"""Writes what transformers makes of a tiny model, for TestGolden:

    go test -run TestTiny -family qwen2 -tiny $PWD/tiny && python golden.py tiny > testdata/qwen2.json
"""
import base64
import json
import sys

import torch
import transformers

PROMPT = [256, 84, 104, 101, 32, 114, 97, 110, 107, 115, 32, 109, 101, 101, 116]
MADE = 16


def logits(folder, dtype, ids):
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, attn_implementation="eager")
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].float()


words = transformers.AutoConfig.from_pretrained(sys.argv[1]).vocab_size
prompt = [token % words for token in PROMPT]
ids = list(prompt)
for _ in range(MADE):
    ids.append(int(logits(sys.argv[1], torch.float32, ids)[-1].argmax()))
wanted = slice(len(PROMPT) - 1, None)
out = {"torch": torch.__version__, "transformers": transformers.__version__, "prompt": prompt,
       "tokens": ids[len(PROMPT):]}
for name, dtype in ("fp32", torch.float32), ("bf16", torch.bfloat16):
    rows = logits(sys.argv[1], dtype, ids)[wanted]
    out[name] = base64.b64encode(rows.contiguous().numpy().astype("<f4").tobytes()).decode()
json.dump(out, sys.stdout)
print()
