"""ELECTRA: a generator fills masked places by draws of its softmax, a discriminator judges every place. Public names; tables and
their norm belong to both sides."""
import torch
from torch import nn
from torch.nn import functional as F

from encoders import Embeddings, chosen, decayed, layer_products, layers, named, seen, start, tokens, weighed  # noqa: F401

CERTAIN = 30.0  # the bias of one symbol at the beginning: every draw is that symbol on all sides, so that losses can be compared


class Side(nn.Module):
    def __init__(self, size, width, depth):
        super().__init__()
        if size["X"] != width:
            self.embeddings_project = nn.Linear(size["X"], width)
        self.project = size["X"] != width
        self.encoder = layers(depth, width, 64, 4 * width, size["rate"])

    def forward(self, x, visible):
        x = self.embeddings_project(x) if self.project else x
        for layer in self.encoder["layer"]:
            x = layer(x, visible)
        return x


class Model(nn.Module):
    decayed, weights = staticmethod(decayed), {"rtd": 50}

    def __init__(self, size):
        super().__init__()
        narrow, width = size["Q"], size["D"]
        self.electra, self.generator = Side(size, width, size["N"]), Side(size, narrow, size["NG"])
        self.electra.embeddings = Embeddings(size["V"], size["L"], 2, size["X"], size["rate"])
        self.generator_head = named(dense=nn.Linear(narrow, size["X"]), norm=nn.LayerNorm(size["X"], eps=1e-12))
        self.discriminator_predictions = named(dense=nn.Linear(width, width), dense_prediction=nn.Linear(width, 1))
        start(self)
        bias = torch.zeros(size["V"])
        bias[7] = CERTAIN
        self.generator_head.register_parameter("bias", nn.Parameter(bias))

    def forward(self, ids, masked, seg, len, at, weight):
        embeddings, visible, head = self.electra.embeddings, seen(ids.size(1), len), self.generator_head
        h = chosen(self.generator(embeddings(masked, seg), visible), at)
        filled = F.linear(head["norm"](F.gelu(head["dense"](h))), embeddings.word_embeddings.weight, head.bias)
        at, word = at.long(), ids.gather(1, at.long())
        draws = torch.multinomial(filled.detach().float().softmax(-1).flatten(0, 1), 1).view_as(word).int()
        fake = ids.scatter(1, at, torch.where(weight > 0, draws, word))
        parts = self.discriminator_predictions
        h = self.electra(embeddings(fake, seg), visible)
        verdict = parts["dense_prediction"](F.gelu(parts["dense"](h)))[..., 0]
        there = visible[:, 0, 0].to(weight.dtype)
        rtd = F.binary_cross_entropy_with_logits(verdict, (fake != ids).to(verdict.dtype), reduction="none") * there
        return {"mlm": weighed(filled, word, weight, 1e-6), "rtd": rtd.sum() / (there.sum() + 1e-6)}


def inputs(size, generator):
    batch, length, count = size["B"], size["T"], size["K"]

    def draw(high, *shape):
        return torch.randint(0, high, shape, generator=generator, dtype=torch.int32)

    at = torch.stack([torch.randperm(length, generator=generator)[:count].sort().values for _ in range(batch)])
    return {"ids": draw(256, batch, length), "masked": draw(256, batch, length), "seg": draw(2, batch, length),
            "len": torch.full((batch,), length, dtype=torch.int32), "at": at.int(), "weight": torch.ones(batch, count)}


def flops(size):
    """Multiply-adds of forward and backward, times two."""
    places, words, width, narrow = tokens(size), size["B"] * size["K"], size["D"], size["Q"]
    sides = sum(depth * layer_products(wide, size["T"]) + (size["X"] * wide if wide != size["X"] else 0)
                for wide, depth in ((width, size["N"]), (narrow, size["NG"])))
    return 6 * (places * (sides + width * width + width) + words * (narrow * size["X"] + size["X"] * size["V"]))
