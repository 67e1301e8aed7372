"""Golden cases of ELECTRA's two sides, each published as a file of its own: names `hf` and `hf_generator`."""
import os

import weights
import driver  # test/support, which weights.py has put in the path
from tensors import tensor

SETS = {"V": 30, "X": 8, "D": 16, "Q": 16, "N": 2, "NG": 2, "L": 12, "Layer": "Block(F = 32, Attention = SelfAttention(E = 8))"}


def body(at, X, D, F, N):
    names = weights.linear(at + "embeddings_project", X, D)
    for n in range(N):
        layer = f"{at}encoder.layer.{n}."
        for part in ("query", "key", "value"):
            names.update(weights.linear(layer + "attention.self." + part, D, D))
        names.update(weights.linear(layer + "attention.output.dense", D, D))
        names.update(weights.norm(layer + "attention.output.LayerNorm", D))
        names.update(weights.linear(layer + "intermediate.dense", D, F) | weights.linear(layer + "output.dense", F, D))
        names.update(weights.norm(layer + "output.LayerNorm", D))
    return names


def embeddings(V, X, L):
    at = "electra.embeddings."
    return {at + "word_embeddings.weight": (V, X), at + "position_embeddings.weight": (L, X),
            at + "token_type_embeddings.weight": (2, X), **weights.norm(at + "LayerNorm", X)}


def given_labels(case):
    """The model with labels that are given: the published class knows no generator."""
    with open(driver.model("electra.tn"), encoding="utf-8") as file:
        text = file.read()
    for old, new in (("let    replaced = fake != ids", "in     replaced: bool[B, T]"),
                     ("let    suspicion = detect(read(fake))", "let    suspicion = detect(read(ids))")):
        if text.count(old) != 1:
            raise SystemExit(f"electra.tn has no line `{old}`")
        text = text.replace(old, new)
    path = os.path.join(case.folder, "labelled.tn")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def electra(case):
    v = case.values
    text = {"seg": tensor("i32", v["token_type_ids"]), "len": tensor("i32", [6])}
    if case.options.case == "electra_disc":
        names = embeddings(30, 8, 12) | body("electra.", 8, 16, 32, 2)
        names |= weights.linear("discriminator_predictions.dense", 16, 16)
        names |= weights.linear("discriminator_predictions.dense_prediction", 16, 1)
        case.weights(names)
        text["ids"] = case.ids(v["input_ids"])
        found = case.run(driver.model("electra.tn"), SETS, text, ["verdict"], "--entry", "infer")
        case.same("logits", list(found["verdict"].values)[:6], v["logits"][0])
        text |= {"replaced": tensor("bool", v["labels"]), "masked": text["ids"], "at": tensor("i32", [[1]]),
                 "weight": tensor(case.kind(), [[1]])}
        # The generator has no part in this loss, and the published file has none.
        case.same("loss", [case.loss(given_labels(case), SETS, text, ["rtd"], "--partial")], [v["loss"]], 1e-6)
    else:
        names = embeddings(30, 8, 12) | body("electra.", 8, 16, 32, 2)
        names |= weights.linear("generator_predictions.dense", 16, 8) | weights.norm("generator_predictions.LayerNorm", 8)
        case.weights(names | {"generator_lm_head.bias": (30,)})
        text |= {"masked": case.ids(v["input_ids"]), "at": tensor("i32", [[1]])}
        case.scheme = "hf_generator"
        found = case.run(driver.model("electra.tn"), SETS, text, ["filled"], "--entry", "fill")
        case.same("logits", list(found["filled"].values), v["logits_pos1"])


CASES = {"electra_disc": electra, "electra_gen": electra}
