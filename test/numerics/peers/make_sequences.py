"""Recurrent networks and the encoder-decoder Transformer, of layers of torch.nn; Star-Transformer."""
import math

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def both_ways(kind, classes, **more):
    """Of two layers in both directions; the names of its parameters are those of torch.nn."""
    class Network(kind):
        def __init__(self, at):
            super().__init__(at["X"], at["C"], num_layers=at["N"], bidirectional=True, batch_first=True, **more)
            self.emb = nn.Parameter(torch.zeros(at["V"], at["X"]))
            self.head = nn.Linear(2 * at["C"], classes)

        def encoded(self, given):
            packed = pack_padded_sequence(self.emb[given["ids"]], given["len"], batch_first=True, enforce_sorted=False)
            y, state = super().forward(packed)
            parts = state if isinstance(state, tuple) else (state,)
            return (pad_packed_sequence(y, batch_first=True)[0], *[torch.cat((part[-2], part[-1]), 1) for part in parts])
    return Network


def sizes(case):
    return {**case.dims, **case.configs}


def tagger(kind, names, **more):
    def build(case):
        def compute(module, given, _):
            found = module.encoded(given)
            logits = module.head(found[0])
            w = (torch.arange(given["ids"].shape[1]) < given["len"][:, None]).double()
            each = F.cross_entropy(logits.flatten(0, 1), given["tag"].flatten(), reduction="none")
            return (each * w.flatten()).sum() / w.sum(), dict(zip(names, found)) | {"logits": logits}, None
        return both_ways(kind, 17, **more)(sizes(case)), compute
    return build


def classifier(case):
    plain = case.configs.get("Cell") != "ResetBefore"

    def compute(module, given, _):
        y, last = module.encoded(given)
        logits = module.head(last)
        return F.cross_entropy(logits, given["label"]), {"y": y, "last": last, "logits": logits}, None
    return (both_ways(nn.GRU, 5) if plain else ResetBefore)(sizes(case)), compute


class ResetBefore(nn.Module):
    """Cho et al. 2014, as TensorFlow's GRUCell and Keras (`reset_after=False`) have it: the state is reset before its product.
    Rows of r, z, n; one vector of biases. Two layers in both directions, under torch.nn's names."""

    def __init__(self, at):
        super().__init__()
        self.layers, self.width = at["N"], at["C"]
        self.emb, self.head = nn.Parameter(torch.zeros(at["V"], at["X"])), nn.Linear(2 * at["C"], 5)
        for layer in range(at["N"]):
            for side in ("", "_reverse"):
                for name, shape in (("weight_ih", (3 * at["C"], 2 * at["C"] if layer else at["X"])),
                                    ("weight_hh", (3 * at["C"], at["C"])), ("bias", (3 * at["C"],))):
                    self.register_parameter(f"{name}_l{layer}{side}", nn.Parameter(torch.zeros(shape)))

    def cell(self, x, h, place):
        of_x, of_h, bias = (getattr(self, f"{name}_{place}").chunk(3) for name in ("weight_ih", "weight_hh", "bias"))
        r, z = (torch.sigmoid(x @ of_x[k].T + h @ of_h[k].T + bias[k]) for k in range(2))
        n = torch.tanh(x @ of_x[2].T + (r * h) @ of_h[2].T + bias[2])
        return (1 - z) * n + z * h

    def row(self, x, place):
        """Of one text, [T, I]: its states and the last one."""
        h, states = torch.zeros(self.width), []
        for at in x:
            h = self.cell(at, h, place)
            states.append(h)
        return torch.stack(states), h

    def encoded(self, given):
        rows, ends = [], []
        for ids, length in zip(given["ids"], given["len"].tolist()):
            x = self.emb[ids[:length]]
            for layer in range(self.layers):
                forth, end = self.row(x, f"l{layer}")
                back, begin = self.row(x.flip(0), f"l{layer}_reverse")
                x = torch.cat((forth, back.flip(0)), 1)
            rows.append(F.pad(x, (0, 0, 0, given["ids"].shape[1] - length)))
            ends.append(torch.cat((end, begin)))
        return torch.stack(rows), torch.stack(ends)


def language_model(kind):
    """`emb`, the recurrent layers under the name of their kind, `head`; states go on from step to step."""
    def make(case):
        at, name = sizes(case), kind.__name__.lower()
        made = nn.ModuleDict({"emb": nn.Embedding(at["V"], at["C"]), name: kind(at["C"], at["C"], at["N"], batch_first=True),
                              "head": nn.Linear(at["C"], at["V"])})

        def compute(module, given, kept):
            y, state = module[name](module["emb"](given["ids"]), kept)
            logits = module["head"](y)
            left = tuple(part.detach() for part in state) if kind is nn.LSTM else state.detach()
            return F.cross_entropy(logits.flatten(0, 1), given["target"].flatten()), {"logits": logits}, left
        return made, compute
    return make


def waves(length, width):
    """Sines and cosines in turn (Vaswani et al. 2017, section 3.5)."""
    angle = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, width, 2) / width)
    return torch.stack((angle.sin(), angle.cos()), 2).flatten(1)


