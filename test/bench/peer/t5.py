"""T5: encoder and decoder with buckets of relative positions that all layers share, RMS norm, no biases; Hugging Face's names."""
import math

import torch
from torch import nn
from torch.nn import functional as F

from transformer import inputs, tokens  # noqa: F401

BUCKETS, FARTHEST = 32, 128


def bucket(far, both):
    """of the distances `far` (key - query): one each for near ones, then equal steps of the logarithm."""
    count = BUCKETS // 2 if both else BUCKETS
    start = (far > 0).long() * count if both else torch.zeros_like(far)
    far = far.abs() if both else (-far).clamp(min=0)
    near = count // 2
    steps = (far.clamp(min=1).double() / near).log() / math.log(FARTHEST / near) * (count - near)
    return start + torch.where(far < near, far, (near + steps.long()).clamp(max=count - 1))


class Attention(nn.Module):
    def __init__(self, size, tables=False):
        super().__init__()
        width, inner, self.heads, self.rate = size["D"], size["H"] * size["E"], size["H"], size["rate"]
        self.q, self.k, self.v = (nn.Linear(width, inner, bias=False) for _ in range(3))
        self.o = nn.Linear(inner, width, bias=False)
        if tables:
            self.relative_attention_bias = nn.Embedding(BUCKETS, size["H"])

    def forward(self, x, memory, mask):
        def split(y):
            return y.unflatten(2, (self.heads, -1)).transpose(1, 2)
        q, k, v = split(self.q(x)), split(self.k(memory)), split(self.v(memory))
        mask = mask if mask.dtype == torch.bool else mask.to(q.dtype)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=1.0, dropout_p=self.rate if self.training else 0.0)
        return self.o(a.transpose(1, 2).flatten(2))


class Part(nn.Module):
    """x + part(norm(x)) under the public names."""

    def __init__(self, size, name, part):
        super().__init__()
        self.layer_norm, self.name, self.rate = nn.RMSNorm(size["D"], eps=1e-6), name, size["rate"]
        setattr(self, name, part)

    def forward(self, x, *more):
        y = self.layer_norm(x)
        more = (y if more[0] is None else more[0], *more[1:]) if more else ()
        return x + F.dropout(getattr(self, self.name)(y, *more), self.rate, self.training)


class Dense(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.rate = size["rate"]
        self.wi, self.wo = nn.Linear(size["D"], size["F"], bias=False), nn.Linear(size["F"], size["D"], bias=False)

    def forward(self, x):
        return self.wo(F.dropout(F.relu(self.wi(x)), self.rate, self.training))


class Block(nn.Module):
    def __init__(self, size, decodes, first):
        super().__init__()
        parts = [Part(size, "SelfAttention", Attention(size, first))]
        parts += [Part(size, "EncDecAttention", Attention(size))] if decodes else []
        self.layer = nn.ModuleList([*parts, Part(size, "DenseReluDense", Dense(size))])


class Stack(nn.Module):
    def __init__(self, size, decodes):
        super().__init__()
        self.block = nn.ModuleList(Block(size, decodes, number == 0) for number in range(size["N"]))
        self.final_layer_norm, self.both = nn.RMSNorm(size["D"], eps=1e-6), not decodes

    def bias(self, length, visible):
        far = torch.arange(length) - torch.arange(length)[:, None]
        table = self.block[0].layer[0].SelfAttention.relative_attention_bias
        return table(bucket(far, self.both)).permute(2, 0, 1)[None].masked_fill(~visible, float("-inf"))

    def forward(self, x, visible, memory=None, readable=None):
        bias = self.bias(x.size(1), visible)
        for block in self.block:
            x = block.layer[0](x, None, bias)
            x = x if memory is None else block.layer[1](x, memory, readable)
            x = block.layer[-1](x)
        return self.final_layer_norm(x)


class Model(nn.Module):
    decayed = staticmethod(lambda name: False)

    def __init__(self, size):
        super().__init__()
        self.rate, width = size["rate"], size["D"]
        self.shared, self.encoder, self.decoder = nn.Embedding(size["V"], width), Stack(size, False), Stack(size, True)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                fan = {"q": width * size["E"], "o": size["H"] * size["E"], "wo": size["F"], "shared": 1}
                nn.init.normal_(parameter, std=fan.get(name.split(".")[-2], width) ** -0.5)

    def drop(self, x):
        return F.dropout(x, self.rate, self.training)

    def forward(self, src, src_len, tgt, label):
        visible = (torch.arange(src.size(1)) < src_len[:, None])[:, None, None, :]
        causal = torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).tril()
        memory = self.drop(self.encoder(self.drop(self.shared(src)), visible))
        y = self.drop(self.decoder(self.drop(self.shared(tgt)), causal, memory, visible))
        logits = F.linear(y * y.size(2) ** -0.5, self.shared.weight)
        return {"nll": F.cross_entropy(logits.flatten(0, 1), label.flatten().long(), ignore_index=0)}


def unread(size):
    return {"lm_head.weight": torch.zeros(size["V"], size["D"])}


def flops(size):
    """Multiply-adds of forward and backward, times two; of the decoder's own attention the visible pairs."""
    width, inner, sources, targets = size["D"], size["H"] * size["E"], size["S"], size["T"]
    projections, feed = 4 * width * inner, 2 * width * size["F"]
    source = sources * (projections + feed + 2 * inner * sources)
    target = targets * (projections + 2 * width * inner + feed + inner * (targets + 1) + 2 * inner * sources)
    target += 2 * sources * inner * width
    return 6 * size["B"] * (size["N"] * (source + target) + targets * width * size["V"])
