"""Public implementations of BERT and its relatives."""
import dataclasses
import math

import draws
import torch
import transformers
from torch import nn
from torch.nn import functional as F
from transformers.models.nezha import modeling_nezha


def body(case, kind, **more):
    at = {**case.dims, **case.configs}
    return kind(vocab_size=at["V"], hidden_size=at["D"], num_hidden_layers=at["N"], num_attention_heads=at["D"] // 24,
                intermediate_size=100, max_position_embeddings=29, hidden_dropout_prob=0, attention_probs_dropout_prob=0,
                classifier_dropout=0, pad_token_id=1 if kind is transformers.RobertaConfig else 0, **more)


def sees(given, name="len", ids="ids"):
    return (torch.arange(given[ids].shape[-1]) < given[name][..., None]).double()


def picked(x, at):
    return x.gather(1, at[..., None].expand(-1, -1, x.shape[-1]))


def weighed(logits, given, least=None):
    """Cross entropy of the predicted places; google-research adds 1e-5 to the number of them."""
    each = F.cross_entropy(picked(logits, given["at"]).flatten(0, 1), given["word"].flatten(), reduction="none")
    total = given["weight"].sum()
    return (each * given["weight"].flatten()).sum() / (total + 1e-5 if least is None else total.clamp(min=least))


def asked(module, given, **more):
    there = given["there"] if "there" in given else sees(given)
    return module(input_ids=given["ids"], token_type_ids=given["seg"], attention_mask=there, **more)


def encoded(module, given, **more):
    return asked(module, given, output_hidden_states=True, **more)


def pretraining(kind, config, base, least=None, label="follows", **more):
    def build(case):
        def compute(module, given, _):
            found = encoded(module, given)
            h = found.hidden_states[-1]
            loss = weighed(found.prediction_logits, given, least) + F.cross_entropy(found.seq_relationship_logits, given[label])
            logits = picked(found.prediction_logits, given["at"])
            return loss, {"h": h, "pooled": getattr(module, base).pooler(h), "logits": logits}, None
        return kind(body(case, config, **more)), compute
    return build


def roberta(case):
    def compute(module, given, _):
        found = module(input_ids=given["ids"], attention_mask=(given["ids"] != 1).double(), output_hidden_states=True)
        return weighed(found.logits, given, 1), {"h": found.hidden_states[-1], "logits": picked(found.logits, given["at"])}, None
    made = transformers.RobertaForMaskedLM(body(case, transformers.RobertaConfig, type_vocab_size=1, layer_norm_eps=1e-5))
    return made, compute


def roberta_classify(case):
    def compute(module, given, _):
        logits = module(input_ids=given["ids"], attention_mask=(given["ids"] != 1).double()).logits
        return F.cross_entropy(logits, given["label"]), {"classes": logits}, None
    config = body(case, transformers.RobertaConfig, type_vocab_size=1, layer_norm_eps=1e-5, num_labels=3)
    return transformers.RobertaForSequenceClassification(config), compute


def roberta_regress(case):
    def compute(module, given, _):
        found = module(input_ids=given["ids"], attention_mask=(given["ids"] != 1).double(), labels=given["score"])
        return found.loss, {"classes": found.logits}, None
    config = body(case, transformers.RobertaConfig, type_vocab_size=1, layer_norm_eps=1e-5, num_labels=1)
    return transformers.RobertaForSequenceClassification(config), compute


def roberta_heads(kind, compute, **more):
    """The heads that BERT has, too. Texts have one type."""
    def build(case):
        def told(module, given, kept):
            return compute(module, given | {"there": (given["ids"] != 1).double(), "seg": torch.zeros_like(given["ids"])}, kept)
        config = body(case, transformers.RobertaConfig, type_vocab_size=1, layer_norm_eps=1e-5, **more)
        return kind(config), told
    return build


class Ernie2(transformers.ErnieForPreTraining):
    """The heads of the other tasks are linear."""

    def __init__(self, config):
        super().__init__(config)
        width = config.hidden_size
        self.upper_head, self.topic_head, self.order_head = nn.Linear(width, 2), nn.Linear(width, 2), nn.Linear(width, 33)
        self.distance_head, self.relevance_head = nn.Linear(width, 3), nn.Linear(width, 3)
        self.relation_head = nn.Linear(width, 25)
        del self.cls.seq_relationship
        self.cls.seq_relationship = nn.Identity()


