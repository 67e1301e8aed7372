"""Language models of the cells of torch.nn.RNN and torch.nn.GRU, as `cell` of a size says, places first. Of PyTorch's cells
oneDNN has the LSTM alone; the others multiply for the gradient of a weight at every place. So the recurrence here has a backward
pass of its own: what needs no recurrence in bulk, the gradient of a weight in one product. GRU is faster by it than the module,
which `shipped` of a size chooses, and than what torch.compile makes of that (every place written out). The last state is kept,
but one batch is an epoch, with which states begin anew."""
import torch
from torch import nn
from torch.nn import functional as F

from lstm import inputs, tokens  # noqa: F401

GATES = {"rnn": 1, "gru": 3}


class Rnn(torch.autograd.Function):
    """h[t] = tanh(given[t] + h[t - 1] weight + bias); given: [T, B, C], the results, too."""

    @staticmethod
    def forward(context, given, start, weight, bias):
        h = torch.empty(given.size(0) + 1, *start.shape)
        h[0] = start
        given = given + bias
        for t in range(given.size(0)):
            torch.addmm(given[t], h[t], weight.t(), out=h[t + 1]).tanh_()
        context.save_for_backward(h, weight)
        return h[1:]

    @staticmethod
    def backward(context, gradient):
        h, weight = context.saved_tensors
        slope, toward = 1 - h[1:] ** 2, torch.empty_like(gradient)
        for t in range(gradient.size(0) - 1, -1, -1):
            upward = torch.addmm(gradient[t], toward[t + 1], weight) if t + 1 < gradient.size(0) else gradient[t]
            torch.mul(upward, slope[t], out=toward[t])
        flat = toward.flatten(0, 1)
        return toward, None, flat.t() @ h[:-1].flatten(0, 1), flat.sum(0)


class Gru(torch.autograd.Function):
    """The same with the gates r, z, n in `given`: [T, B, 3 C]."""

    @staticmethod
    def forward(context, given, start, weight, bias):
        length, (batch, width) = given.size(0), start.shape
        h, gates = torch.empty(length + 1, batch, width), torch.empty_like(given)
        product = torch.empty_like(given)
        h[0] = start
        for t in range(length):
            torch.addmm(bias, h[t], weight.t(), out=product[t])
            rz, n = gates[t, :, :2 * width], gates[t, :, 2 * width:]
            torch.add(given[t, :, :2 * width], product[t, :, :2 * width], out=rz).sigmoid_()
            torch.addcmul(given[t, :, 2 * width:], rz[:, :width], product[t, :, 2 * width:], out=n).tanh_()
            torch.lerp(n, h[t], rz[:, width:], out=h[t + 1])
        context.save_for_backward(h, gates, product[:, :, 2 * width:], weight)
        return h[1:]

    @staticmethod
    def backward(context, gradient):
        h, gates, product, weight = context.saved_tensors
        (r, z, n), width = gates.chunk(3, 2), h.size(2)
        slopes = torch.cat([product * r * (1 - r), (h[:-1] - n) * z * (1 - z), (1 - z) * (1 - n * n)], 2)
        inward, recurrent = torch.empty_like(gates), torch.empty_like(gates)
        upward = torch.zeros_like(gradient[0])
        for t in range(gradient.size(0) - 1, -1, -1):
            upward = upward + gradient[t]
            new = torch.mul(upward, slopes[t, :, 2 * width:], out=inward[t, :, 2 * width:])
            torch.mul(new, slopes[t, :, :width], out=recurrent[t, :, :width])
            torch.mul(upward, slopes[t, :, width:2 * width], out=recurrent[t, :, width:2 * width])
            torch.mul(new, r[t], out=recurrent[t, :, 2 * width:])
            upward = torch.addmm(upward * z[t], recurrent[t], weight)
        inward[:, :, :2 * width] = recurrent[:, :, :2 * width]
        flat = recurrent.flatten(0, 1)
        return inward, None, flat.t() @ h[:-1].flatten(0, 1), flat.sum(0)


@torch.compiler.disable  # torch.compile would write out every place
def recurrence(cell, given, start, weight, bias):
    return {"rnn": Rnn, "gru": Gru}[cell].apply(given, start, weight, bias)


class Model(nn.Module):
    decayed = staticmethod(lambda name: False)

    def __init__(self, size):
        super().__init__()
        self.rate, self.cell, self.shipped, width = size["rate"], size["cell"], size.get("shipped", False), size["C"]
        self.emb = nn.Embedding(size["V"], width)
        kind = {"rnn": nn.RNN, "gru": nn.GRU}[self.cell]
        setattr(self, self.cell, kind(width, width, size["N"], dropout=self.rate))
        self.head = nn.Linear(width, size["V"])
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -0.05, 0.05)
        self.states = torch.zeros(size["N"], size["B"], width)

    def layers(self, x):
        module, kept = getattr(self, self.cell), []
        if self.shipped:
            return module(x, self.states)
        for k, start in enumerate(self.states):
            x = F.dropout(x, self.rate, self.training) if k else x
            given = F.linear(x, getattr(module, f"weight_ih_l{k}"), getattr(module, f"bias_ih_l{k}"))
            x = recurrence(self.cell, given, start, getattr(module, f"weight_hh_l{k}"), getattr(module, f"bias_hh_l{k}"))
            kept.append(x[-1])
        return x, torch.stack(kept)

    def forward(self, ids, target):
        y, kept = self.layers(F.dropout(self.emb(ids.t()), self.rate, self.training))
        self.kept = kept.detach()
        logits = self.head(F.dropout(y, self.rate, self.training))
        return {"nll": F.cross_entropy(logits.flatten(0, 1), target.t().flatten().long())}


def flops(size):
    """Two products per gate and layer, and the logits: one forward, two backward each."""
    width = size["C"]
    return 6 * tokens(size) * (size["N"] * 2 * GATES[size["cell"]] * width * width + width * size["V"])
