"""Beam search over Transformer-base in eager PyTorch: the encoder once per text, keys and values of the source once per text
for all its beams, those of the target kept and reordered with the beams, one fused attention for all beams of a text. The rule
is tensor2tensor's; without a stop symbol no text ends, and a score is log p.

usage: beam_transformer.py SIZE(JSON) THREADS f32|bf16 FOLDER

Writes FOLDER/weights.safetensors, src.npy and src_len.npy; then for each number of symbols in its standard input a line of JSON:
the seconds, and the symbols and the score of each text's best.
"""
import json
import os
import sys
import time

import numpy
import torch
from safetensors.torch import save_file
from torch.nn import functional as F

from transformer import Model, inputs

size, threads, numerics, folder = json.loads(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
torch.set_num_threads(threads)
torch.manual_seed(1)
model = Model({**size, "rate": 0.0}).eval()
given = inputs(size, torch.Generator().manual_seed(1))
save_file({name: value.contiguous() for name, value in model.state_dict().items()}, os.path.join(folder, "weights.safetensors"))
for name in ("src", "src_len"):
    numpy.save(os.path.join(folder, name + ".npy"), given[name].numpy())
if numerics == "bf16":
    model = model.to(torch.bfloat16)
    model.waves = model.waves.to(torch.bfloat16)
texts, beams = size["B"], size["beams"]


def split(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(-3, -2)


def step(symbols, place, kept, sources, visible):
    """symbols [B, K]; kept: keys and values of each layer, [B * K, H, T, E], of which `place` are there. Logits [B, K, V]."""
    width, heads = size["D"], size["H"]
    x = F.embedding(symbols, model.emb) * width ** 0.5 + model.waves[place]
    for layer, (keys, values), (k, v) in zip(model.decoder, kept, sources):
        q, new_k, new_v = F.linear(x, layer.self_attn.in_proj_weight).view(texts * beams, 3, heads, -1).unbind(1)
        keys[:, :, place], values[:, :, place] = new_k, new_v
        a = F.scaled_dot_product_attention(q[:, :, None], keys[:, :, :place + 1], values[:, :, :place + 1])
        x = layer.norm1(x + layer.self_attn.out_proj(a.view(texts, beams, width)))
        q = split(F.linear(x, layer.multihead_attn.in_proj_weight[:width]), heads)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=visible)
        x = layer.norm2(x + layer.multihead_attn.out_proj(a.transpose(1, 2).flatten(2)))
        x = layer.norm3(x + layer.feed(x))
    return F.linear(x, model.emb)


def search(count):
    width, heads = size["D"], size["H"]
    visible = (torch.arange(size["S"]) < given["src_len"][:, None])[:, None, None, :]
    memory = model.encoded(given["src"], visible)
    sources = [[split(part, heads) for part in F.linear(memory, layer.multihead_attn.in_proj_weight[width:]).chunk(2, -1)]
               for layer in model.decoder]
    shape = (texts * beams, heads, count, width // heads)
    kept = [[torch.empty(shape, dtype=memory.dtype) for _ in range(2)] for _ in model.decoder]
    symbols = torch.zeros(texts, beams, dtype=torch.int64)
    scores = torch.full((texts, beams), -torch.inf)
    scores[:, 0] = 0
    text = torch.empty(texts, beams, 0, dtype=torch.int64)
    for place in range(count):
        logs = torch.log_softmax(step(symbols, place, kept, sources, visible).float(), -1)
        found = (scores[..., None] + logs).flatten(1).topk(2 * beams)
        scores, chosen = found.values[:, :beams], found.indices[:, :beams]
        parent, symbols = chosen // size["V"], chosen % size["V"]
        text = torch.cat((text.gather(1, parent[..., None].expand(-1, -1, place)), symbols[..., None]), 2)
        rows = (parent + beams * torch.arange(texts)[:, None]).flatten()
        for pair in kept:
            for each in pair:
                each[:, :, :place + 1] = each[:, :, :place + 1].index_select(0, rows)
    return text[:, 0].tolist(), scores[:, 0].tolist()


print("ready", flush=True)
for line in sys.stdin:
    with torch.inference_mode():
        begin = time.monotonic()
        texts_found, scores_found = search(int(line))
        seconds = time.monotonic() - begin
    print(json.dumps({"seconds": seconds, "symbols": texts_found, "scores": scores_found}), flush=True)
