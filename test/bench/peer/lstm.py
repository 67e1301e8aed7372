"""The medium language model of Zaremba et al. 2014 by torch.nn.LSTM: places first, as its kernels want them; states go on without
their gradient."""
import torch
from torch import nn
from torch.nn import functional as F

SHORT = torch.ops.mkldnn._is_mkldnn_bf16_supported()  # without such instructions oneDNN has no LSTM of 16 bits: in f32 then


class Model(nn.Module):
    decayed = staticmethod(lambda name: False)

    def __init__(self, size):
        super().__init__()
        self.rate, width = size["rate"], size["C"]
        self.emb = nn.Embedding(size["V"], width)
        self.lstm = nn.LSTM(width, width, size["N"], dropout=self.rate)
        self.head = nn.Linear(width, size["V"])
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -0.05, 0.05)
        self.states = tuple(torch.zeros(size["N"], size["B"], width) for _ in range(2))

    def forward(self, ids, target):
        x = F.dropout(self.emb(ids.t()), self.rate, self.training)
        with torch.autocast("cpu", enabled=torch.is_autocast_enabled("cpu") and SHORT):
            y, kept = self.lstm(x, self.states)
        self.kept = tuple(state.detach() for state in kept)
        logits = self.head(F.dropout(y, self.rate, self.training))
        return {"nll": F.cross_entropy(logits.flatten(0, 1), target.t().flatten().long())}

    def after_step(self):
        self.states = self.kept


def inputs(size, generator):
    def draw():
        return torch.randint(0, min(size["V"], 256), (size["B"], size["T"]), generator=generator, dtype=torch.int32)
    return {"ids": draw(), "target": draw()}


def tokens(size):
    return size["B"] * size["T"]


def flops(size):
    """Two products of four gates per layer, and the logits: one forward, two backward each."""
    width = size["C"]
    return 6 * tokens(size) * (size["N"] * 8 * width * width + width * size["V"])