def ernie2(case):
    def compute(module, given, _):
        task = given["task"][:, None].expand(-1, given["ids"].shape[1])
        found = encoded(module, given, task_type_ids=task)
        h, w = found.hidden_states[-1], sees(given)
        pooled = module.ernie.pooler(h)

        def each(head, label):
            return (F.cross_entropy(head(h).transpose(1, 2), given[label], reduction="none") * w).sum() / w.sum()

        def whole(head, label):
            return F.cross_entropy(head(pooled), given[label])
        loss = (weighed(found.prediction_logits, given, 1) + each(module.upper_head, "upper")
                + 0.5 * each(module.topic_head, "topic") + whole(module.order_head, "order")
                + 0.25 * whole(module.distance_head, "distance")
                + whole(module.relation_head, "relation") + whole(module.relevance_head, "relevance"))
        return loss, {"h": h, "pooled": pooled}, None
    config = body(case, transformers.ErnieConfig, type_vocab_size=4, task_type_vocab_size=3, use_task_id=True,
                  layer_norm_eps=1e-5)
    return Ernie2(config), compute


def heads(kind, compute, **more):
    def build(case):
        return kind(body(case, transformers.BertConfig, **more)), compute
    return build


def classify(module, given, _):
    found = asked(module, given, labels=given["label"])
    return found.loss, {"logits": found.logits}, None


def regress(module, given, _):
    found = asked(module, given, labels=given["score"])
    return found.loss, {"logits": found.logits}, None


def span(module, given, _):
    found = asked(module, given, start_positions=given["start"], end_positions=given["end"])
    return found.loss, {"first": found.start_logits, "last": found.end_logits}, None


def tag(module, given, _):
    found = asked(module, given, labels=given["tag"].where(given["weight"] > 0, -100))
    return found.loss, {"logits": found.logits}, None


def unilm(case):
    """BERT with six types and a mask for each pair of places, four kinds of them in a batch."""
    def compute(module, given, _):
        i, j = torch.arange(given["ids"].shape[1])[:, None], torch.arange(given["ids"].shape[1])[None]
        rows = []
        for task, prefix, length in zip(given["task"].tolist(), given["prefix"].tolist(), given["len"].tolist()):
            rows.append((j < length) & [j >= 0, j <= i, j >= i, (j < prefix) | (j <= i)][task])
        mask = torch.stack([row.expand(i.shape[0], -1) for row in rows]).double()
        found = module(input_ids=given["ids"], token_type_ids=given["seg"], position_ids=given["place"], attention_mask=mask)
        nsp = F.cross_entropy(found.seq_relationship_logits, given["follows"], reduction="none")
        loss = weighed(found.prediction_logits, given) + (nsp * given["paired"]).sum() / given["paired"].sum()
        return loss, {"logits": picked(found.prediction_logits, given["at"])}, None
    return transformers.BertForPreTraining(body(case, transformers.BertConfig, type_vocab_size=6, layer_norm_eps=1e-5)), compute


class Pooler(nn.Module):
    """mt_dnn/matcher.py and module/pooler.py: one per task, in front of its linear layer."""

    def __init__(self, width):
        super().__init__()
        self.dense = nn.Linear(width, width)

    def forward(self, first):
        return torch.tanh(self.dense(first))


def pooled(width, classes):
    return nn.Sequential(Pooler(width), nn.Linear(width, classes))


