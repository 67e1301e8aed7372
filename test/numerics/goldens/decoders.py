"""Golden cases of language models: GPT-1, GPT-2, Transformer-XL, XLNet."""
import math
import os

import weights
from case import HERE, SIZES, flat
import driver
from tensors import tensor


def gpt1(case):
    v, spec = case.values, driver.model("gpt1.tn")
    names = {name.replace("wte", "tokens_embed").replace("wpe", "positions_embed"): shape
             for name, shape in weights.gpt2_names(30, 16, 64, 2, 12).items() if "ln_f" not in name}
    case.weights(names)
    sets = ["--model", "GPT1"]
    text = {"ids": case.ids(v["input_ids"])}
    sizes = SIZES | {"L": 12, "E": 8, "F": 64}
    found = case.run(spec, sizes, text, ["logits"], "--entry", "infer", *sets)
    case.same("logits", found["logits"].row(0, 5), v["logits_last"])
    case.same("loss", [case.loss(spec, sizes, text, ["lm"], *sets)], [v["loss"]])


def gpt2(case):
    v, spec, sets = case.values, driver.model("gpt2.tn"), SIZES | {"L": 12, "E": 8, "F": 64}
    case.weights(weights.gpt2_names(30, 16, 64, 2, 12))
    text = {"ids": case.ids(v["input_ids"])}
    case.same("logits", case.run(spec, sets, text, ["logits"], "--entry", "infer")["logits"].row(0, 5), v["logits_last"])
    case.same("loss", [case.loss(spec, sets, text, ["lm"])], [v["loss"]])


def two_segments(case, spec, inputs, output, sets):
    """The states of the first call go into the second one."""
    kept = os.path.join(case.folder, "states.safetensors")
    first = case.run(spec, sets, inputs[0], [output], "--entry", "infer", "--save-states", kept)
    second = case.run(spec, sets, inputs[1], [output], "--entry", "infer", "--states", kept)
    return first[output], second[output]


def transformer_xl(case):
    v, spec = case.values, driver.model("transformer_xl.tn")
    case.weights(weights.transformer_xl_names(30, 16, 2, 32, 2))
    sets = SIZES | {"H": 2, "M": 4}
    texts = [{"ids": case.ids(v[f"segment{n}"])} for n in (1, 2)]
    first, second = two_segments(case, spec, texts, "logits", sets)
    case.same("log-probabilities of segment 1", log_softmax(first.row(0, 4)), v["logprobs1_last"], 1e-5)
    rows = [x for t in range(4) for x in log_softmax(second.row(0, t))]
    case.same("log-probabilities of segment 2", rows, flat(v["logprobs2"]), 1e-5)


def log_softmax(row):
    top = max(row)
    total = math.log(sum(math.exp(x - top) for x in row)) + top
    return [x - total for x in row]


def xlnet_inputs(case, ids, segments, ranks, backward=None):
    """Without segments the entry has no input `seg`."""
    given = {"ids": case.ids(ids), "rank": tensor("i32", ranks), "back": tensor("bool", backward or [0] * len(ids))}
    return given | ({"seg": tensor("i32", segments)} if segments else {})


