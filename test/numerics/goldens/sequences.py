"""Golden cases whose inputs are real numbers: recurrent networks, encoder-decoder, stochastic answers.

Those numbers are the rows of an embedding table here.
"""
import math
import os
import shutil

import weights
from case import HERE, flat
import driver
from tensors import Tensor, tensor


def rows(function, step, count, width):
    """function(step k), row-major."""
    return Tensor("f64", (count, width), [function(step * k) for k in range(count * width)])


def order(values, outer, inner):
    """[outer][inner] of lists to [inner][outer]."""
    return [values[a][b] for b in range(inner) for a in range(outer)]


def recurrent(case):
    v, config = case.values, case.values["config"]
    name = {"rnn": ("rnn", "TagRNN"), "lstm": ("lstm", "TagLSTM"), "gru": ("gru", "ClassifyGRU")}[case.options.case.split("_")[0]]
    spec, layers = driver.model(name[0] + ".tn"), config["num_layers"]
    gates, names = {"rnn": 1, "lstm": 4, "gru": 3}[name[0]], {}
    for layer in range(layers):
        for way in ("", "_reverse"):
            at = f"_l{layer}{way}"
            names |= {"weight_ih" + at: (4 * gates, 8 if layer else 3), "weight_hh" + at: (4 * gates, 4),
                      "bias_ih" + at: (4 * gates,), "bias_hh" + at: (4 * gates,)}
    case.scheme = "torch"
    table = {"emb": rows(math.sin, 0.11, 10, 3)}  # time-major: place t of row b is 2 t + b
    text = {"ids": case.ids([[2 * t + b for t in range(5)] for b in range(2)]),
            "len": tensor("i32", [5, 3] if "packed" in case.options.case else [5, 5])}
    last, cell = "h" if name[0] == "lstm" else "last", ["c"] if name[0] == "lstm" else []
    for depth in range(1, layers + 1):  # the model gives the states of its top layer: those below are such of fewer layers
        case.weights({key: shape for key, shape in names.items() if int(key.split("_l")[1][0]) < depth}, table)
        sets = {"V": 10, "X": 3, "C": 4, "N": depth}
        found = case.run(spec, sets, text, ["y", last, *cell], "--model", name[1], "--entry", "encode")
        if depth == layers:
            case.same("outputs", list(found["y"].values), flat(order(v["output"], 5, 2)))
        for output, states in zip([last, *cell], ("h_n", "c_n")):
            expected = v[states][2 * depth - 2:2 * depth]
            case.same(f"final states of layer {depth}: {output}", list(found[output].values), flat(order(expected, 2, 2)))


def transformer(case):
    """The rows of the table undo scale and positions; eight more, the identity, show the decoder's result in the logits."""
    v, spec = case.values, driver.model("transformer.tn")
    D, S, T = 8, 4, 3
    names = {}
    for side, layers in (("encoder", ["self_attn"]), ("decoder", ["self_attn", "multihead_attn"])):
        for n in range(2):
            at = f"{side}.{n}."
            for attention in layers:
                names |= {f"{at}{attention}.in_proj_weight": (3 * D, D), f"{at}{attention}.in_proj_bias": (3 * D,)}
                names |= weights.linear(f"{at}{attention}.out_proj", D, D)
            names |= weights.linear(at + "linear1", D, 16) | weights.linear(at + "linear2", 16, D)
            for norm in range(1, len(layers) + 2):
                names |= weights.norm(f"{at}norm{norm}", D)
    wave = lambda place, k: (math.sin if k % 2 == 0 else math.cos)(place / 10000 ** (k // 2 * 2 / D))  # noqa: E731
    table = []
    for function, step, count in ((math.sin, 0.11, S), (math.cos, 0.13, T)):
        for place in range(count):
            table += [(function(step * (place * D + k)) - wave(place, k)) / math.sqrt(D) for k in range(D)]
    table += [float(a == b) for a in range(D) for b in range(D)]
    case.scheme = "torch"
    case.weights(names, {"emb": Tensor("f64", (S + T + D, D), table)})
    sets = {"V": S + T + D, "D": D, "F": 16, "H": 2, "N": 2, "eps": 1e-5, "Dense": "Linear"}
    text = {"src": case.ids([[0, 1, 2, 3]]), "src_len": tensor("i32", [3])}
    found = case.run(spec, sets, text, ["memory"], "--entry", "encode")
    case.same("encoder", list(found["memory"].values)[:3 * D], flat(v["encoder_out"]))
    found = case.run(spec, sets, text | {"tgt": tensor("i32", [[4, 5, 6]])}, ["logits"], "--entry", "infer")
    case.same("decoder", [x for t in range(T) for x in found["logits"].row(0, t)[S + T:]], flat(v["decoder_out"]))


def answers(case):
    """MT-DNN's answer module alone: Inputs/san.tn imports it, from its own folder."""
    v = case.values
    for path in (driver.model("mtdnn.tn"), driver.model("bert.tn"), os.path.join(HERE, "Inputs", "san.tn")):
        shutil.copy(path, case.folder)
    case.scheme = "authors"
    case.weights({name: tuple(shape) for name, shape in v["param_names"] if name != "alpha"})
    both = list(rows(math.sin, 0.11, 4, 8).values) + list(rows(math.cos, 0.13, 3, 8).values)
    given = {"x": Tensor(case.kind(), (1, 7, 8), both), "premise": tensor("bool", [[1, 1, 1, 1, 0, 0, 0]]),
             "hypothesis": tensor("bool", [[0, 0, 0, 0, 1, 1, 0]])}
    found = case.run(os.path.join(case.folder, "san.tn"), {}, given, ["answer"], "--entry", "infer")
    case.same("log-probabilities", list(found["answer"].values), flat(v["log_prob"]))


def star(case):
    """Satellites and relay after two layers; the projection of the words is the identity."""
    v, D, places = case.values, 8, 5
    names = {"pos_emb.weight": (10, D)}
    for n in range(2):
        names |= weights.norm(f"norm.{n}", D)
        for part in ("ring_att", "star_att"):
            for matrix in ("WQ", "WK", "WV", "WO"):
                names |= weights.linear(f"{part}.{n}.{matrix}", D, D)
    identity = Tensor("f64", (D, D), [float(k % (D + 1) == 0) for k in range(D * D)])
    case.scheme = "fastnlp"
    case.weights(names, {"word": rows(math.sin, 0.11, places, D), "emb_fc.weight": identity,
                         "emb_fc.bias": Tensor("f64", (D,), [0.0] * D)})
    sets = {"V": places, "X": D, "D": D, "N": 2, "L": 10, "H": 2, "E": 4, "rate": 0}
    text = {"ids": case.ids([list(range(places))]), "len": tensor("i32", [sum(v["mask"][0])])}
    found = case.run(driver.model("star_transformer.tn"), sets, text, ["h", "relay"], "--entry", "encoded", "--partial")
    case.same("satellites", list(found["h"].values), flat(v["nodes"]))
    case.same("relay", list(found["relay"].values), flat(v["relay"]))


CASES = {"star_transformer": star, "rnn_tanh": recurrent, "lstm": recurrent, "gru": recurrent, "lstm_packed_bi": recurrent,
         "transformer_post_ln_encdec": transformer, "mtdnn_san": answers}
