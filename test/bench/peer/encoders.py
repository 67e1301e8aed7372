"""BERT and the encoders made of it (post-LN, masked LM at the predicted places, a loss of the whole text), with the public names.
`family` of a size says which: FAMILIES."""
import torch
from torch import nn
from torch.nn import functional as F

FAMILIES = {  # root of the names, eps of the norms, sentence types, tasks, reach of relative positions (0: learned ones)
    "bert": ("bert", 1e-12, 2, 0, 0), "nezha": ("nezha", 1e-12, 2, 0, 64), "unilm": ("bert", 1e-5, 6, 0, 0),
    "ernie": ("ernie", 1e-5, 4, 16, 0), "ernie1": ("ernie", 1e-5, 2, 0, 0), "roberta": ("roberta", 1e-5, 1, 0, 0)}
ACTS = {"ernie1": F.relu}  # others: GELU
PAD = 1  # RoBERTa: no place, and counted by none


def named(**modules):
    return nn.ModuleDict(modules)


def relative(q, k, v, visible, far, rate):
    """Attention whose keys and values depend on the distance, too; far: [T, T, E]. Probabilities are needed by themselves."""
    batch, heads, length, width = q.shape

    def by_query(x):
        return x.permute(2, 0, 1, 3).reshape(length, batch * heads, -1)

    def by_head(x):
        return x.view(length, batch, heads, -1).permute(1, 2, 0, 3)
    scores = q @ k.transpose(2, 3) + by_head(by_query(q) @ far.transpose(1, 2))
    p = F.dropout((scores * width ** -0.5).masked_fill(~visible, float("-inf")).softmax(3), rate)
    return p @ v + by_head(by_query(p) @ far)


class Layer(nn.Module):
    def __init__(self, width, head, inner, rate, eps=1e-12, act=F.gelu):
        super().__init__()
        self.heads, self.rate, self.act = width // head, rate, act
        self.attention = nn.ModuleDict({
            "self": named(query=nn.Linear(width, width), key=nn.Linear(width, width), value=nn.Linear(width, width)),
            "output": named(dense=nn.Linear(width, width), LayerNorm=nn.LayerNorm(width, eps=eps))})
        self.intermediate = named(dense=nn.Linear(width, inner))
        self.output = named(dense=nn.Linear(inner, width), LayerNorm=nn.LayerNorm(width, eps=eps))

    def forward(self, x, visible, far=None):
        batch, length, width = x.shape
        parts, rate = self.attention["self"], self.rate if self.training else 0.0
        q, k, v = (parts[n](x).view(batch, length, self.heads, -1).transpose(1, 2) for n in ("query", "key", "value"))
        a = (F.scaled_dot_product_attention(q, k, v, attn_mask=visible, dropout_p=rate) if far is None
             else relative(q, k, v, visible, far, rate))
        out = self.attention["output"]
        a = out["dense"](a.transpose(1, 2).reshape(batch, length, width))
        h = out["LayerNorm"](x + F.dropout(a, rate))
        f = self.output["dense"](self.act(self.intermediate["dense"](h)))
        return self.output["LayerNorm"](h + F.dropout(f, rate))


class Embeddings(nn.Module):
    def __init__(self, words, places, types, width, rate, eps=1e-12, tasks=0):
        super().__init__()
        self.rate = rate
        self.word_embeddings, self.token_type_embeddings = nn.Embedding(words, width), nn.Embedding(types, width)
        self.position_embeddings = nn.Embedding(places, width) if places else None
        self.task_type_embeddings = nn.Embedding(tasks, width) if tasks else None
        self.LayerNorm = nn.LayerNorm(width, eps=eps)

    def forward(self, ids, seg, place=None, task=None):
        x = self.word_embeddings(ids) + self.token_type_embeddings(seg)
        if self.position_embeddings is not None:
            x = x + (self.position_embeddings.weight[:ids.size(1)] if place is None else self.position_embeddings(place))
        if task is not None:
            x = x + self.task_type_embeddings(task)[:, None]
        return F.dropout(self.LayerNorm(x), self.rate, self.training)


def layers(count, *form):
    return named(layer=nn.ModuleList(Layer(*form) for _ in range(count)))