def xlnet(case):
    v, spec, name = case.values, driver.model("xlnet.tn"), case.options.case
    case.weights(weights.xlnet_names(30, 16, 2, 32, 2))
    sets = SIZES | {"H": 2}
    if name == "xlnet_two_stream":
        places = [row.index(1.0) for row in v["target_mapping"][0]]
        opened = [[[int(x == 0) for x in row] for row in v["perm_mask"][0]]]
        asked = {"ids": case.ids(v["input_ids"]), "seg": tensor("i32", v["token_type_ids"]), "open": tensor("bool", opened),
                 "at": tensor("i32", [places])}
        found = case.run(os.path.join(HERE, "Inputs", "xlnet_two_stream.tn"), sets, asked, ["logits"], "--entry", "fill")
        case.same("logits", list(found["logits"].values), flat(v["logits"]))
    elif name == "xlnet_bi":
        asked = xlnet_inputs(case, v["input_ids"], v["token_type_ids"], [[-1] * 6])
        found = case.run(spec, sets | {"M": 0, "R": 0}, asked, ["h"], "--entry", "infer")
        case.same("hidden", list(found["h"].values), flat(v["last_hidden_state"]))
    elif name == "xlnet_bi_data":
        asked = xlnet_inputs(case, v["input_ids"], None, [[-1] * 4] * 2, [0, 1])
        found = case.run(spec, sets | {"M": 0, "R": 0, "segments": False}, asked, ["h"], "--entry", "infer")
        case.same("hidden", list(found["h"].values), flat(v["last_hidden_state"]))
    elif name == "xlnet_mems":
        asked = [xlnet_inputs(case, v[f"segment{n}"], v[f"token_type_ids{n}"], [[-1] * len(v[f"segment{n}"][0])]) for n in (1, 2)]
        _, second = two_segments(case, spec, asked, "h", sets | {"M": 5, "R": 3})
        case.same("hidden of segment 2", list(second.values), flat(v["last_hidden_state_2"]))
    else:
        texts = [v["segment1"], v["segment2"]]
        asked = [xlnet_inputs(case, ids, None, [list(range(len(ids[0])))]) for ids in texts]
        sets |= {"far": 2, "segments": False, "M": 4, "R": 6}
        _, second = two_segments(case, spec, asked, "h", sets)
        case.same("hidden of segment 2", list(second.values), flat(v["last_hidden_state_2"]))


def adaptive_names(shrink, width, clusters):
    """As transformer_xl_names, with biases of each layer, tables and projections of each cluster."""
    names = {name: shape for name, shape in weights.transformer_xl_names(30, 16, 2, 32, 2).items() if "layers." in name}
    for name in [name for name in names if name.endswith("r_net.weight")]:
        for letter in "wr":
            names[name.replace("r_net.weight", f"r_{letter}_bias")] = (2, 8)
    names.pop("transformer.word_emb.emb_layers.0.weight")
    names.pop("crit.out_layers.0.bias")
    tables = [30] if shrink == 1 else clusters
    for k, rows in enumerate(tables):
        names[f"transformer.word_emb.emb_layers.{k}.weight"] = (rows, width // shrink**k)
        names[f"transformer.word_emb.emb_projs.{k}"] = (16, width // shrink**k)
        names[f"crit.out_layers.{k}.bias"] = (rows,)
    names |= {"crit.cluster_weight": (len(clusters) - 1, width), "crit.cluster_bias": (len(clusters) - 1,)}
    return names | {"crit.out_projs.0": (16, width)}


def adaptive(case):
    """Two segments; the loss of the second one, given as targets, is the mean of its own log-probabilities."""
    v, spec, sizes = case.values, driver.model("transformer_xl_adaptive.tn"), case.values["config"]
    case.weights(adaptive_names(sizes["div_val"], sizes["d_embed"], [5, 7, 18]))
    sets = {"V0": 5, "V1": 7, "V2": 18, "Q": 2, "D": 16, "X": sizes["d_embed"], "shrink": sizes["div_val"], "H": 2, "F": 32,
            "N": 2, "M": sizes["mem_len"], "far": max(sizes["clamp_len"], 0), "same": sizes["same_length"]}
    texts = [{"ids": case.ids(v[f"segment{n}"])} for n in (1, 2)]
    first, second = two_segments(case, spec, texts, "logp", sets)
    case.same("log-probabilities of segment 1", first.row(0, 4), v["logprobs1_last"], 1e-5)
    case.same("log-probabilities of segment 2", list(second.values), flat(v["logprobs2"]), 1e-5)
    target = [3, 7, 1, 9, 22]  # of every cluster
    found = case.loss(spec, sets, texts[0] | {"target": tensor("i32", [target])}, ["nll"])
    case.same("loss of segment 1", [found], [-sum(first.row(0, t)[y] for t, y in enumerate(target)) / 5])


CASES = {"gpt1": gpt1, "gpt2": gpt2, "txl_plain": transformer_xl, "txl_adaptive": adaptive, "txl_div1_cut": adaptive,
         **{"xlnet_" + name: xlnet for name in ("bi", "two_stream", "mems", "uni_clamp", "bi_data")}}
