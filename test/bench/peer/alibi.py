"""MPT: a decoder whose scores fall with the distance (ALiBi), without biases and position tables. Names are Hugging Face's."""
import torch
from torch import nn
from torch.nn import functional as F

from llama import inputs, tokens  # noqa: F401


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.Wqkv, self.out_proj = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)

    def forward(self, x, bias):
        batch, length, width = x.shape
        q, k, v = self.Wqkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.to(q.dtype))
        return self.out_proj(a.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(width, bias=False), nn.LayerNorm(width, bias=False)
        self.attn = Attention(width, heads)
        self.ffn = nn.ModuleDict({"up_proj": nn.Linear(width, 4 * width, bias=False),
                                  "down_proj": nn.Linear(4 * width, width, bias=False)})

    def forward(self, x, bias):
        x = x + self.attn(self.norm_1(x), bias)
        return x + self.ffn["down_proj"](F.gelu(self.ffn["up_proj"](self.norm_2(x))))


class Model(nn.Module):
    decayed = staticmethod(lambda name: "norm" not in name)

    def __init__(self, size):
        super().__init__()
        width, heads, length = size["D"], size["H"], size["T"]
        self.transformer = nn.ModuleDict({
            "wte": nn.Embedding(size["V"], width), "norm_f": nn.LayerNorm(width, bias=False),
            "blocks": nn.ModuleList(Block(width, heads) for _ in range(size["N"]))})
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02)
        slope = 2 ** (-8 / heads * torch.arange(1, heads + 1))
        far = torch.arange(length) - torch.arange(length)[:, None]
        self.bias = (slope[:, None, None] * far).masked_fill(far > 0, float("-inf"))[None]

    def forward(self, ids, target):
        x = self.transformer["wte"](ids)
        for block in self.transformer["blocks"]:
            x = block(x, self.bias)
        logits = F.linear(self.transformer["norm_f"](x), self.transformer["wte"].weight)
        return {"lm": F.cross_entropy(logits.flatten(0, 1), target.flatten().long())}


def flops(size):
    """Multiply-adds of forward and backward, times two; attention counts the visible pairs."""
    width = size["D"]
    return 6 * tokens(size) * (size["N"] * (12 * width * width + width * (size["T"] + 1)) + width * size["V"])
