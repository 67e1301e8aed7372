"""Star-Transformer classifying texts: satellites in an open ring, and a relay."""
import torch
from torch import nn
from torch.nn import functional as F


class Projections(nn.Module):
    def __init__(self, size):
        super().__init__()
        width = size["H"] * size["E"]
        self.WQ, self.WK, self.WV = (nn.Linear(size["D"], width) for _ in range(3))
        self.WO = nn.Linear(width, size["D"])
        self.heads = size["H"]

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1))


class Ring(Projections):
    """Five keys for each place: too few for a product of matrices, so sums over elementwise products."""

    def forward(self, z, e, s):
        def context(project):
            near = F.pad(self.split(project(z)), (0, 0, 0, 0, 1, 1))
            length, relay = z.size(1), self.split(project(s))[:, None].expand(-1, z.size(1), -1, -1)
            return torch.stack((near[:, :length], near[:, 1:-1], near[:, 2:], self.split(project(e)), relay), 2)
        q = self.split(self.WQ(z)) * (self.WQ.out_features // self.heads) ** -0.5
        weight = (q[:, :, None] * context(self.WK)).sum(-1).softmax(2)
        return F.leaky_relu(self.WO((weight[..., None] * context(self.WV)).sum(2).flatten(2)))


class Star(Projections):
    def forward(self, s, h, seen):
        c = torch.cat((s[:, None], h), 1)
        q, k, v = (self.split(p).transpose(1, 2) for p in (self.WQ(s)[:, None], self.WK(c), self.WV(c)))
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
        return F.leaky_relu(self.WO(a.transpose(1, 2).flatten(1)))


class Model(nn.Module):
    decayed = staticmethod(lambda name: False)

    def __init__(self, size):
        super().__init__()
        width, self.rate = size["D"], size["rate"]

        def head(classes):
            return nn.ModuleDict({"fc1": nn.Linear(width, size["F"]), "fc2": nn.Linear(size["F"], classes)})
        self.word = nn.Parameter(torch.randn(size["V"], size["X"]))
        self.emb_fc, self.pos_emb = nn.Linear(size["X"], width), nn.Embedding(size["L"], width)
        self.norm = nn.ModuleList(nn.LayerNorm(width, eps=1e-6) for _ in range(size["N"]))
        self.ring_att = nn.ModuleList(Ring(size) for _ in range(size["N"]))
        self.star_att = nn.ModuleList(Star(size) for _ in range(size["N"]))
        self.classify, self.tagger = head(size["C"]), head(size["R"])  # the row trains the classes alone

    def forward(self, ids, len, label):
        there = torch.arange(ids.size(1)) < len[:, None]
        seen = F.pad(there, (1, 0), value=True)[:, None, None]
        nodes = self.emb_fc(F.dropout(F.embedding(ids, self.word), self.rate, self.training))
        e = F.dropout(nodes + self.pos_emb.weight[:ids.size(1)], self.rate, self.training)
        h, s = e, e.mean(1)
        for norm, ring, star in zip(self.norm, self.ring_att, self.star_att):
            h = ring(norm(h), e, s)
            s = star(s, h, seen)
            h = h * there[..., None]
        x = F.leaky_relu(self.classify["fc1"](0.5 * (s + h.amax(1))))
        logits = self.classify["fc2"](F.dropout(x, self.rate, self.training))
        return {"ce": F.cross_entropy(logits, label.long())}


def inputs(size, generator):
    def draw(high, *shape):
        return torch.randint(0, high, shape, generator=generator, dtype=torch.int32)
    return {"ids": draw(size["V"], size["B"], size["T"]), "len": torch.full((size["B"],), size["T"], dtype=torch.int32),
            "label": draw(size["C"], size["B"])}


def tokens(size):
    return size["B"] * size["T"]


def flops(size):
    """Multiply-adds of forward and backward, times two. Per layer and place: query, key, value and output of the ring, key
    and value of the embedding and of the star, five keys of the ring and one of the star."""
    width, inner = size["D"], size["H"] * size["E"]
    per_token = size["N"] * (8 * width * inner + 2 * (5 + 1) * inner) + size["X"] * width
    per_text = size["N"] * (6 * width * inner) + size["F"] * (width + size["C"])
    return 6 * (tokens(size) * per_token + size["B"] * per_text)