class Encoder(nn.Module):
    def __init__(self, size, family, pooler=True):
        super().__init__()
        _, eps, types, tasks, reach = FAMILIES[family]
        width = size["D"]
        self.embeddings = Embeddings(size["V"], 0 if reach else size["L"], types, width, size["rate"], eps, tasks)
        self.encoder = layers(size["N"], width, size.get("E", 64), 4 * width, size["rate"], eps, ACTS.get(family, F.gelu))
        if pooler:
            self.pooler = named(dense=nn.Linear(width, width))
        self.far = distances(size["T"], size.get("E", 64), reach) if reach else None

    def forward(self, ids, seg, visible, **more):
        x = self.embeddings(ids, seg, **more)
        far = None if self.far is None else self.far.to(x.dtype)
        for layer in self.encoder["layer"]:
            x = layer(x, visible, far)
        return x

    def pooled(self, h):
        return torch.tanh(self.pooler["dense"](h[:, 0]))


def distances(length, width, reach):
    """Sines and cosines in turn of the clipped distance, shifted to begin at 0: [T, T, E]."""
    index = (torch.arange(length)[None] - torch.arange(length)[:, None]).clamp(-reach, reach) + reach
    rates = 10000 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angle = index[..., None] * rates
    return torch.stack((angle.sin(), angle.cos()), 3).flatten(2).float()


def start(model):
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.trunc_normal_(module.weight, std=0.02, a=-0.04, b=0.04)
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.bias)


def decayed(name):
    return not (name.endswith(".bias") or "norm" in name.lower())


def seen(length, len):
    """[B, 1, 1, S]"""
    return (torch.arange(length) < len[:, None])[:, None, None, :]


def chosen(x, at):
    return x.gather(1, at.long()[..., None].expand(-1, -1, x.size(-1)))


def weighed(logits, label, weight, more=0.0):
    each = F.cross_entropy(logits.flatten(0, -2), label.long().flatten(), reduction="none") * weight.flatten()
    return each.sum() / (weight.sum() + more)


class Model(nn.Module):
    decayed = staticmethod(decayed)

    def __init__(self, size):
        super().__init__()
        self.family, width = size["family"], size["D"]
        self.root, eps, *_ = FAMILIES[self.family]
        setattr(self, self.root, Encoder(size, self.family, pooler=self.family != "roberta"))
        head = named(transform=named(dense=nn.Linear(width, width), LayerNorm=nn.LayerNorm(width, eps=eps)))
        if self.family == "roberta":
            head = self.lm_head = named(dense=nn.Linear(width, width), layer_norm=nn.LayerNorm(width, eps=eps))
            self.classifier = named(dense=nn.Linear(width, width), out_proj=nn.Linear(width, 2))  # pre-training has no part in it
        else:
            self.cls = named(predictions=head)
        if self.family == "ernie":  # heads of the seven tasks; a step trains those of one
            for name, classes in (("upper", 2), ("topic", 2), ("order", 33), ("distance", 3), ("relevance", 3), ("relation", 25)):
                setattr(self, name + "_head", nn.Linear(width, classes))
        elif self.family != "roberta":
            self.cls["seq_relationship"] = nn.Linear(width, 2)
        head.register_parameter("bias", nn.Parameter(torch.zeros(size["V"])))
        start(self)

    @property
    def body(self):
        return getattr(self, self.root)

    def predicted(self, h, at, word, weight, more=1e-5):
        head = self.lm_head if self.family == "roberta" else self.cls["predictions"]
        dense, norm = (head["dense"], head["layer_norm"]) if self.family == "roberta" else head["transform"].values()
        x = norm(ACTS.get(self.family, F.gelu)(dense(chosen(h, at))))
        return weighed(F.linear(x, self.body.embeddings.word_embeddings.weight, head.bias), word, weight, more)

    def forward(self, ids, at, word, weight, seg=None, len=None, **more):
        if self.family == "roberta":
            return self.roberta_losses(ids, (at, word, weight))
        return LOSSES[self.family](self, ids, seg, seen(ids.size(1), len), (at, word, weight), **more)

    def bert_losses(self, h, predictions, follows, paired=None):
        logits = self.cls["seq_relationship"](self.body.pooled(h))
        nsp = F.cross_entropy(logits, follows.long()) if paired is None else weighed(logits, follows, paired)
        return {"mlm": self.predicted(h, *predictions), "nsp": nsp}

    def plain(self, ids, seg, visible, predictions, follows):
        return self.bert_losses(self.body(ids, seg, visible), predictions, follows)

    def unilm_losses(self, ids, seg, visible, predictions, place, task, prefix, follows, paired):
        i, j, task = torch.arange(ids.size(1))[:, None], torch.arange(ids.size(1)), task[:, None, None]
        source = j < prefix[:, None, None]
        masks = (task == 0) | (task == 1) & (j <= i) | (task == 2) & (j >= i) | (task == 3) & (source | (j <= i))
        return self.bert_losses(self.body(ids, seg, visible & masks[:, None], place=place), predictions, follows, paired)

    def ernie_losses(self, ids, seg, visible, predictions, task, upper, topic):
        h, there = self.body(ids, seg, visible, task=task), visible.expand(-1, 1, -1, -1).flatten(1).float()
        return {"mask": self.predicted(h, *predictions, more=0.0), "capital": weighed(self.upper_head(h), upper, there),
                "document": weighed(self.topic_head(h), topic, there)}

    def ernie1_losses(self, ids, seg, visible, predictions, label):
        h = self.body(ids, seg, visible)
        pair = F.cross_entropy(self.cls["seq_relationship"](self.body.pooled(h)), label.long())
        return {"mlm": self.predicted(h, *predictions, more=0.0), "pair": pair}

    def roberta_losses(self, ids, predictions):
        given = ids != PAD
        place = torch.where(given, given.long().cumsum(1), 0) + PAD
        h = self.body(ids, torch.zeros_like(ids), given[:, None, None], place=place)
        return {"mlm": self.predicted(h, *predictions, more=0.0)}


