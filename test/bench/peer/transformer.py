"""Transformer of Vaswani et al. 2017, encoder and decoder, post-LN; parameters have the names of torch.nn's layers."""
import torch
from torch import nn
from torch.nn import functional as F


def waves(length, width):
    """Sines and cosines in turn (section 3.5)."""
    angle = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, width, 2, dtype=torch.float64) / width)
    return torch.stack((angle.sin(), angle.cos()), 2).flatten(1).float()


class Attention(nn.Module):
    def __init__(self, size):
        super().__init__()
        width, self.heads, self.rate = size["D"], size["H"], size["rate"]
        self.in_proj_weight = nn.Parameter(torch.empty(3 * width, width))
        self.out_proj = nn.Linear(width, width, bias=False)
        for part in (*self.in_proj_weight.detach().chunk(3), self.out_proj.weight):
            nn.init.xavier_uniform_(part)

    def split(self, x, parts):
        """[B, T, parts * D] to `parts` times [B, H, T, E]."""
        return x.view(*x.shape[:2], parts, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)

    def finish(self, q, k, v, **form):
        a = F.scaled_dot_product_attention(q, k, v, dropout_p=self.rate if self.training else 0.0, **form)
        return self.out_proj(a.transpose(1, 2).flatten(2))

    def within(self, x, **form):
        return self.finish(*self.split(F.linear(x, self.in_proj_weight), 3), **form)

    def across(self, x, memory, visible):
        width = x.size(-1)
        q, = self.split(F.linear(x, self.in_proj_weight[:width]), 1)
        k, v = self.split(F.linear(memory, self.in_proj_weight[width:]), 2)
        return self.finish(q, k, v, attn_mask=visible)


class Layer(nn.Module):
    def __init__(self, size, decodes):
        super().__init__()
        self.rate = size["rate"]
        self.self_attn = Attention(size)
        self.multihead_attn = Attention(size) if decodes else None
        self.linear1, self.linear2 = nn.Linear(size["D"], size["F"]), nn.Linear(size["F"], size["D"])
        for linear in (self.linear1, self.linear2):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)
        self.norm1, self.norm2 = (nn.LayerNorm(size["D"], eps=1e-6) for _ in range(2))
        self.norm3 = nn.LayerNorm(size["D"], eps=1e-6) if decodes else None

    def drop(self, x):
        return F.dropout(x, self.rate, self.training)

    def feed(self, x):
        return self.drop(self.linear2(self.drop(F.relu(self.linear1(x)))))

    def encode(self, x, visible):
        x = self.norm1(x + self.drop(self.self_attn.within(x, attn_mask=visible)))
        return self.norm2(x + self.feed(x))

    def decode(self, x, memory, visible):
        x = self.norm1(x + self.drop(self.self_attn.within(x, is_causal=True)))
        x = self.norm2(x + self.drop(self.multihead_attn.across(x, memory, visible)))
        return self.norm3(x + self.feed(x))


class Model(nn.Module):
    decayed = staticmethod(lambda name: False)

    def __init__(self, size):
        super().__init__()
        width, self.rate = size["D"], size["rate"]
        self.emb = nn.Parameter(torch.randn(size["V"], width) * width ** -0.5)
        self.encoder = nn.ModuleList(Layer(size, False) for _ in range(size["N"]))
        self.decoder = nn.ModuleList(Layer(size, True) for _ in range(size["N"]))
        self.waves = waves(max(size["S"], size["T"]), width)
        self.smooth = 0.1 * size["V"] / (size["V"] - 1)  # torch gives the right symbol its part of it, too

    def embedded(self, ids):
        x = F.embedding(ids, self.emb) * self.emb.size(1) ** 0.5 + self.waves[:ids.size(1)]
        return F.dropout(x, self.rate, self.training)

    def encoded(self, src, visible):
        x = self.embedded(src)
        for layer in self.encoder:
            x = layer.encode(x, visible)
        return x

    def forward(self, src, src_len, tgt, label):
        visible = (torch.arange(src.size(1)) < src_len[:, None])[:, None, None, :]
        memory, y = self.encoded(src, visible), self.embedded(tgt)
        for layer in self.decoder:
            y = layer.decode(y, memory, visible)
        logits = F.linear(y, self.emb)
        return {"nll": F.cross_entropy(logits.flatten(0, 1), label.flatten().long(), ignore_index=0, label_smoothing=self.smooth)}


def inputs(size, generator):
    def draw(length):
        return torch.randint(2, size["V"], (size["B"], length), generator=generator, dtype=torch.int32)
    label = draw(size["T"])
    label[:, -1] = 1
    start = torch.zeros(size["B"], 1, dtype=torch.int32)
    return {"src": draw(size["S"]), "src_len": torch.full((size["B"],), size["S"], dtype=torch.int32),
            "tgt": torch.cat((start, label[:, :-1]), 1), "label": label}


def tokens(size):
    """Of the target."""
    return size["B"] * size["T"]


def flops(size):
    """Multiply-adds of forward and backward, times two; of the decoder's own attention the visible pairs."""
    width, sources, targets = size["D"], size["S"], size["T"]
    source = sources * (4 * width * width + 2 * width * size["F"] + 2 * width * sources)
    target = targets * (6 * width * width + 2 * width * size["F"] + width * (targets + 1) + 2 * width * sources)
    target += 2 * sources * width * width
    return 6 * size["B"] * (size["N"] * (source + target) + targets * width * size["V"])
