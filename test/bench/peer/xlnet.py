"""XLNet pre-training (two streams, segments, memory) in idiomatic PyTorch, einsum and rel_shift as the authors' and the public
code."""
import torch
from torch import nn
from torch.nn import functional as F
from transformer_xl import sinusoid


def rel_shift(x, keys):  # [B, H, Q, P], P distances from M + Q down -> entry j of row i has distance M + i - j
    batch, heads, queries, distances = x.shape
    x = x.reshape(batch, heads, distances, queries)[:, :, 1:].reshape(batch, heads, queries, distances - 1)
    return x[..., :keys]


class Relative(nn.Module):
    def __init__(self, size):
        super().__init__()
        width, heads, self.rate = size["D"], size["H"], size["rate"]
        for name in "qkvro":
            setattr(self, name, nn.Parameter(torch.randn(width, heads, width // heads) * 0.02))
        for name in ("r_w_bias", "r_r_bias", "r_s_bias"):
            setattr(self, name, nn.Parameter(torch.randn(heads, width // heads) * 0.02))
        self.seg_embed = nn.Parameter(torch.randn(2, heads, width // heads) * 0.02)
        self.layer_norm = nn.LayerNorm(width, eps=1e-12)

    def project(self, x, weight):
        return F.linear(x, weight.flatten(1).t()).unflatten(-1, weight.shape[1:])

    def attend(self, q, k, v, r, other, sees):
        """q [B, Q, H, E] at every place of the segment; other [B, Q, S]: 1 where the segments differ; sees [B, Q, S]."""
        content = torch.einsum("bihe,bjhe->bhij", q + self.r_w_bias, k)
        position = rel_shift(torch.einsum("bihe,jhe->bhij", q + self.r_r_bias, r), k.size(1))
        segment = torch.einsum("bihe,ghe->bhig", q + self.r_s_bias, self.seg_embed)
        segment = torch.where(other[:, None], segment[..., 1:], segment[..., :1])
        scores = (content + position + segment) * q.size(-1) ** -0.5
        scores = scores.masked_fill(~sees[:, None], torch.finfo(scores.dtype).min)
        weights = F.dropout(torch.softmax(scores, dim=-1) * sees.any(-1)[:, None, :, None], self.rate, self.training)
        return torch.einsum("bhij,bjhe->bihe", weights, v)

    def finish(self, x, a):
        out = F.linear(a.flatten(2), self.o.flatten(1))
        return self.layer_norm(x + F.dropout(out, self.rate, self.training))


class Layer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.rate = size["rate"]
        self.rel_attn = Relative(size)
        self.ff = nn.ModuleDict({"layer_1": nn.Linear(size["D"], size["F"]), "layer_2": nn.Linear(size["F"], size["D"]),
                                 "layer_norm": nn.LayerNorm(size["D"], eps=1e-12)})

    def feed(self, x):
        inner = F.dropout(F.gelu(self.ff["layer_1"](x)), self.rate, self.training)
        return self.ff["layer_norm"](x + F.dropout(self.ff["layer_2"](inner), self.rate, self.training))

    def forward(self, h, g, memory, distances, place, other, sees_h, sees_g):
        part = self.rel_attn
        c = torch.cat([memory, h], dim=1)
        k, v, r = part.project(c, part.k), part.project(c, part.v), part.project(distances, part.r)
        a = part.attend(part.project(h, part.q), k, v, r, other, sees_h)
        # The query stream: its vectors are put at their places, attend there, and are read back.
        q = torch.einsum("bkhe,bkt->bthe", part.project(g, part.q), place)
        b = torch.einsum("bthe,bkt->bkhe", part.attend(q, k, v, r, other, sees_g), place)
        return self.feed(part.finish(h, a)), self.feed(part.finish(g, b))


class Model(nn.Module):
    decayed = staticmethod(lambda name: not (name.endswith(".bias") or "layer_norm" in name))

    def __init__(self, size):
        super().__init__()
        width, self.rate, self.size = size["D"], size["rate"], size
        self.transformer = nn.ModuleDict({"word_embedding": nn.Embedding(size["V"], width),
                                          "layer": nn.ModuleList(Layer(size) for _ in range(size["N"]))})
        self.transformer.register_parameter("mask_emb", nn.Parameter(torch.randn(1, 1, width) * 0.02))
        self.lm_loss = nn.Module()
        self.lm_loss.bias = nn.Parameter(torch.zeros(size["V"]))
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=0.02)
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)
        self.memory = [torch.zeros(size["B"], size["M"], width) for _ in range(size["N"])]
        self.filled = 0
        self.distances = sinusoid(torch.arange(size["M"] + size["T"], -size["T"], -1), width)

    def forward(self, ids, seg, rank, at, word, weight):
        size = self.size
        batch, length, memory = size["B"], size["T"], size["M"]
        h = F.dropout(self.transformer["word_embedding"](ids), self.rate, self.training)
        g = F.dropout(self.transformer.mask_emb.expand(batch, at.size(1), -1), self.rate, self.training)
        distances = F.dropout(self.distances, self.rate, self.training)
        place = F.one_hot(at.long(), length).float()
        given = torch.where(torch.arange(memory) >= memory - self.filled, -1, length + 1).expand(batch, -1)
        key_rank = torch.cat([given, rank], dim=1)[:, None, :]
        sees_h, sees_g = key_rank <= rank[:, :, None], key_rank < rank[:, :, None]
        key_seg = torch.cat([torch.zeros(batch, memory, dtype=seg.dtype), seg], dim=1)
        other = seg[:, :, None] != key_seg[:, None, :]
        kept = []
        for layer, old in zip(self.transformer["layer"], self.memory):
            kept.append(torch.cat([old, h[:, :size["R"]]], dim=1)[:, -memory:].detach() if memory else old)
            h, g = layer(h, g, old, distances, place, other, sees_h, sees_g)
        self.kept = kept
        g = F.dropout(g, self.rate, self.training)
        logits = F.linear(g, self.transformer["word_embedding"].weight, self.lm_loss.bias)
        losses = F.cross_entropy(logits.flatten(0, 1), word.long().flatten(), reduction="none") * weight.flatten()
        return {"plm": losses.sum() / weight.sum().clamp(min=1)}

    def after_step(self):
        self.memory = self.kept
        self.filled = min(self.filled + self.size["R"], self.size["M"])


def inputs(size, generator):
    batch, length, chosen = size["B"], size["T"], size["K"]

    def draw(high, *shape):
        return torch.randint(0, high, shape, generator=generator, dtype=torch.int32)

    rank = torch.full((batch, length), -1, dtype=torch.int32)
    at = torch.zeros(batch, chosen, dtype=torch.int32)
    for row in range(batch):
        order = torch.randperm(length, generator=generator)[:chosen]
        rank[row, order] = torch.arange(chosen, dtype=torch.int32)
        at[row] = order.sort().values.int()
    return {"ids": draw(256, batch, length), "seg": draw(2, batch, length), "rank": rank, "at": at,
            "word": draw(256, batch, chosen), "weight": torch.ones(batch, chosen)}


def unread(size):
    """Parameters of the specification that this loss does not read: the classifier's."""
    width, classes = size["D"], 2
    return {"sequence_summary.summary.weight": torch.zeros(width, width), "sequence_summary.summary.bias": torch.zeros(width),
            "logits_proj.weight": torch.zeros(classes, width), "logits_proj.bias": torch.zeros(classes)}


def tokens(size):
    return size["B"] * size["T"]


def flops(size):
    """Multiply-adds of forward and backward, times two. The query stream counts its K rows; the content stream of the last layer
    is not needed for the loss beyond its keys and values, but both sides compute it here."""
    width, length, keys, batch = size["D"], size["T"], size["T"] + size["M"], size["B"]
    rows = batch * (length + size["K"])
    dense = rows * (2 * width * width + 2 * width * size["F"]) + 2 * batch * keys * width * width
    attention = 3 * rows * keys * width
    distances = (2 * length + size["M"]) * width * width
    return 6 * (size["N"] * (dense + attention) + batch * size["K"] * width * size["V"]) + 4 * size["N"] * distances
