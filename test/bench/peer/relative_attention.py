"""Relative attention alone: content and position scores, causal mask over memory and segment, softmax, values."""
import torch
from torch import nn
from transformer_xl import relative_attention


class Model(nn.Module):
    decayed = staticmethod(lambda name: False)

    def __init__(self, size):
        super().__init__()
        batch, heads, head, queries = size["B"], size["H"], size["E"], size["T"]
        keys = size["M"] + queries
        shapes = {"q": (batch, queries, heads, head), "k": (batch, keys, heads, head), "v": (batch, keys, heads, head),
                  "r": (keys, heads, head), "u": (heads, head), "w": (heads, head)}
        for name, shape in shapes.items():
            setattr(self, name, nn.Parameter(torch.randn(shape)))
        self.hidden = torch.ones(queries, keys, dtype=torch.bool).triu(1 + size["M"])

    def forward(self, ids):
        # r is stored by distance; the shift wants the farthest first.
        a = relative_attention(self.q, self.k, self.v, self.r.flip(0), self.u, self.w, self.hidden)
        return {"energy": (a * a).mean() * (1 + ids.float().mean())}


def inputs(size, generator):
    return {"ids": torch.randint(0, 256, (1, 2), generator=generator, dtype=torch.int32)}


def tokens(size):
    return size["B"] * size["T"]


def flops(size):
    """Three products forward, six backward, over the query-key pairs that are visible."""
    visible = size["T"] * size["M"] + size["T"] * (size["T"] + 1) // 2
    return 2 * 9 * size["B"] * visible * size["H"] * size["E"]
