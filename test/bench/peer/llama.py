"""Llama-type decoder: rotary positions, grouped queries, SwiGLU, RMS norm. Names are Hugging Face's."""
import torch
from torch import nn
from torch.nn import functional as F


def turned(x, cosines, sines):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cosines - b * sines, a * sines + b * cosines), dim=-1)


class Attention(nn.Module):
    def __init__(self, size):
        super().__init__()
        width, self.head = size["D"], size["E"]
        self.q_proj, self.o_proj = (nn.Linear(width, width, bias=False) for _ in range(2))
        self.k_proj, self.v_proj = (nn.Linear(width, size["K"] * size["E"], bias=False) for _ in range(2))

    def forward(self, x, angles):
        batch, length, width = x.shape
        q, k, v = (p(x).view(batch, length, -1, self.head).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        q, k = turned(q, *angles), turned(k, *angles)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.o_proj(a.transpose(1, 2).reshape(batch, length, width))


class MLP(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gate_proj, self.up_proj = (nn.Linear(size["D"], size["F"], bias=False) for _ in range(2))
        self.down_proj = nn.Linear(size["F"], size["D"], bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.input_layernorm, self.post_attention_layernorm = (nn.RMSNorm(size["D"], eps=1e-5) for _ in range(2))
        self.self_attn = Attention(size)
        self.mlp = MLP(size)

    def forward(self, x, angles):
        x = x + self.self_attn(self.input_layernorm(x), angles)
        return x + self.mlp(self.post_attention_layernorm(x))


class Model(nn.Module):
    decayed, layer = staticmethod(lambda name: "norm" not in name), Layer

    def __init__(self, size):
        super().__init__()
        self.model = nn.ModuleDict({
            "embed_tokens": nn.Embedding(size["V"], size["D"]), "norm": nn.RMSNorm(size["D"], eps=1e-5),
            "layers": nn.ModuleList(self.layer(size) for _ in range(size["N"]))})
        self.lm_head = nn.Linear(size["D"], size["V"], bias=False)
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02)
        rates = 10000 ** (-torch.arange(0, size["E"], 2, dtype=torch.float64) / size["E"])
        angle = torch.arange(size["T"], dtype=torch.float64)[:, None] * rates
        self.angles = angle.cos().float(), angle.sin().float()

    def forward(self, ids, target):
        x = self.model["embed_tokens"](ids)
        for layer in self.model["layers"]:
            x = layer(x, self.angles)
        logits = self.lm_head(self.model["norm"](x))
        return {"lm": F.cross_entropy(logits.flatten(0, 1), target.flatten().long())}


def inputs(size, generator):
    def draw():
        return torch.randint(0, min(size["V"], 256), (size["B"], size["T"]), generator=generator, dtype=torch.int32)
    return {"ids": draw(), "target": draw()}


def tokens(size):
    return size["B"] * size["T"]


def flops(size):
    """Multiply-adds of forward and backward, times two; attention counts the visible pairs."""
    width = size["D"]
    projections = 2 * width * width + 2 * width * size["K"] * size["E"] + 3 * width * size["F"]
    return 6 * tokens(size) * (size["N"] * (projections + width * (size["T"] + 1)) + width * size["V"])
