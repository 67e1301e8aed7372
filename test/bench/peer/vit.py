"""ViT (pre-LN encoder over patches) with Hugging Face's names. A token is an image."""
import torch
from torch import nn
from torch.nn import functional as F


def named(**modules):
    return nn.ModuleDict(modules)


class Layer(nn.Module):
    def __init__(self, size):
        super().__init__()
        width, self.heads = size["D"], size["D"] // size["E"]
        self.layernorm_before, self.layernorm_after = (nn.LayerNorm(width, eps=1e-12) for _ in range(2))
        self.attention = named(attention=named(query=nn.Linear(width, width), key=nn.Linear(width, width),
                                               value=nn.Linear(width, width)), output=named(dense=nn.Linear(width, width)))
        self.intermediate, self.output = named(dense=nn.Linear(width, size["F"])), named(dense=nn.Linear(size["F"], width))

    def forward(self, x):
        y, parts = self.layernorm_before(x), self.attention["attention"]
        q, k, v = (parts[n](y).unflatten(2, (self.heads, -1)).transpose(1, 2) for n in ("query", "key", "value"))
        a = F.scaled_dot_product_attention(q, k, v)
        x = x + self.attention["output"]["dense"](a.transpose(1, 2).flatten(2))
        return x + self.output["dense"](F.gelu(self.intermediate["dense"](self.layernorm_after(x))))


class Model(nn.Module):
    decayed = staticmethod(lambda name: not any(part in name for part in ("bias", "norm", "cls_token", "position")))

    def __init__(self, size):
        super().__init__()
        width, patches = size["D"], (size["Y"] // size["P"]) * (size["X"] // size["P"])
        embeddings = named(patch_embeddings=named(projection=nn.Conv2d(size["C"], width, size["P"], size["P"])))
        embeddings.register_parameter("cls_token", nn.Parameter(torch.zeros(1, 1, width)))
        embeddings.register_parameter("position_embeddings", nn.Parameter(torch.zeros(1, patches + 1, width)))
        self.vit = named(embeddings=embeddings, layernorm=nn.LayerNorm(width, eps=1e-12),
                         encoder=named(layer=nn.ModuleList(Layer(size) for _ in range(size["N"]))))
        self.classifier = nn.Linear(width, size["K"])
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                nn.init.trunc_normal_(parameter, std=0.02)

    def forward(self, image, label):
        parts = self.vit["embeddings"]
        patches = parts["patch_embeddings"]["projection"](image).flatten(2).transpose(1, 2)
        x = torch.cat((parts.cls_token.expand(image.size(0), -1, -1), patches), 1) + parts.position_embeddings
        for layer in self.vit["encoder"]["layer"]:
            x = layer(x)
        logits = self.classifier(self.vit["layernorm"](x)[:, 0])
        return {"ce": F.cross_entropy(logits, label.long())}


def inputs(size, generator):
    return {"image": torch.randn(size["B"], size["C"], size["Y"], size["X"], generator=generator),
            "label": torch.randint(0, size["K"], (size["B"],), generator=generator, dtype=torch.int32)}


def tokens(size):
    return size["B"]


def flops(size):
    """Multiply-adds of forward and backward, times two; the image has no gradient."""
    width, patches = size["D"], (size["Y"] // size["P"]) * (size["X"] // size["P"])
    layer = 4 * width * width + 2 * width * size["F"] + 2 * width * (patches + 1)
    cut = patches * size["C"] * size["P"] ** 2 * width
    return size["B"] * (6 * ((patches + 1) * size["N"] * layer + width * size["K"]) + 4 * cut)
