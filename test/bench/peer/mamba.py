"""Mamba: a selective state-space model with Hugging Face's names. The recurrence in PyTorch's own operations, for a CPU: decays
and inputs of all places in bulk, then one fused multiply-add per place, forwards and backwards."""
import torch
from torch import nn
from torch.nn import functional as F

from llama import inputs, tokens  # noqa: F401


class Scan(torch.autograd.Function):
    """h[t] = decay[t] h[t - 1] + given[t], places first, from 0."""

    @staticmethod
    def forward(context, decay, given):
        h = torch.empty_like(given)
        h[0] = given[0]
        for t in range(1, given.size(0)):
            torch.addcmul(given[t], decay[t], h[t - 1], out=h[t])
        context.save_for_backward(decay, h)
        return h

    @staticmethod
    def backward(context, gradient):
        decay, h = context.saved_tensors
        whole, toward = torch.empty_like(gradient), torch.zeros_like(decay)
        whole[-1] = gradient[-1]
        for t in range(gradient.size(0) - 2, -1, -1):
            torch.addcmul(gradient[t], decay[t + 1], whole[t + 1], out=whole[t])
        torch.mul(whole[1:], h[:-1], out=toward[1:])
        return toward, whole


@torch.compiler.disable  # torch.compile would write out every place
def scanned(decay, given):
    return Scan.apply(decay, given)


class Mixer(nn.Module):
    def __init__(self, size):
        super().__init__()
        width, self.inner, self.state, self.rank = size["D"], size["I"], size["Z"], size["R"]
        self.in_proj = nn.Linear(width, 2 * self.inner, bias=False)
        self.conv1d = nn.Conv1d(self.inner, self.inner, 4, groups=self.inner)
        self.x_proj = nn.Linear(self.inner, self.rank + 2 * self.state, bias=False)
        self.dt_proj = nn.Linear(self.rank, self.inner)
        self.A_log = nn.Parameter(torch.arange(1, self.state + 1).float().log().repeat(self.inner, 1))
        self.D = nn.Parameter(torch.ones(self.inner))
        self.out_proj = nn.Linear(self.inner, width, bias=False)
        nn.init.constant_(self.dt_proj.bias, -4.6)
        for linear in (self.in_proj, self.out_proj):
            nn.init.normal_(linear.weight, std=0.02)

    def forward(self, x):
        """x: [T, B, D]"""
        length = x.size(0)
        u, z = self.in_proj(x).chunk(2, 2)
        padded, taps = F.pad(u, (0, 0, 0, 0, 3, 0)), self.conv1d.weight[:, 0]
        v = F.silu(sum(padded[k:k + length] * taps[:, k] for k in range(4)) + self.conv1d.bias)
        step, b, c = self.x_proj(v).split((self.rank, self.state, self.state), 2)
        step = F.softplus(self.dt_proj(step)).float()
        decay = torch.exp(step[..., None] * -torch.exp(self.A_log))
        h = scanned(decay, (step * v)[..., None] * b[:, :, None].float())
        y = torch.matmul(h, c[..., None].float())[..., 0]
        return self.out_proj((y + v * self.D) * F.silu(z))


class Model(nn.Module):
    decayed = staticmethod(lambda name: not ("norm" in name or name.endswith(("A_log", ".D"))))

    def __init__(self, size):
        super().__init__()
        blocks = [nn.ModuleDict({"norm": nn.RMSNorm(size["D"], eps=1e-5), "mixer": Mixer(size)}) for _ in range(size["N"])]
        self.backbone = nn.ModuleDict({"embeddings": nn.Embedding(size["V"], size["D"]), "layers": nn.ModuleList(blocks),
                                       "norm_f": nn.RMSNorm(size["D"], eps=1e-5)})
        nn.init.normal_(self.backbone["embeddings"].weight, std=0.02)

    def forward(self, ids, target):
        x = self.backbone["embeddings"](ids.t())
        for block in self.backbone["layers"]:
            x = x + block["mixer"](block["norm"](x))
        logits = F.linear(self.backbone["norm_f"](x), self.backbone["embeddings"].weight)
        return {"lm": F.cross_entropy(logits.flatten(0, 1), target.t().flatten().long())}


def flops(size):
    """Multiply-adds of forward and backward, times two: products and the sum over the state, not the recurrence."""
    width, inner, state = size["D"], size["I"], size["Z"]
    layer = 3 * width * inner + inner * (size["R"] + 2 * state) + size["R"] * inner + inner * state
    return 6 * tokens(size) * (size["N"] * layer + width * size["V"])
