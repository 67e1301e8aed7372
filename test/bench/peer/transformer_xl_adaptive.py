"""Transformer-XL with adaptive embedding and softmax, after the authors' code: the rows of each cluster by index. Faster than
theirs: logits of the head and of the clusters' columns are joined, where they copy the table beside the clusters' vectors, and
losses come from logits, where they gather rows of all log probabilities. Columns of the clusters as in their TensorFlow code and
Hugging Face. The next memory is made, but one batch is an epoch, with which memories begin anew."""
import torch
from torch import nn
from torch.nn import functional as F

import transformer_xl
from transformer_xl import Layer, sinusoid, tokens  # noqa: F401


def bounds(size):
    """First symbol and end of the head and of each cluster; its width."""
    ends = [size["V0"], size["V1"], size["V2"], size["V3"]][:size["Q"] + 1]
    starts = [sum(ends[:k]) for k in range(len(ends) + 1)]
    return [(low, high, size["D"] // size["shrink"] ** k) for k, (low, high) in enumerate(zip(starts, starts[1:]))]


def within(symbols, low, high):
    return ((symbols >= low) & (symbols < high)).nonzero().flatten()


class Model(nn.Module):
    decayed = staticmethod(lambda name: False)

    def __init__(self, size):
        super().__init__()
        width, self.rate, self.clusters = size["D"], size["rate"], bounds(size)
        self.transformer = nn.ModuleDict({
            "word_emb": nn.ModuleDict({
                "emb_layers": nn.ModuleList(nn.Embedding(high - low, own) for low, high, own in self.clusters),
                "emb_projs": nn.ParameterList(torch.empty(width, own) for *_, own in self.clusters)}),
            "layers": nn.ModuleList(Layer(size) for _ in range(size["N"]))})
        for layer in self.transformer["layers"]:
            for name in ("r_w_bias", "r_r_bias"):
                layer.dec_attn.register_parameter(name, nn.Parameter(torch.empty(size["H"], width // size["H"])))
        self.crit = nn.ModuleDict({"out_layers": nn.ModuleList(nn.Module() for _ in self.clusters),
                                   "out_projs": nn.ParameterList([torch.empty(width, width)])})
        for part, (low, high, _) in zip(self.crit["out_layers"], self.clusters):
            part.bias = nn.Parameter(torch.zeros(high - low))
        self.crit.register_parameter("cluster_weight", nn.Parameter(torch.empty(size["Q"], width)))
        self.crit.register_parameter("cluster_bias", nn.Parameter(torch.zeros(size["Q"])))
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.01 if "_projs" in name else 0.02)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)
        self.memory = [torch.zeros(size["B"], size["M"], width) for _ in range(size["N"])]
        keys = size["M"] + size["T"]
        self.distances = sinusoid(torch.arange(keys - 1, -1, -1), width)
        self.hidden = torch.ones(size["T"], keys, dtype=torch.bool).triu(1 + size["M"])

    def embedded(self, ids):
        word, flat = self.transformer["word_emb"], ids.flatten()
        x = self.distances.new_zeros(flat.size(0), self.distances.size(1))
        for table, proj, (low, high, _) in zip(word["emb_layers"], word["emb_projs"], self.clusters):
            places = within(flat, low, high)
            x = x.index_copy(0, places, F.linear(table(flat[places] - low), proj).to(x.dtype))
        return x.view(*ids.shape, -1) * x.size(1) ** 0.5

    def nll(self, h, target):
        word, crit = self.transformer["word_emb"], self.crit
        width, start = self.clusters[0][1], F.linear(h, crit["out_projs"][0].t())
        head = torch.cat([F.linear(start, word["emb_layers"][0].weight, crit["out_layers"][0].bias),
                          F.linear(start, crit.cluster_weight, crit.cluster_bias)], 1)
        column = target.clamp(max=width) + sum((target >= low).long() for low, *_ in self.clusters[2:])
        loss = F.cross_entropy(head, column, reduction="sum")
        for k, (low, high, _) in enumerate(self.clusters[1:], 1):
            places = within(target, low, high)
            near = F.linear(h[places], word["emb_projs"][k].t())
            logits = F.linear(near, word["emb_layers"][k].weight, crit["out_layers"][k].bias)
            loss = loss + F.cross_entropy(logits, target[places] - low, reduction="sum")
        return loss / target.size(0)

    def forward(self, ids, target):
        x = F.dropout(self.embedded(ids), self.rate, self.training)
        distances, kept = F.dropout(self.distances, self.rate, self.training), []
        for layer, memory in zip(self.transformer["layers"], self.memory):
            kept.append(torch.cat([memory, x], dim=1)[:, x.size(1):].detach())
            x = layer(x, memory, distances, layer.dec_attn.r_w_bias, layer.dec_attn.r_r_bias, self.hidden)
        self.kept = kept
        x = F.dropout(x, self.rate, self.training)
        return {"nll": self.nll(x.flatten(0, 1), target.flatten().long())}


def inputs(size, generator):
    """Symbols by Zipf's law: the vocabulary is sorted by frequency, and how many fall into a cluster decides what it costs."""
    chance = 1 / torch.arange(1, bounds(size)[-1][1] + 1, dtype=torch.float64)

    def draw():
        found = torch.multinomial(chance, size["B"] * size["T"], replacement=True, generator=generator)
        return found.view(size["B"], size["T"]).int()
    return {"ids": draw(), "target": draw()}


def flops(size):
    """The layers as in transformer_xl.py; tables of the places that their clusters have."""
    batch = inputs(size, torch.Generator().manual_seed(1))
    products = 0
    for k, (low, high, own) in enumerate(bounds(size)):
        read, written = (len(within(batch[name].flatten(), low, high)) for name in ("ids", "target"))
        rows, columns = (tokens(size), high + size["Q"]) if k == 0 else (written, high - low)
        products += read * size["D"] * own + rows * own * (size["D"] + columns)
    return transformer_xl.flops(size | {"V": 0}) + 6 * products
