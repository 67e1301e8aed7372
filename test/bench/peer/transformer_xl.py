"""Transformer-XL (plain softmax, tied or untied biases) in idiomatic PyTorch: rel_shift on the whole score matrix, as the
authors' code.

scaled_dot_product_attention takes the position scores only as a mask of full size and then has no fused backward for it on the
CPU, so the plain form is the better one."""
import torch
from torch import nn
from torch.nn import functional as F


def sinusoid(distances, width):
    rates = 10000 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = distances.double()[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], dim=1).float()


def rel_shift(x):  # [B, H, T, P], P keys from the farthest to the nearest -> entry j of row i has distance M + i - j
    batch, heads, queries, keys = x.shape
    x = F.pad(x, (1, 0)).view(batch, heads, keys + 1, queries)
    return x[:, :, 1:].view(batch, heads, queries, keys)


def relative_attention(q, k, v, r, u, w, hidden, rate=0.0):
    """q [B, T, H, E], k and v [B, S, H, E], r [S, H, E] from the farthest distance down, u and w [H, E]; hidden [T, S]."""
    content = torch.matmul((q + u).transpose(1, 2), k.permute(0, 2, 3, 1))
    position = rel_shift(torch.matmul((q + w).transpose(1, 2), r.permute(1, 2, 0)))
    scores = (content + position) * q.size(-1) ** -0.5
    weights = F.dropout(torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1), rate, rate > 0)
    return torch.matmul(weights, v.transpose(1, 2)).transpose(1, 2)


class Layer(nn.Module):
    def __init__(self, size):
        super().__init__()
        width, self.heads, self.rate = size["D"], size["H"], size["rate"]
        self.dec_attn = nn.ModuleDict({
            "qkv_net": nn.Linear(width, 3 * width, bias=False), "r_net": nn.Linear(width, width, bias=False),
            "o_net": nn.Linear(width, width, bias=False), "layer_norm": nn.LayerNorm(width)})
        inner = nn.ModuleList([nn.Linear(width, size["F"]), nn.ReLU(), nn.Dropout(self.rate), nn.Linear(size["F"], width)])
        self.pos_ff = nn.ModuleDict({"CoreNet": inner, "layer_norm": nn.LayerNorm(width)})

    def forward(self, x, memory, distances, u, v, hidden):
        batch, length, width = x.shape
        parts = self.dec_attn
        q, k, value = parts["qkv_net"](torch.cat([memory, x], dim=1)).view(batch, -1, 3, self.heads,
                                                                           width // self.heads).unbind(2)
        r = parts["r_net"](distances).view(-1, self.heads, width // self.heads)
        a = relative_attention(q[:, -length:], k, value, r, u, v, hidden)
        a = parts["o_net"](a.reshape(batch, length, width))
        h = parts["layer_norm"](x + F.dropout(a, self.rate, self.training))
        first, act, drop, second = self.pos_ff["CoreNet"]
        f = F.dropout(second(drop(act(first(h)))), self.rate, self.training)
        return self.pos_ff["layer_norm"](h + f)


class Model(nn.Module):
    decayed = staticmethod(lambda name: False)

    def __init__(self, size):
        super().__init__()
        width, self.heads, self.rate = size["D"], size["H"], size["rate"]
        self.transformer = nn.ModuleDict({
            "word_emb": nn.ModuleDict({"emb_layers": nn.ModuleList([nn.Embedding(size["V"], width)])}),
            "layers": nn.ModuleList(Layer(size) for _ in range(size["N"]))})
        for name in ("r_w_bias", "r_r_bias"):
            self.transformer.register_parameter(name, nn.Parameter(torch.randn(size["H"], width // size["H"]) * 0.02))
        self.crit = nn.ModuleDict({"out_layers": nn.ModuleList([nn.Module()])})
        self.crit["out_layers"][0].bias = nn.Parameter(torch.zeros(size["V"]))
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02)
            elif name.endswith("bias") and parameter.dim() == 1:
                nn.init.zeros_(parameter)
        self.memory = [torch.zeros(size["B"], size["M"], width) for _ in range(size["N"])]
        keys = size["M"] + size["T"]
        self.distances = sinusoid(torch.arange(keys - 1, -1, -1), width)
        self.hidden = torch.ones(size["T"], keys, dtype=torch.bool).triu(1 + size["M"])

    def forward(self, ids, target):
        table = self.transformer["word_emb"]["emb_layers"][0].weight
        x = F.dropout(F.embedding(ids, table) * table.size(1) ** 0.5, self.rate, self.training)
        distances = F.dropout(self.distances, self.rate, self.training)
        kept = []
        for layer, memory in zip(self.transformer["layers"], self.memory):
            kept.append(torch.cat([memory, x], dim=1)[:, x.size(1):].detach() if memory.size(1) else memory)
            x = layer(x, memory, distances, self.transformer.r_w_bias, self.transformer.r_r_bias, self.hidden)
        self.kept = kept
        x = F.dropout(x, self.rate, self.training)
        logits = F.linear(x, table, self.crit["out_layers"][0].bias)
        return {"nll": F.cross_entropy(logits.flatten(0, 1), target.long().flatten())}

    def after_step(self):
        self.memory = self.kept


def inputs(size, generator):
    def draw():
        return torch.randint(0, min(size["V"], 256), (size["B"], size["T"]), generator=generator, dtype=torch.int32)
    return {"ids": draw(), "target": draw()}


def tokens(size):
    return size["B"] * size["T"]


def flops(size):
    """Multiply-adds of forward and backward, times two; attention counts the visible pairs only. The distances' projection once
    per layer; memory needs no gradient to what it came from, but the weights of its keys and values do."""
    width, length, memory = size["D"], size["T"], size["M"]
    keys = memory + length
    rows = size["B"] * length
    per_layer = rows * (2 * width * width + 2 * width * size["F"]) * 3
    per_layer += 2 * width * width * (rows * 3 + size["B"] * memory * 2)  # keys and values: no gradient into the memory
    per_layer += keys * width * width * 2                                  # r: none into the table
    per_layer += 3 * 3 * rows * (memory + (length + 1) / 2) * width        # two score terms, values
    return 2 * (size["N"] * per_layer + 3 * rows * width * size["V"])
