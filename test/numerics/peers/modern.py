"""Cases of today's families: Llama, ALiBi, T5, ViT, a mixture of experts, a selective state-space model."""
from cases import case
from formulas import numbers, reals

B, T, V = 3, 37, 67


def text(step):
    return {"ids": numbers(1, step, V, B, T), "target": numbers(2, step, V, B, T)}


NEXT = {"names": "hf", "dims": {"B": B, "T": T}, "loss": "lm", "inputs": text, "outputs": {"infer": ["logits"]}, "rate": 0.2}
case("llama", **NEXT, spec="llama.tn", model="Llama", configs={"V": V, "D": 80, "E": 20, "K": 2, "F": 100, "N": 2, "L": 41})
case("llama_tied", **NEXT, spec="llama.tn", model="Llama",
     configs={"V": V, "D": 40, "E": 20, "F": 100, "N": 2, "L": 41, "theta": 500.0, "eps": 1e-6, "tied": True})
case("alibi", **NEXT, spec="alibi.tn", model="MPT", configs={"V": V, "D": 80, "H": 4, "F": 320, "N": 2})


def pictures(step):
    return {"image": reals(1, step, B, 3, 20, 30), "label": numbers(2, step, 7, B)}


case("vit", spec="vit.tn", model="ViT", names="hf", dims={"B": B}, loss="ce", inputs=pictures, rate=0.05,
     configs={"C": 3, "Y": 20, "X": 30, "P": 5, "D": 72, "E": 24, "F": 100, "N": 2, "K": 7},
     outputs={"infer": ["logits"], "encode": ["h"]})


def translated(step):
    """Label 0 is padding; the source is longer than the first bucket limits."""
    label = [[x if t < n else 0 for t, x in enumerate(row)] for row, n in zip(numbers(3, step, V, B, 33), (33, 11, 27))]
    return {"src": numbers(1, step, V, B, 37), "src_len": [37, 7, 26], "tgt": [[0, *row[:-1]] for row in label], "label": label}


PAIRS = {"spec": "t5.tn", "model": "T5", "names": "hf", "dims": {"B": B, "S": 37, "T": 33}, "loss": "nll", "inputs": translated,
         "outputs": {"infer": ["logits"], "encode": ["memory"]}}
WIDTHS = {"V": V, "D": 40, "H": 2, "E": 24, "F": 100, "N": 2, "rate": 0.0}
case("t5", **PAIRS, configs=WIDTHS, rate=0.05)
case("t5_gated", **PAIRS, configs=WIDTHS | {"Feed": "Gated", "tied": False}, rate=1e-3, adam=True)
case("moe", names="hf", dims={"B": B, "T": 21}, loss="lm + 0.02 * balance", rate=0.1, spec="moe.tn", model="MoE",
     inputs=lambda step: {"ids": numbers(1, step, V, B, 21), "target": numbers(2, step, V, B, 21)}, outputs={"infer": ["logits"]},
     configs={"V": V, "D": 80, "E": 20, "K": 2, "F": 56, "N": 2, "X": 5, "L": 41})
case("mamba", **NEXT, spec="mamba.tn", model="Mamba", configs={"V": V, "D": 40, "I": 72, "Z": 6, "R": 5, "N": 2})
