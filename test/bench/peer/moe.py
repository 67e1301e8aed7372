"""Mixtral: llama.py with experts in place of the feed-forward part. An expert computes the places that chose it, no others."""
import torch
from torch import nn
from torch.nn import functional as F

import llama
from llama import inputs, tokens  # noqa: F401

CHOSEN = 2


class Expert(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.w1, self.w3 = (nn.Linear(size["D"], size["F"], bias=False) for _ in range(2))
        self.w2 = nn.Linear(size["F"], size["D"], bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Mixture(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gate = nn.Linear(size["D"], size["X"], bias=False)
        self.experts = nn.ModuleList(Expert(size) for _ in range(size["X"]))

    def forward(self, x):
        """The result, the mean probability of each expert, its share of the choices."""
        flat = x.flatten(0, 1)
        p = self.gate(flat).float().softmax(1)
        share, choice = p.topk(CHOSEN, 1)
        share = (share / share.sum(1, keepdim=True)).to(x.dtype)
        y = torch.zeros_like(flat)
        for number, expert in enumerate(self.experts):
            place, rank = (choice == number).nonzero(as_tuple=True)
            made = expert(flat[place]) * share[place, rank, None]
            y = y.index_add(0, place, made.to(y.dtype))
        chosen = F.one_hot(choice, p.size(1)).sum(1).to(p.dtype)
        return y.view_as(x), p.mean(0), chosen.mean(0)


class Layer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.input_layernorm, self.post_attention_layernorm = (nn.RMSNorm(size["D"], eps=1e-5) for _ in range(2))
        self.self_attn, self.block_sparse_moe = llama.Attention(size), Mixture(size)

    def forward(self, x, angles):
        x = x + self.self_attn(self.input_layernorm(x), angles)
        y, p, chosen = self.block_sparse_moe(self.post_attention_layernorm(x))
        return x + y, p, chosen


class Model(llama.Model):
    layer, weights = Layer, {"balance": 0.02}

    def forward(self, ids, target):
        x, probable, chosen, layers = self.model["embed_tokens"](ids), [], [], self.model["layers"]
        for layer in layers:
            x, p, c = layer(x, self.angles)
            probable.append(p)
            chosen.append(c)
        logits = self.lm_head(self.model["norm"](x))
        balance = probable[0].numel() * (torch.stack(probable).mean(0) * torch.stack(chosen).mean(0)).sum()
        return {"lm": F.cross_entropy(logits.flatten(0, 1), target.flatten().long()), "balance": balance}


def flops(size):
    """Multiply-adds of forward and backward, times two: the experts that were chosen, the visible pairs."""
    width = size["D"]
    layer = 2 * width * width + 2 * width * size["K"] * size["E"] + CHOSEN * 3 * width * size["F"] + width * size["X"]
    return 6 * tokens(size) * (size["N"] * (layer + width * (size["T"] + 1)) + width * size["V"])
