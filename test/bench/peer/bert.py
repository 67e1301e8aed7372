"""BERT pre-training (post-LN, masked LM at the predicted places, next sentence) in idiomatic PyTorch, with the public names."""
import torch
from torch import nn
from torch.nn import functional as F


def named(**modules):
    return nn.ModuleDict(modules)


class Layer(nn.Module):
    def __init__(self, size):
        super().__init__()
        width, self.heads, self.rate = size["D"], size["D"] // size["E"], size["rate"]
        self.attention = nn.ModuleDict({
            "self": named(query=nn.Linear(width, width), key=nn.Linear(width, width), value=nn.Linear(width, width)),
            "output": named(dense=nn.Linear(width, width), LayerNorm=nn.LayerNorm(width, eps=1e-12))})
        self.intermediate = named(dense=nn.Linear(width, size["F"]))
        self.output = named(dense=nn.Linear(size["F"], width), LayerNorm=nn.LayerNorm(width, eps=1e-12))

    def forward(self, x, visible):
        batch, length, width = x.shape
        parts = self.attention["self"]
        q, k, v = (parts[n](x).view(batch, length, self.heads, -1).transpose(1, 2) for n in ("query", "key", "value"))
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=visible, dropout_p=self.rate if self.training else 0.0)
        out = self.attention["output"]
        a = out["dense"](a.transpose(1, 2).reshape(batch, length, width))
        h = out["LayerNorm"](x + F.dropout(a, self.rate, self.training))
        f = self.output["dense"](F.gelu(self.intermediate["dense"](h)))
        return self.output["LayerNorm"](h + F.dropout(f, self.rate, self.training))


class Model(nn.Module):
    decayed = staticmethod(lambda name: not (name.endswith(".bias") or "norm" in name.lower()))

    def __init__(self, size):
        super().__init__()
        width, self.rate = size["D"], size["rate"]
        self.bert = nn.ModuleDict({
            "embeddings": named(word_embeddings=nn.Embedding(size["V"], width),
                                position_embeddings=nn.Embedding(size["L"], width),
                                token_type_embeddings=nn.Embedding(2, width), LayerNorm=nn.LayerNorm(width, eps=1e-12)),
            "encoder": named(layer=nn.ModuleList(Layer(size) for _ in range(size["N"]))),
            "pooler": named(dense=nn.Linear(width, width))})
        head = named(transform=named(dense=nn.Linear(width, width), LayerNorm=nn.LayerNorm(width, eps=1e-12)))
        self.cls = nn.ModuleDict({"predictions": head, "seq_relationship": nn.Linear(width, 2)})
        head.register_parameter("bias", nn.Parameter(torch.zeros(size["V"])))
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.trunc_normal_(module.weight, std=0.02, a=-0.04, b=0.04)
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)

    def forward(self, ids, seg, len, at, word, weight, follows):
        length = ids.size(1)
        e = self.bert["embeddings"]
        x = e["word_embeddings"](ids) + e["position_embeddings"].weight[:length] + e["token_type_embeddings"](seg)
        x = F.dropout(e["LayerNorm"](x), self.rate, self.training)
        visible = (torch.arange(length) < len[:, None])[:, None, None, :]
        for layer in self.bert["encoder"]["layer"]:
            x = layer(x, visible)
        head = self.cls["predictions"]
        chosen = x.gather(1, at.long()[..., None].expand(-1, -1, x.size(-1)))
        chosen = head["transform"]["LayerNorm"](F.gelu(head["transform"]["dense"](chosen)))
        logits = F.linear(chosen, e["word_embeddings"].weight, head.bias)
        losses = F.cross_entropy(logits.flatten(0, 1), word.long().flatten(), reduction="none") * weight.flatten()
        pooled = torch.tanh(self.bert["pooler"]["dense"](x[:, 0]))
        return {"mlm": losses.sum() / (weight.sum() + 1e-5),
                "nsp": F.cross_entropy(self.cls["seq_relationship"](pooled), follows.long())}


def inputs(size, generator):
    batch, length, chosen = size["B"], size["T"], size["K"]

    def draw(high, *shape):
        return torch.randint(0, high, shape, generator=generator, dtype=torch.int32)

    at = torch.stack([torch.randperm(length, generator=generator)[:chosen].sort().values for _ in range(batch)])
    return {"ids": draw(256, batch, length), "seg": draw(2, batch, length),
            "len": torch.full((batch,), length, dtype=torch.int32),
            "at": at.int(), "word": draw(256, batch, chosen), "weight": torch.ones(batch, chosen), "follows": draw(2, batch)}


def tokens(size):
    return size["B"] * size["T"]


def flops(size):
    """Multiply-adds of forward and backward, times two."""
    width, length = size["D"], size["T"]
    per_token = size["N"] * (4 * width * width + 2 * width * size["F"] + 2 * width * length)
    head = (width * width + width * size["V"]) * size["K"] / length
    return 6 * tokens(size) * (per_token + head)