class Answer(nn.Module):
    """module/san.py, without its draws: five turns over the premise from a summary of the hypothesis; probabilities averaged."""

    def __init__(self, width, classes):
        super().__init__()

        def linear(outputs, inputs=width):
            return nn.Linear(inputs, outputs)
        self.query_wsum = nn.ModuleDict({"att": nn.ModuleDict({"linear": linear(1)})})
        self.attn = nn.ModuleDict({"score_func": nn.ModuleDict({"linear": linear(width)})})
        self.rnn = nn.GRUCell(width, width)
        self.classifier = nn.ModuleDict({"proj": linear(classes, 4 * width)})

    def forward(self, h, premise, hypothesis):
        def summed(scores, seen):
            return (scores.masked_fill(~seen, -math.inf).softmax(1)[..., None] * h).sum(1)
        s, turns = summed(self.query_wsum["att"]["linear"](h)[..., 0], hypothesis), []
        for _ in range(5):
            x = summed((h @ self.attn["score_func"]["linear"](s)[..., None])[..., 0], premise)
            turns.append(self.classifier["proj"](torch.cat((x, s, (x - s).abs(), x * s), 1)).softmax(1))
            s = self.rnn(x, s)
        return torch.stack(turns).mean(0).log()


class MTDNN(nn.Module):
    def __init__(self, config, san):
        super().__init__()
        self.bert = transformers.BertModel(config, add_pooling_layer=False)
        made = {str(place): pooled(config.hidden_size, classes) for place, classes in enumerate((2, 1, 3, 1))}
        self.scoring_list = nn.ModuleDict(made)
        if san:
            self.scoring_list["2"] = Answer(config.hidden_size, 3)

    def encoded(self, ids, seg, length):
        return self.bert(ids, sees({"ids": ids, "len": length}), seg).last_hidden_state


def mtdnn_plain(case):
    """As the released task definitions have it: `enable_san` is false, pairs have the head of single sentences."""
    def compute(module, given, _):
        first = module.encoded(given["ids"], given["seg"], given["len"])[:, 0]
        pair = module.scoring_list["2"](first)
        loss = F.cross_entropy(module.scoring_list["0"](first), given["accept"]) + F.cross_entropy(pair, given["entail"])
        return loss, {"entails": pair}, None
    made = MTDNN(body(case, transformers.BertConfig), san=False)
    del made.scoring_list["1"], made.scoring_list["3"]
    return made, compute


def mtdnn(case):
    def compute(module, given, _):
        h = module.encoded(given["ids"], given["seg"], given["len"])
        first, there = h[:, 0], sees(given) > 0
        many = module.encoded(given["many"].flatten(0, 1), given["many_seg"].flatten(0, 1), given["many_len"].flatten())[:, 0]
        found = {"acceptable": module.scoring_list["0"](first), "similar": module.scoring_list["1"](first)[:, 0],
                 "entails": module.scoring_list["2"](h, there & (given["seg"] == 0), there & (given["seg"] == 1)),
                 "ranks": module.scoring_list["3"](many).view(given["many_len"].shape)}
        loss = (F.cross_entropy(found["acceptable"], given["accept"]) + F.mse_loss(found["similar"], given["score"])
                + F.cross_entropy(found["ranks"], given["best"]) + F.cross_entropy(found["entails"], given["entail"]))
        return loss, found, None
    return MTDNN(body(case, transformers.BertConfig), san=True), compute


def electra(case, kind, **more):
    """`embedding_size` is that of both sides' tables."""
    return kind(body(case, transformers.ElectraConfig, embedding_size=case.configs["X"], layer_norm_eps=1e-12, **more))


def electra_classify(case):
    def compute(module, given, _):
        found = asked(module, given, labels=given["label"])
        return found.loss, {"classes": found.logits}, None
    return electra(case, transformers.ElectraForSequenceClassification, num_labels=3), compute


def electra_generator(case):
    """What stood at the drawn places, from the text that lacks it; google-research adds 1e-6 to the sum of weights."""
    def compute(module, given, _):
        found = module(input_ids=given["masked"], token_type_ids=given["seg"], attention_mask=sees(given))
        logits = picked(found.logits, given["at"])
        words = given["ids"].gather(1, given["at"])
        each = F.cross_entropy(logits.flatten(0, 1), words.flatten(), reduction="none") * given["weight"].flatten()
        return each.sum() / (given["weight"].sum() + 1e-6), {"filled": logits}, None
    side = dataclasses.replace(case, configs=case.configs | {"D": case.configs["Q"], "N": case.configs["NG"]})
    return electra(side, transformers.ElectraForMaskedLM), compute


