"""Golden cases of BERT and the encoders that import it."""
import re

import weights
from case import SIZES, flat
import driver
from tensors import tensor

BODY = "Block(F = 32, act = {}, Attention = SelfAttention(E = 8))"


def bert(case):
    v, spec = case.values, driver.model("bert.tn")
    case.weights(weights.bert_names(30, 16, 32, 2, 12))
    sets = SIZES | {"L": 12, "E": 8, "act": {"gelu": "gelu", "gelu_new": "gelu_tanh"}[v["config"]["hidden_act"]]}
    text = {"ids": case.ids(v["input_ids"]), "seg": tensor("i32", v["token_type_ids"]), "len": tensor("i32", [6])}
    places = [k for k, label in enumerate(v["labels"][0]) if label >= 0]
    found = case.run(spec, sets, text, ["h", "pooled"], "--entry", "infer")
    case.same("hidden", list(found["h"].values)[:6 * 16], flat(v["last_hidden_state"]))
    case.same("pooled", list(found["pooled"].values), flat(v["pooler_output"]))
    asked = text | {"at": tensor("i32", [places])}
    found = case.run(spec, sets, asked, ["logits", "next_logits"], "--entry", "fill")
    case.same("logits", found["logits"].row(0, 0), v["prediction_logits_pos1"])
    case.same("next sentence", list(found["next_logits"].values), flat(v["seq_relationship_logits"]))
    words = [v["labels"][0][k] for k in places]
    asked |= {"word": tensor("i32", [words]), "weight": tensor("f64" if case.options.f64 else "f32", [[1] * len(words)]),
              "follows": tensor("i32", v["next_sentence_label"])}
    # The specification's loss has google-research's 1e-5 in the denominator, the public class has not.
    case.same("loss", [case.loss(spec, sets, asked, ["mlm", "nsp"])], [v["loss"]], 5e-5)


def nezha(case):
    """Relative positions, clipped, in scores and values."""
    v, spec = case.values, driver.model("nezha.tn")
    names = {re.sub("^bert", "nezha", name): shape for name, shape in weights.bert_names(30, 16, 32, 2, 12).items()}
    case.weights({name: shape for name, shape in names.items() if "position_embeddings" not in name})
    sets = {"V": 30, "D": 16, "N": 2, "Body": "Block(F = 32, Attention = RelativeAttention(E = 8, W = 3))"}
    text = {"ids": case.ids(v["input_ids"]), "seg": tensor("i32", v["token_type_ids"]), "len": tensor("i32", [6])}
    found = case.run(spec, sets, text, ["h", "pooled"], "--entry", "infer")
    case.same("hidden", list(found["h"].values)[:6 * 16], flat(v["last_hidden_state"]))
    case.same("pooled", list(found["pooled"].values), flat(v["pooler_output"]))


def renamed(prefix, positions, types, more):
    """BERT's names below another prefix, without its heads."""
    names = {re.sub("^bert", prefix, name): shape for name, shape in weights.bert_names(30, 16, 32, 2, positions).items()
             if not name.startswith("cls.")}
    names[prefix + ".embeddings.token_type_embeddings.weight"] = (types, 16)
    return names | more


def roberta(case):
    v, spec = case.values, driver.model("roberta.tn")
    head = weights.linear("lm_head.dense", 16, 16) | weights.norm("lm_head.layer_norm", 16) | {"lm_head.bias": (30,)}
    names = renamed("roberta", 14, 1, head)
    case.weights({name: shape for name, shape in names.items() if "pooler" not in name})
    sets = {"V": 30, "D": 16, "N": 2, "L": 14, "Body": BODY.format("gelu")}
    found = case.run(spec, sets, {"ids": case.ids(v["input_ids"])}, ["h"], "--entry", "infer")
    case.same("hidden", list(found["h"].values)[:5 * 16], flat(v["last_hidden_state"]))
    asked = {"ids": case.ids(v["input_ids"]), "at": tensor("i32", [[1]])}
    found = case.run(spec, sets, asked, ["logits"], "--entry", "fill")
    case.same("logits", found["logits"].row(0, 0), v["logits_pos1"])


def ernie(case):
    v, spec = case.values, driver.model("ernie2.tn")
    case.weights(renamed("ernie", 12, 4, {"ernie.embeddings.task_type_embeddings.weight": (3, 16)}))
    sets = {"V": 30, "D": 16, "N": 2, "L": 12, "G": 4, "J": 3, "Body": BODY.format("relu")}
    text = {"ids": case.ids(v["input_ids"]), "seg": tensor("i32", v["token_type_ids"]), "len": tensor("i32", [6]),
            "task": tensor("i32", [2])}
    found = case.run(spec, sets, text, ["h", "pooled"], "--entry", "infer")
    case.same("hidden", list(found["h"].values)[:6 * 16], flat(v["last_hidden_state"]))
    case.same("pooled", list(found["pooled"].values), flat(v["pooler_output"]))


def unilm(case):
    """The mask of sequence to sequence: source 4 of 7 places."""
    v, spec = case.values, driver.model("unilm.tn")
    case.weights({name: shape for name, shape in renamed("bert", 12, 6, {}).items() if "pooler" not in name})
    sets = {"V": 30, "D": 16, "N": 2, "L": 12, "Body": BODY.format("gelu")}
    text = {"ids": case.ids(v["input_ids"]), "seg": tensor("i32", v["token_type_ids"]), "len": tensor("i32", [7]),
            "place": tensor("i32", [list(range(8))]), "task": tensor("i32", [3]), "prefix": tensor("i32", [4])}
    found = case.run(spec, sets, text, ["h"], "--entry", "infer")
    case.same("hidden", list(found["h"].values)[:7 * 16], flat(v["last_hidden_state"]))


CASES = {"bert_gelu": bert, "bert_gelu_new": bert, "roberta": roberta, "ernie": ernie, "nezha": nezha, "unilm_s2s": unilm}