LOSSES = {"bert": Model.plain, "nezha": Model.plain, "unilm": Model.unilm_losses, "ernie": Model.ernie_losses,
          "ernie1": Model.ernie1_losses}


def inputs(size, generator):
    batch, length, count, family = size["B"], size["T"], size["K"], size["family"]

    def draw(high, *shape):
        return torch.randint(0, high, shape, generator=generator, dtype=torch.int32)

    at = torch.stack([torch.randperm(length, generator=generator)[:count].sort().values for _ in range(batch)])
    found = {"ids": draw(256, batch, length), "seg": draw(FAMILIES[family][2], batch, length),
             "len": torch.full((batch,), length, dtype=torch.int32), "at": at.int(),
             "word": draw(255, batch, count) + 1, "weight": torch.ones(batch, count)}
    if family == "roberta":
        return {name: found[name] for name in ("ids", "at", "word", "weight")}
    if family == "ernie1":
        return found | {"label": draw(2, batch)}
    if family == "ernie":
        task = torch.zeros(batch, dtype=torch.int32)
        return found | {"task": task, "upper": draw(2, batch, length), "topic": draw(2, batch, length)}
    if family == "unilm":
        found |= {"place": torch.arange(length, dtype=torch.int32).repeat(batch, 1), "paired": torch.ones(batch),
                  "task": torch.arange(batch, dtype=torch.int32) % 4, "prefix": draw(length, batch)}
    return found | {"follows": draw(2, batch)}


def tokens(size):
    return size["B"] * size["T"]


def layer_products(width, length, far=False):
    """Multiply-adds of a layer for one place."""
    return 12 * width * width + (4 if far else 2) * width * length


def flops(size):
    """Multiply-adds of forward and backward, times two. Where predicted places alone are read, the last layer needs of the others
    keys and values, and nothing else."""
    width, length = size["D"], size["T"]
    whole = layer_products(width, length, size["family"] == "nezha")
    unread = 0 if size["family"] == "ernie" else (whole - 2 * width * width) * (1 - size["K"] / length)
    per_token = size["N"] * whole - unread
    head = (width * width + width * size["V"]) * size["K"] / length
    return 6 * tokens(size) * (per_token + head)
