"""Public implementations of language models: GPT-1, GPT-2, Transformer-XL, XLNet."""
import torch
import transformers
from torch.nn import functional as F
from transformers.models.deprecated.transfo_xl import TransfoXLConfig, TransfoXLLMHeadModel


def sizes(case):
    return {**case.dims, **case.configs}


def gpt_config(case, config, **more):
    at = sizes(case)
    return config(vocab_size=at["V"], n_positions=at["L"], n_embd=at["D"], n_layer=at["N"], n_head=at["D"] // at["E"],
                  embd_pdrop=0, resid_pdrop=0, attn_pdrop=0, summary_first_dropout=0, **more)


def gpt(kind, config, **more):
    def build(case):
        def compute(module, given, _):
            found = module(input_ids=given["ids"], labels=given["ids"])
            return found.loss, {"logits": found.logits}, None
        return kind(gpt_config(case, config, **more)), compute
    return build


class Classifier(transformers.OpenAIGPTLMHeadModel):
    """With a linear layer for classes (OpenAI's train.py, `clf`)."""

    def __init__(self, config, classes):
        super().__init__(config)
        self.classifier = torch.nn.Linear(config.n_embd, classes)


def gpt1_classify(case):
    """The states of the extract tokens of both orders are added; the language model counts the places of a text alone."""
    def compute(module, given, _):
        ids, length = given["ids"].flatten(0, 1), given["len"].flatten()
        found = module(input_ids=ids, output_hidden_states=True)
        last = found.hidden_states[-1][torch.arange(len(ids)), given["at"].flatten()].view(*given["at"].shape, -1)
        classes = module.classifier(last.sum(1))
        each = F.cross_entropy(found.logits[:, :-1].mT, ids[:, 1:], reduction="none")
        there = (torch.arange(1, ids.shape[1]) < length[:, None]).double()
        spoken = ((each * there).sum(1) / there.sum(1)).mean()
        return F.cross_entropy(classes, given["label"]) + 0.5 * spoken, {"classes": classes}, None
    return Classifier(gpt_config(case, transformers.OpenAIGPTConfig), case.configs["C"]), compute


def gpt1_tasks(case):
    def compute(module, given, _):
        found = module(input_ids=given["ids"], mc_token_ids=given["at"], labels=given["ids"], mc_labels=given["answer"])
        return found.mc_loss + 0.5 * found.loss, {"logits": found.logits, "choice": found.mc_logits}, None
    return transformers.OpenAIGPTDoubleHeadsModel(gpt_config(case, transformers.OpenAIGPTConfig)), compute


def transformer_xl(case):
    at = sizes(case)
    cutoffs = [at["V0"], at["V0"] + at["V1"]] if "V0" in at else []
    made = TransfoXLConfig(
        vocab_size=cutoffs[-1] + at["V2"] if cutoffs else at["V"], cutoffs=cutoffs, d_model=at["D"], d_embed=at.get("X", at["D"]),
        n_head=at["H"], d_head=at["D"] // at["H"], d_inner=at["F"], div_val=at.get("shrink", 1), n_layer=at["N"], mem_len=at["M"],
        clamp_len=at.get("far", 0) or -1, same_length=at.get("same", False), dropout=0, dropatt=0,
        untie_r=bool(cutoffs) or not at.get("tied", True))

    def compute(module, given, kept):
        found = module(input_ids=given["ids"], mems=kept)
        loss = -found.logits.gather(2, given["target"][..., None]).mean()
        if cutoffs:
            return loss, {"logp": found.logits}, found.mems
        table, bias = module.crit.out_layers[0].weight, module.crit.out_layers[0].bias  # the class gives log-probabilities alone
        return loss, {"logits": F.linear(module.transformer(given["ids"], kept).last_hidden_state, table, bias)}, found.mems
    return TransfoXLLMHeadModel(made), compute


def xlnet_config(case, **more):
    at = sizes(case)
    return transformers.XLNetConfig(
        vocab_size=at["V"], d_model=at["D"], n_layer=at["N"], n_head=at["H"], d_inner=at["F"], dropout=0, summary_last_dropout=0,
        mem_len=at.get("M") or None, reuse_len=at.get("R") or None, clamp_len=at.get("far", 0) or -1, **more)


