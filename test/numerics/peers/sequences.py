"""Cases of recurrent networks, the encoder-decoder Transformer, the Universal Transformer, Star-Transformer."""
from cases import case
from formulas import numbers

B, T, V = 3, 21, 67
LENGTHS = [T, 9, 15]  # of packed sequences
SIZES = {"V": V, "X": 20, "C": 24, "N": 2, "rate": 0.0}


def tagged(step):
    return {"ids": numbers(1, step, V, B, T), "len": LENGTHS, "tag": numbers(2, step, 17, B, T), "label": numbers(3, step, 5, B)}


RECURRENT = {"names": "torch", "dims": {"B": B, "T": T}, "loss": "ce", "inputs": tagged}
case("rnn", **RECURRENT, spec="rnn.tn", model="TagRNN", configs=SIZES, outputs={"infer": ["logits"], "encode": ["y", "last"]})
case("rnn_relu", **RECURRENT, spec="rnn.tn", model="TagRNN", configs=SIZES | {"act": "relu"},
     outputs={"infer": ["logits"], "encode": ["y", "last"]})
case("lstm", **RECURRENT, spec="lstm.tn", model="TagLSTM", configs=SIZES,
     outputs={"infer": ["logits"], "encode": ["y", "h", "c"]})
case("gru", **RECURRENT, spec="gru.tn", model="ClassifyGRU", configs=SIZES | {"K": 5}, rate=0.1,
     outputs={"infer": ["logits"], "encode": ["y", "last"]})
case("gru_reset_before", **RECURRENT, spec="gru.tn", model="ClassifyGRU", rate=0.1,
     configs=SIZES | {"K": 5, "Cell": "ResetBefore"}, outputs={"infer": ["logits"], "encode": ["y", "last"]})
for kind in ("lstm", "rnn", "gru"):
    case(kind + "_lm", spec=kind + ".tn", model=kind.upper() + "LM", names="torch", dims={"B": B, "T": T}, loss="nll",
         configs={"V": V, "C": 40, "N": 2, "rate": 0.0}, outputs={"infer": ["logits"]},
         inputs=lambda step: {"ids": numbers(1, step, V, B, T), "target": numbers(2, step, V, B, T)})


def translated(step):
    """Label 0 is padding."""
    label = [[x if t < n else 0 for t, x in enumerate(row)] for row, n in zip(numbers(3, step, V, B, 17), (17, 11, 14))]
    return {"src": numbers(1, step, V, B, 23), "src_len": [23, 7, 18], "tgt": [[0, *row[:-1]] for row in label], "label": label}


case("transformer", spec="transformer.tn", model="Transformer", names="torch", dims={"B": B, "S": 23, "T": 17}, loss="nll",
     configs={"V": V, "D": 40, "F": 100, "H": 2, "N": 2, "rate": 0.0, "rate_in": 0.0, "Dense": "Linear"}, inputs=translated,
     rate=1e-3, adam=True, outputs={"infer": ["logits"], "encode": ["memory"]})

UNIVERSAL = {"spec": "universal_transformer.tn", "model": "Universal", "names": None, "dims": {"B": B, "S": 23, "T": 17},
             "inputs": translated, "rate": 1e-3, "adam": True}
SHARED = {"V": V, "D": 40, "F": 100, "H": 2, "rate": 0.0}
case("universal", **UNIVERSAL, configs=SHARED | {"A": 8, "act": True}, loss="nll + 0.01 * ponder",
     outputs={"infer": ["logits"], "encode": ["memory", "ns"]})
case("universal_fixed", **UNIVERSAL, configs=SHARED | {"A": 3, "act": False}, loss="nll",
     outputs={"infer": ["logits"]})
case("universal_paper", **UNIVERSAL, configs=SHARED | {"A": 8, "act": True, "signals": '"paper"', "post": True},
     loss="nll + 0.01 * ponder", outputs={"infer": ["logits"], "encode": ["memory", "ns"]})
case("universal_sinusoid", **UNIVERSAL, configs=SHARED | {"A": 3, "act": False, "signals": '"sinusoid"'}, loss="nll",
     outputs={"infer": ["logits"]})
case("universal_sepconv", **UNIVERSAL, configs=SHARED | {"A": 8, "act": True, "transition": '"sepconv"'},
     loss="nll + 0.01 * ponder", outputs={"infer": ["logits"], "encode": ["memory", "ns"]})


def stars(step):
    return {"ids": numbers(1, step, V, B, T), "len": LENGTHS, "label": numbers(2, step, 5, B), "tag": numbers(3, step, 9, B, T)}


STAR = {"spec": "star_transformer.tn", "model": "StarTransformer", "names": "fastnlp", "dims": {"B": B, "T": T}, "inputs": stars,
        "loss": "ce + tagged", "rate": 0.05, "outputs": {"infer": ["classes"], "tagging": ["tags"]}}
POINTS = {"V": V, "X": 28, "D": 40, "F": 56, "N": 2, "L": 29, "H": 2, "E": 24, "rate": 0.0}
case("star_transformer", **STAR, configs=POINTS)
case("star_transformer_closed", **STAR, configs=POINTS | {"closed": True})
