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