def transformer(case):
    at = sizes(case)
    form = {"d_model": at["D"], "nhead": at["H"], "dim_feedforward": at["F"], "dropout": 0, "layer_norm_eps": 1e-6,
            "batch_first": True}
    made = nn.Module()
    made.emb = nn.Parameter(torch.zeros(at["V"], at["D"]))
    made.encoder = nn.ModuleList(nn.TransformerEncoderLayer(**form) for _ in range(at["N"]))
    made.decoder = nn.ModuleList(nn.TransformerDecoderLayer(**form) for _ in range(at["N"]))

    def embedded(module, ids):
        return module.emb[ids] * math.sqrt(at["D"]) + waves(ids.shape[1], at["D"])

    def compute(module, given, _):
        x, y = embedded(module, given["src"]), embedded(module, given["tgt"])
        unseen = torch.arange(given["src"].shape[1]) >= given["src_len"][:, None]
        later = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).triu(1)
        for layer in module.encoder:
            x = layer(x, src_key_padding_mask=unseen)
        for layer in module.decoder:
            y = layer(y, x, tgt_mask=later, memory_key_padding_mask=unseen)
        logits = y @ module.emb.T
        logp, label, smooth = logits.log_softmax(2), given["label"], 0.1
        right = logp.gather(2, label[..., None])[..., 0]
        each = -(1 - smooth) * right - smooth / (at["V"] - 1) * (logp.sum(2) - right)
        w = (label != 0).double()
        return (each * w).sum() / w.sum(), {"memory": x, "logits": logits}, None
    return made, compute


class Projections(nn.Module):
    def __init__(self, at):
        super().__init__()
        width = at["H"] * at["E"]
        self.WQ, self.WK, self.WV = (nn.Linear(at["D"], width) for _ in range(3))
        self.WO = nn.Linear(width, at["D"])
        self.heads = at["H"]

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1))

    def answer(self, query, keys, values, seen=None):
        """query [.., H, E]; keys and values [.., J, H, E]."""
        scores = (query[..., None, :, :] * keys).sum(-1) / math.sqrt(query.shape[-1])
        weight = (scores if seen is None else scores.masked_fill(~seen[..., None], -math.inf)).softmax(-2)
        return F.leaky_relu(self.WO((weight[..., None] * values).sum(-3).flatten(-2)))


class Ring(Projections):
    """Open: beside the ends stand zeros; closed: the first place beside the last (Guo et al. 2019, section 3)."""

    def __init__(self, at):
        super().__init__(at)
        self.closed = at.get("closed", False)

    def forward(self, z, e, s):
        def context(project):
            own = self.split(project(z))
            ends = (own[:, -1:], own[:, :1]) if self.closed else 2 * (torch.zeros_like(own[:, :1]),)
            near = torch.cat((ends[0], own, ends[1]), 1).unfold(1, 3, 1).movedim(-1, 2)
            relay = self.split(project(s))[:, None, None].expand(-1, z.shape[1], 1, -1, -1)
            return torch.cat((near, self.split(project(e))[:, :, None], relay), 2)
        return self.answer(self.split(self.WQ(z)), context(self.WK), context(self.WV))


class Star(Projections):
    def forward(self, s, h, given):
        c = torch.cat((s[:, None], h), 1)
        seen = torch.cat((torch.ones_like(given[:, :1]), given), 1)
        return self.answer(self.split(self.WQ(s)), self.split(self.WK(c)), self.split(self.WV(c)), seen)


def star_transformer(case):
    """fastNLP's modules/encoder/star_transformer.py, written after it; its 1 x 1 convolutions are linear layers."""
    at = sizes(case)

    def stacked(kind):
        return nn.ModuleList(kind(at) for _ in range(at["N"]))

    def head(classes):
        return nn.ModuleDict({"fc1": nn.Linear(at["D"], at["F"]), "fc2": nn.Linear(at["F"], classes)})
    made = nn.ModuleDict({"emb_fc": nn.Linear(at["X"], at["D"]), "pos_emb": nn.Embedding(at["L"], at["D"]),
                          "ring_att": stacked(Ring), "star_att": stacked(Star),
                          "norm": stacked(lambda at: nn.LayerNorm(at["D"], eps=1e-6)), "classify": head(5), "tagger": head(9)})
    made.register_parameter("word", nn.Parameter(torch.zeros(at["V"], at["X"])))

    def compute(module, given, _):
        there = torch.arange(given["ids"].shape[1]) < given["len"][:, None]
        e = module["emb_fc"](module.word[given["ids"]]) + module["pos_emb"].weight[:there.shape[1]]
        h, s = e, e.mean(1)
        for norm, ring, star in zip(module["norm"], module["ring_att"], module["star_att"]):
            h = ring(norm(h), e, s)
            s = star(s, h, there)
            h = h * there[..., None]

        def asked(part, x):
            return part["fc2"](F.leaky_relu(part["fc1"](x)))
        classes, tags = asked(module["classify"], 0.5 * (s + h.max(1).values)), asked(module["tagger"], h)
        each = F.cross_entropy(tags.flatten(0, 1), given["tag"].flatten(), reduction="none") * there.flatten()
        return F.cross_entropy(classes, given["label"]) + each.sum() / there.sum(), {"classes": classes, "tags": tags}, None
    return made, compute


MODELS = {"rnn": tagger(nn.RNN, ("y", "last")), "rnn_relu": tagger(nn.RNN, ("y", "last"), nonlinearity="relu"),
          "lstm": tagger(nn.LSTM, ("y", "h", "c")), "gru": classifier, "gru_reset_before": classifier,
          "lstm_lm": language_model(nn.LSTM), "rnn_lm": language_model(nn.RNN), "gru_lm": language_model(nn.GRU),
          "transformer": transformer, "star_transformer": star_transformer, "star_transformer_closed": star_transformer}
