"""MT-DNN on pairs of texts: BERT's encoder and the stochastic answer network, whose turns are all kept without dropout."""
import torch
from torch import nn

from encoders import Encoder, decayed, layer_products, named, seen, start, tokens  # noqa: F401


class Pooled(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.dense, self.proj = nn.Linear(width, width), nn.Linear(width, classes)


class Answer(nn.Module):
    """Turns over the premise from a summary of the hypothesis; their probabilities are averaged."""

    def __init__(self, width, classes, turns):
        super().__init__()
        self.turns = turns
        self.query_wsum = named(att=named(linear=nn.Linear(width, 1)))
        self.attn = named(score_func=named(linear=nn.Linear(width, width)))
        self.rnn = nn.GRUCell(width, width)
        self.classifier = named(proj=nn.Linear(4 * width, classes))

    def forward(self, h, premise, hypothesis):
        def summed(scores, there):
            p = scores.masked_fill(~there, float("-inf")).softmax(1)
            return torch.bmm(p[:, None], h)[:, 0]
        state, turns = summed(self.query_wsum["att"]["linear"](h)[..., 0], hypothesis), []
        for _ in range(self.turns):
            x = summed(torch.bmm(h, self.attn["score_func"]["linear"](state)[..., None])[..., 0], premise)
            turns.append(self.classifier["proj"](torch.cat((x, state, (x - state).abs(), x * state), 1)).softmax(1))
            state = self.rnn(x, state)
        return torch.stack(turns).mean(0).log()


class Model(nn.Module):
    decayed = staticmethod(decayed)

    def __init__(self, size):
        super().__init__()
        self.bert = Encoder(size, "bert", pooler=False)
        heads = [Pooled(size["D"], 2), Pooled(size["D"], 1), Answer(size["D"], 3, 5), Pooled(size["D"], 1)]
        self.scoring_list = nn.ModuleList(heads)  # single texts, similarity, pairs, ranking: a step trains one of them
        start(self)

    def forward(self, ids, seg, len, entail):
        visible = seen(ids.size(1), len)
        there, h = visible[:, 0, 0], self.bert(ids, seg, visible)
        logits = self.scoring_list[2](h, there & (seg == 0), there & (seg == 1))
        return {"pair": nn.functional.cross_entropy(logits, entail.long())}


def inputs(size, generator):
    batch, length = size["B"], size["T"]

    def draw(high, *shape):
        return torch.randint(0, high, shape, generator=generator, dtype=torch.int32)
    seg = (torch.arange(length) >= length // 2).int().repeat(batch, 1)
    return {"ids": draw(256, batch, length), "seg": seg, "len": torch.full((batch,), length, dtype=torch.int32),
            "entail": draw(3, batch)}


def flops(size):
    """Multiply-adds of forward and backward, times two; of the answers the linear layers and the gates."""
    width = size["D"]
    answer = 5 * (width * width + 6 * width * width + 2 * width * size["T"] + 12 * width)
    return 6 * (tokens(size) * size["N"] * layer_products(width, size["T"]) + size["B"] * answer)