def xlnet(case):
    config = xlnet_config(case, bi_data=any(case.inputs(0)["back"]))

    def compute(module, given, kept):
        rank, at = given["rank"], given["at"]
        hidden = ~((rank[:, None] < rank[:, :, None]) | (rank[:, None] == -1) & (rank[:, :, None] == -1))
        found = module(input_ids=given["ids"], token_type_ids=given["seg"], perm_mask=hidden.double(), mems=kept, use_mems=True,
                       target_mapping=F.one_hot(at, rank.shape[1]).double(), output_hidden_states=True)
        content = found.hidden_states[-2]  # content and query stream of each layer, in turn
        return (F.cross_entropy(found.logits.flatten(0, 1), given["word"].flatten()),
                {"h": content, "logits": found.logits}, found.mems)
    return transformers.XLNetLMHeadModel(config), compute


def xlnet_tied(case):
    """`untie_r` false: layers share their biases. The public code has the setting for TensorFlow's files alone; here each layer
    is given the first one's parameters, under the names of those files."""
    made, compute = xlnet(case)
    layers = made.transformer.layer
    for name in ("r_w_bias", "r_r_bias", "r_s_bias"):
        made.transformer.register_parameter(name, getattr(layers[0].rel_attn, name))
        for layer in layers:
            setattr(layer.rel_attn, name, getattr(made.transformer, name))
    return made, compute


def xlnet_classify(case):
    def compute(module, given, _):
        found = module(input_ids=given["ids"], token_type_ids=given["seg"], labels=given["label"])
        return found.loss, {"classes": found.logits}, None
    made = transformers.XLNetForSequenceClassification(xlnet_config(case, num_labels=3))
    del made.transformer.mask_emb  # of the query stream
    return made, compute


def xlnet_span(case):
    """Asked without labels it gives the 5 best first places, and for each the 5 best last ones: [B, last, first], flat, and
    probabilities that it calls their logarithms. The authors' code has [B, first, last] and logarithms, which are stored."""
    def compute(module, given, _):
        length = given["ids"].shape[1]
        kinds = given["seg"].where(torch.arange(length) < length - 1, 2)
        given = given | {"there": (torch.arange(length) >= length - given["len"][:, None]).double(),
                         "outside": (~given["allowed"]).double(), "cls": torch.full_like(given["len"], length - 1)}

        def asked(**more):
            return module(given["ids"], token_type_ids=kinds, attention_mask=given["there"], p_mask=given["outside"],
                          cls_index=given["cls"], **more)
        found = asked()
        pairs = (-1, case.configs["Z"], case.configs["A"])
        loss = asked(start_positions=given["start"], end_positions=given["end"], is_impossible=1 - given["inside"]).loss
        return loss, {"first": found.start_top_index.double(), "first_score": found.start_top_log_probs.log(),
                      "last": found.end_top_index.view(pairs).mT.double(),
                      "last_score": found.end_top_log_probs.view(pairs).mT.log(), "none": found.cls_logits}, None
    made = transformers.XLNetForQuestionAnswering(xlnet_config(case, start_n_top=case.configs["A"], end_n_top=case.configs["Z"]))
    del made.transformer.mask_emb  # of the query stream
    return made, compute


MODELS = {"gpt1": gpt(transformers.OpenAIGPTLMHeadModel, transformers.OpenAIGPTConfig), "gpt1_tasks": gpt1_tasks,
          "gpt1_classify": gpt1_classify, "gpt2": gpt(transformers.GPT2LMHeadModel, transformers.GPT2Config),
          "gpt2_by_layer": gpt(transformers.GPT2LMHeadModel, transformers.GPT2Config, scale_attn_by_inverse_layer_idx=True),
          **{name: transformer_xl for name in ("txl", "txl_untied", "txl_adaptive", "txl_one_table")},
          "xlnet": xlnet, "xlnet_both_ways": xlnet, "xlnet_tied": xlnet_tied, "xlnet_classify": xlnet_classify,
          "xlnet_span": xlnet_span}
