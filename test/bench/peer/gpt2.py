"""GPT-2 (pre-LN, tanh GELU, tied output) in idiomatic PyTorch; with `post` in the size GPT-1, whose norms follow the sums.
Parameter names and layouts are the public checkpoints'."""
import torch
from torch import nn
from torch.nn import functional as F


class Conv1D(nn.Module):
    """Linear with the weight stored [in, out]."""

    def __init__(self, inputs, outputs, std=0.02):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) * std)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        return torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight).view(*x.shape[:-1], -1)


class Attention(nn.Module):
    def __init__(self, size, std):
        super().__init__()
        self.heads, self.rate = size["D"] // size["E"], size["rate"]
        self.c_attn = Conv1D(size["D"], 3 * size["D"])
        self.c_proj = Conv1D(size["D"], size["D"], std)

    def forward(self, x):  # [B, T, D]
        batch, length, width = x.shape
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2) for t in self.c_attn(x).split(width, dim=2))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.rate if self.training else 0.0)
        return F.dropout(self.c_proj(a.transpose(1, 2).reshape(batch, length, width)), self.rate, self.training)


class MLP(nn.Module):
    def __init__(self, size, std):
        super().__init__()
        self.rate = size["rate"]
        self.c_fc = Conv1D(size["D"], size["F"])
        self.c_proj = Conv1D(size["F"], size["D"], std)

    def forward(self, x):
        return F.dropout(self.c_proj(F.gelu(self.c_fc(x), approximate="tanh")), self.rate, self.training)


class Block(nn.Module):
    def __init__(self, size, std):
        super().__init__()
        self.post = size.get("post", False)
        self.ln_1, self.ln_2 = nn.LayerNorm(size["D"]), nn.LayerNorm(size["D"])
        self.attn = Attention(size, std)
        self.mlp = MLP(size, std)

    def forward(self, x):
        if self.post:
            x = self.ln_1(x + self.attn(x))
            return self.ln_2(x + self.mlp(x))
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Transformer(nn.Module):
    def __init__(self, size):
        super().__init__()
        std = 0.02 / (2 * size["N"]) ** 0.5
        self.rate = size["rate"]
        self.names = ("tokens_embed", "positions_embed") if size.get("post") else ("wte", "wpe")
        for name, rows in zip(self.names, (size["V"], size["L"])):
            setattr(self, name, nn.Embedding(rows, size["D"]))
            nn.init.normal_(getattr(self, name).weight, std=0.02)
        self.h = nn.ModuleList(Block(size, std) for _ in range(size["N"]))
        self.ln_f = nn.Identity() if size.get("post") else nn.LayerNorm(size["D"])

    def table(self):
        return getattr(self, self.names[0]).weight

    def forward(self, ids):
        x = F.embedding(ids, self.table()) + getattr(self, self.names[1])(torch.arange(ids.size(1), device=ids.device))
        x = F.dropout(x, self.rate, self.training)
        for block in self.h:
            x = block(x)
        return self.ln_f(x)


class Model(nn.Module):
    decayed = staticmethod(lambda name: not (name.endswith(".bias") or "ln_" in name))

    def __init__(self, size):
        super().__init__()
        self.transformer = Transformer(size)

    def forward(self, ids):
        y = self.transformer(ids)[:, :-1]  # the last place predicts nothing
        logits = F.linear(y, self.transformer.table())
        return {"lm": F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].long().flatten())}


def inputs(size, generator):
    return {"ids": torch.randint(0, min(size["V"], 256), (size["B"], size["T"]), generator=generator, dtype=torch.int32)}


def tokens(size):
    return size["B"] * size["T"]


def flops(size):
    """Multiply-adds of forward and backward, times two; attention counts the visible pairs only."""
    width, length = size["D"], size["T"]
    per_token = size["N"] * (4 * width * width + 2 * width * size["F"])
    pairs = size["N"] * width * (length + 1)  # two products over (length + 1) / 2 visible keys
    head = width * size["V"] * (length - 1) / length
    return 6 * tokens(size) * (per_token + pairs + head)
