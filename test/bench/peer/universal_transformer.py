"""Universal Transformer with adaptive computation time: one pre-LN layer on each side, A times, and what each place halts
with."""
import torch
from torch import nn
from torch.nn import functional as F

from transformer import Attention, inputs, tokens  # noqa: F401 (the same task)


def waves(length, width):
    """tensor2tensor's signal: sines, then cosines."""
    rates = 10000 ** (-torch.arange(width // 2, dtype=torch.float64) / (width // 2 - 1))
    angle = torch.arange(length)[:, None] * rates
    return torch.cat((angle.sin(), angle.cos()), 1).float()


class Feed(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.rate = size["rate"]
        self.linear1, self.linear2 = nn.Linear(size["D"], size["F"]), nn.Linear(size["F"], size["D"])

    def forward(self, x):
        return self.linear2(F.dropout(F.relu(self.linear1(x)), self.rate, self.training))


class Halt(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.w, self.bias = nn.Parameter(torch.randn(width) * width ** -0.5), nn.Parameter(torch.ones(()))

    def forward(self, x, halt, rest, n):
        p = torch.sigmoid(x @ self.w + self.bias)
        run, full = halt < 1, halt + p > 0.99
        ends, goes = run & full, run & ~full
        some = torch.where(goes, p, 0)
        left = torch.where(ends, 1 - (halt + some), 0)
        return some + left, halt + some + left, rest + left, n + run


class Step(nn.Module):
    def __init__(self, size, decodes):
        super().__init__()
        width, self.rate = size["D"], size["rate"]
        self.attention, self.feed = Attention(size), Feed(size)
        self.cross = Attention(size) if decodes else None
        for number in range(3 if decodes else 2):
            setattr(self, f"n{number + 1}", nn.LayerNorm(width, eps=1e-6))
        self.halting = Halt(width)
        self.signal = nn.Parameter(torch.randn(size["A"], width) * width ** -0.5)
        self.waves = waves(max(size["S"], size["T"]), width)

    def drop(self, x):
        return F.dropout(x, self.rate, self.training)

    def forward(self, depth, x, mix, halts, memory, visible):
        h = x + (self.signal[depth] * x.size(2) ** 0.5 + self.waves[:x.size(1)])
        w, *halts = self.halting(h, *halts)
        z = self.n1(h)
        if self.cross is None:
            a = h + self.drop(self.attention.within(z, attn_mask=visible))
            y = a + self.drop(self.feed(self.n2(a)))
        else:
            a = h + self.drop(self.attention.within(z, is_causal=True))
            b = a + self.drop(self.cross.across(self.n2(a), memory, visible))
            y = b + self.drop(self.feed(self.n3(b)))
        return y, y * w[..., None] + mix * (1 - w[..., None]), halts

    def run(self, x, memory, visible):
        """The mixed states, and the mean number of steps and remainders."""
        mix, halts = torch.zeros_like(x), [x.new_zeros(x.shape[:2])] * 3
        for depth in range(self.signal.size(0)):
            x, mix, halts = self(depth, x, mix, halts, memory, visible)
        return mix, (halts[1] + halts[2]).mean()


class Model(nn.Module):
    decayed = staticmethod(lambda name: False)

    def __init__(self, size):
        super().__init__()
        width, self.rate = size["D"], size["rate"]
        self.emb = nn.Parameter(torch.randn(size["V"], width) * width ** -0.5)
        self.encoder, self.decoder = Step(size, False), Step(size, True)
        self.enc_norm, self.dec_norm = (nn.LayerNorm(width, eps=1e-6) for _ in range(2))
        for module in self.modules():
            if isinstance(module, Feed):
                for linear in (module.linear1, module.linear2):
                    nn.init.xavier_uniform_(linear.weight)
        self.smooth = 0.1 * size["V"] / (size["V"] - 1)

    def forward(self, src, src_len, tgt, label):
        visible = (torch.arange(src.size(1)) < src_len[:, None])[:, None, None, :]
        x, y = (F.dropout(F.embedding(ids, self.emb) * self.emb.size(1) ** 0.5, self.rate, self.training) for ids in (src, tgt))
        mixed, sources = self.encoder.run(x, None, visible)
        mixed, targets = self.decoder.run(y, self.enc_norm(mixed), visible)
        logits = F.linear(self.dec_norm(mixed), self.emb)
        nll = F.cross_entropy(logits.flatten(0, 1), label.flatten().long(), ignore_index=0, label_smoothing=self.smooth)
        return {"nll": nll, "ponder": sources + targets}

    weights = {"ponder": 0.01}  # of the losses that do not count fully


def flops(size):
    """As the Transformer's, with A rounds."""
    from transformer import flops as whole
    return whole({**size, "N": size["A"]})