class Electra(nn.Module):
    """Generator and discriminator with one module of tables, under the names of the discriminator's file and Tenon's own."""

    def __init__(self, generator, discriminator):
        super().__init__()
        generator.electra.embeddings = discriminator.electra.embeddings
        generator.generator_lm_head.weight = discriminator.electra.embeddings.word_embeddings.weight
        self.sides = (generator, discriminator)  # no submodules: parameters have the names that follow
        self.electra, self.discriminator_predictions = discriminator.electra, discriminator.discriminator_predictions
        self.generator, self.generator_head = generator.electra, nn.Module()
        self.generator_head.bias = generator.generator_lm_head.bias
        self.generator_head.dense = generator.generator_predictions.dense
        self.generator_head.norm = generator.generator_predictions.LayerNorm

    def draw(self, logits, step):
        """The tokens that Tenon draws; none may be so near that f32 draws another."""
        rows, width = logits.flatten(0, 1).shape
        sums = logits.detach().flatten(0, 1) + torch.tensor(draws.noise(draws.site("random6"), step, rows, width))
        best = sums.topk(2).values
        assert (best[:, 0] - best[:, 1]).min() > 1e-3
        return sums.argmax(1).view(logits.shape[:-1])

    def forward(self, given, step):
        generator, discriminator = self.sides
        found = generator(input_ids=given["masked"], token_type_ids=given["seg"], attention_mask=sees(given)).logits
        logits, words, fake = picked(found, given["at"]), given["ids"].gather(1, given["at"]), given["ids"].clone()
        for b, row in enumerate(self.draw(logits, step).tolist()):
            for k, token in enumerate(row):
                if given["weight"][b, k] > 0:
                    fake[b, given["at"][b, k]] = token
        suspicion = discriminator(input_ids=fake, token_type_ids=given["seg"], attention_mask=sees(given)).logits
        each = F.cross_entropy(logits.flatten(0, 1), words.flatten(), reduction="none") * given["weight"].flatten()
        seen = F.binary_cross_entropy_with_logits(suspicion, (fake != given["ids"]).double(), reduction="none") * sees(given)
        return each.sum() / (given["weight"].sum() + 1e-6), seen.sum() / (sees(given).sum() + 1e-6), logits


def electra_joint(case):
    def compute(module, given, step):
        mlm, rtd, logits = module(given, step or 0)
        found = asked(module.sides[1], given, output_hidden_states=True)
        return mlm + 50 * rtd, {"filled": logits, "h": found.hidden_states[-1], "verdict": found.logits}, (step or 0) + 1
    side = dataclasses.replace(case, configs=case.configs | {"D": case.configs["Q"], "N": case.configs["NG"]})
    return Electra(electra(side, transformers.ElectraForMaskedLM), electra(case, transformers.ElectraForPreTraining)), compute


BERT = transformers.BertConfig
MODELS = {
    "bert": pretraining(transformers.BertForPreTraining, BERT, "bert"),
    "roberta": roberta, "roberta_classify": roberta_classify, "roberta_regress": roberta_regress,
    "roberta_span": roberta_heads(transformers.RobertaForQuestionAnswering, span),
    "roberta_tag": roberta_heads(transformers.RobertaForTokenClassification, tag, num_labels=9),
    "roberta_choice": roberta_heads(transformers.RobertaForMultipleChoice, classify), "ernie2": ernie2,
    "ernie1": pretraining(transformers.ErnieForPreTraining, transformers.ErnieConfig, "ernie", least=1, label="label",
                          hidden_act="relu", layer_norm_eps=1e-5),
    "nezha": pretraining(modeling_nezha.NezhaForPreTraining, transformers.NezhaConfig, "nezha", max_relative_position=9,
                         layer_norm_eps=1e-12),
    "bert_classify": heads(transformers.BertForSequenceClassification, classify, num_labels=3),
    "bert_regress": heads(transformers.BertForSequenceClassification, regress, num_labels=1),
    "bert_span": heads(transformers.BertForQuestionAnswering, span),
    "bert_tag": heads(transformers.BertForTokenClassification, tag, num_labels=9),
    "bert_choice": heads(transformers.BertForMultipleChoice, classify),
    "electra_classify": electra_classify, "electra_generator": electra_generator, "electra": electra_joint, "unilm": unilm,
    "mtdnn": mtdnn, "mtdnn_plain": mtdnn_plain}
