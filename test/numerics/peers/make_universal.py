"""The Universal Transformer, written in torch after tensor2tensor's universal_transformer_util.py: with adaptive computation time
("basic") and with a fixed number of steps, with either transition function, also with the paper's signals and norms. The loop
ends when every place has halted."""
import math

import torch
from torch import nn
from torch.nn import functional as F

LIMIT = 0.01  # act_epsilon


def signal(length, width, paper=False):
    """Timing signal of tensor2tensor: sines, then cosines; the last wavelength is 10,000 times the first. Paper: in turn."""
    if paper:
        angle = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, width, 2) / width)
        return torch.stack((angle.sin(), angle.cos()), 2).flatten(1)
    rates = torch.exp(-torch.arange(width // 2) * (math.log(1e4) / (width // 2 - 1)))
    angle = torch.arange(length)[:, None] * rates
    return torch.cat((angle.sin(), angle.cos()), 1)


class Attention(nn.Module):
    def __init__(self, at):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(at["D"], at["D"], bias=False) for _ in range(4))
        self.heads = at["H"]

    def forward(self, x, memory, seen):
        parts = (self.wq(x), self.wk(memory), self.wv(memory))
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        weight = scores.masked_fill(~seen, -math.inf).softmax(-1)
        return self.wo((weight @ v).transpose(1, 2).flatten(2))


class Feed(nn.Module):
    def __init__(self, at):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(at["D"], at["F"]), nn.Linear(at["F"], at["D"])

    def forward(self, x, real):
        return self.linear2(F.relu(self.linear1(x)))


class Separable(nn.Module):
    """Depthwise over places, without bias, then pointwise; `ahead` of the `size` places are behind the own one."""
    def __init__(self, width, out, size, ahead):
        super().__init__()
        self.taps, self.linear = nn.Parameter(torch.zeros(size, width)), nn.Linear(width, out)
        self.around = (size - 1 - ahead, ahead)

    def forward(self, x):
        x = F.pad(x.transpose(1, 2), self.around)
        return self.linear(F.conv1d(x, self.taps.T[:, None], groups=x.shape[1]).transpose(1, 2))


class Convolutions(nn.Module):
    """sepconv_relu_sepconv: kernels of 3 and 5 places, padding SAME or (decoder) LEFT; places behind the text are zeros."""
    def __init__(self, at, ahead):
        super().__init__()
        self.conv1, self.conv2 = Separable(at["D"], at["F"], 3, ahead), Separable(at["F"], at["D"], 5, 2 * ahead)

    def forward(self, x, real):
        return self.conv2(F.relu(self.conv1(x * real)) * real)


class Halting(nn.Module):
    def __init__(self, at):
        super().__init__()
        self.w, self.bias = nn.Parameter(torch.zeros(at["D"])), nn.Parameter(torch.zeros(()))

    def forward(self, x):
        return torch.sigmoid(x @ self.w + self.bias)


class Step(nn.Module):
    """One side's step, which all rounds share; with `crosses` it attends to the encoder's result, too."""
    def __init__(self, at, crosses):
        super().__init__()
        self.attention = Attention(at)
        self.feed = Convolutions(at, 0 if crosses else 1) if "sepconv" in at.get("transition", "") else Feed(at)
        self.halting = Halting(at) if at["act"] else None
        self.n1, self.n2 = (nn.LayerNorm(at["D"], eps=1e-6) for _ in range(2))
        self.post, self.signals, self.most = at.get("post", False), at.get("signals", "learned").strip('"'), at["A"]
        if self.signals == "learned":
            self.signal = nn.Parameter(torch.zeros(at["A"], at["D"]))
        if crosses:
            self.cross, self.n3 = Attention(at), nn.LayerNorm(at["D"], eps=1e-6)

    def timed(self, x, t):
        """The paper counts steps from 1."""
        if self.signals == "learned":
            return x + signal(x.shape[1], x.shape[2]) + self.signal[t] * math.sqrt(x.shape[2])
        paper = self.signals == "paper"
        return x + signal(x.shape[1], x.shape[2], paper) + signal(self.most + 1, x.shape[2], paper)[t + paper]

    def block(self, h, seen, memory=None, shown=None):
        if self.post:
            h = self.n1(h + self.attention(h, h, seen))
            if memory is None:
                return self.n2(h + self.feed(h, seen[:, 0, 0, :, None].to(h.dtype)))
            h = self.n2(h + self.cross(h, memory, shown))
            return self.n3(h + self.feed(h, 1.0))
        z = self.n1(h)
        h = h + self.attention(z, z, seen)
        if memory is not None:
            h = h + self.cross(self.n2(h), memory, shown)
        if memory is not None:
            return h + self.feed(self.n3(h), 1.0)
        return h + self.feed(self.n2(h), seen[:, 0, 0, :, None].to(h.dtype))

    def run(self, x, most, *around):
        """(result, ponder times, remainders)"""
        if not self.halting:
            for t in range(most):
                x = self.block(self.timed(x, t), *around)
            return x, None, None
        halted, left, n = (torch.zeros(x.shape[:2]) for _ in range(3))
        mixed = torch.zeros_like(x)
        for t in range(most):
            if not (halted < 1 - LIMIT).any():
                break
            x = self.timed(x, t)
            p = self.halting(x)
            runs = (halted < 1).double()
            ends = (halted + p * runs > 1 - LIMIT).double() * runs
            runs = (halted + p * runs <= 1 - LIMIT).double() * runs
            halted = halted + p * runs
            left = left + ends * (1 - halted)
            halted = halted + ends * left
            n = n + runs + ends
            weight = (p * runs + ends * left)[..., None]
            x = self.block(x, *around)
            mixed = x * weight + mixed * (1 - weight)
        return mixed, n, left


def universal(case):
    at = {**case.dims, **case.configs}
    made = nn.Module()
    made.emb = nn.Parameter(torch.zeros(at["V"], at["D"]))
    made.encoder, made.decoder = Step(at, False), Step(at, True)
    if not at.get("post"):
        made.enc_norm, made.dec_norm = (nn.LayerNorm(at["D"], eps=1e-6) for _ in range(2))

    def compute(module, given, _):
        x, y = (module.emb[given[name]] * math.sqrt(at["D"]) for name in ("src", "tgt"))
        shown = (torch.arange(x.shape[1]) < given["src_len"][:, None])[:, None, None]
        earlier = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).tril()
        x, n, left = module.encoder.run(x, at["A"], shown)
        memory = x if at.get("post") else module.enc_norm(x)
        y, m, rest = module.decoder.run(y, at["A"], earlier, memory, shown)
        logits = (y if at.get("post") else module.dec_norm(y)) @ module.emb.T
        logp, label, smooth = logits.log_softmax(2), given["label"], 0.1
        right = logp.gather(2, label[..., None])[..., 0]
        each = -(1 - smooth) * right - smooth / (at["V"] - 1) * (logp.sum(2) - right)
        w = (label != 0).double()
        loss = (each * w).sum() / w.sum()
        if at["act"]:
            loss = loss + 0.01 * ((n + left).mean() + (m + rest).mean())
        return loss, {"memory": memory, "logits": logits} | ({"ns": n} if at["act"] else {}), None
    return made, compute


MODELS = {"universal": universal, "universal_fixed": universal, "universal_sepconv": universal,
          "universal_paper": universal, "universal_sinusoid": universal}
