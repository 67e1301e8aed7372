"""Cases of language models: GPT-1, GPT-2, Transformer-XL, XLNet."""
from cases import case
from formulas import numbers

B, T, V = 3, 37, 67
SIZES = {"V": V, "D": 40, "E": 20, "F": 160, "N": 2, "L": 41, "rate": 0.0}


def text(step):
    return {"ids": numbers(1, step, V, B, T)}


case("gpt1", spec="gpt1.tn", model="GPT1", names="hf", dims={"B": B, "T": T}, configs=SIZES, loss="lm", inputs=text,
     outputs={"infer": ["logits"]})
case("gpt2", spec="gpt2.tn", model="GPT2", names="hf", dims={"B": B, "T": T}, configs=SIZES, loss="lm", inputs=text,
     outputs={"infer": ["logits"]})
case("gpt2_by_layer", spec="gpt2.tn", model="GPT2", names="hf", dims={"B": B, "T": T}, configs=SIZES | {"N": 3, "by_layer": True},
     loss="lm", inputs=text, outputs={"infer": ["logits"]})


def tasks(step):
    """A answers of one text; every text is full, so that a mean over texts is the mean over places."""
    return {"ids": numbers(1, step, V, B, 4, T), "len": [[T] * 4] * B, "at": numbers(2, step, T, B, 4),
            "answer": numbers(3, step, 4, B)}


case("gpt1_tasks", spec="gpt1.tn", model="GPT1Tasks", names="hf", dims={"B": B, "T": T}, configs=SIZES | {"A": 4}, rate=0.1,
     loss="pick + 0.5 * lm", inputs=tasks, outputs={"infer": ["logits"], "choose": ["choice"]})


def entailed(step):
    """Two orders of a text, of different lengths; the extract token stands last."""
    lengths = [[T, 19], [23, 30], [11, T]]
    return {"ids": numbers(1, step, V, B, 2, T), "len": lengths, "at": [[n - 1 for n in row] for row in lengths],
            "label": numbers(3, step, 3, B)}


case("gpt1_classify", spec="gpt1.tn", model="GPT1Tasks", names="hf", dims={"B": B, "T": T}, configs=SIZES | {"A": 2, "C": 3},
     rate=0.01, loss="clf + 0.5 * lm", inputs=entailed, outputs={"classify": ["classes"]})

# Memories go on; the segment is shorter than the memory, longer, or as long.
XL = {"D": 40, "H": 2, "F": 100, "N": 2, "rate": 0.0, "rate_att": 0.0}
CLUSTERS = {"V0": 23, "V1": 17, "V2": 27, "Q": 2, "X": 40, "H": 2, "F": 100, "N": 2, "rate": 0.0, "rate_att": 0.0, "D": 40}


def segments(length):
    return lambda step: {"ids": numbers(1, step, V, B, length), "target": numbers(2, step, V, B, length)}


case("txl", spec="transformer_xl.tn", model="TransformerXL", names="hf", dims={"B": B, "T": 19}, rate=0.05,
     configs=XL | {"V": V, "M": 29}, loss="nll", inputs=segments(19), outputs={"infer": ["logits"]})
case("txl_untied", spec="transformer_xl.tn", model="TransformerXL", names="hf", dims={"B": B, "T": 33}, rate=0.05,
     configs=XL | {"V": V, "M": 17, "far": 21, "same": True, "tied": False}, loss="nll", inputs=segments(33),
     outputs={"infer": ["logits"]})
case("txl_adaptive", spec="transformer_xl_adaptive.tn", model="TransformerXL", names="hf", dims={"B": B, "T": 19}, rate=0.05,
     configs=CLUSTERS | {"shrink": 2, "M": 29}, loss="nll", inputs=segments(19), outputs={"infer": ["logp"]})
case("txl_one_table", spec="transformer_xl_adaptive.tn", model="TransformerXL", names="hf", dims={"B": B, "T": 19}, rate=0.05,
     configs=CLUSTERS | {"shrink": 1, "M": 19, "X": 24}, loss="nll", inputs=segments(19), outputs={"infer": ["logp"]})

K = 5


def permuted(length, rows, salt=0):
    """Ranks: -1 for given tokens, and an order of the K others, whose places are predicted."""
    def inputs(step):
        at = [[(3 + b + step + k * 4) % length for k in range(K)] for b in range(rows)]
        rank = [[-1] * length for _ in range(rows)]
        for b, row in enumerate(at):
            for k, place in enumerate(row):
                rank[b][place] = (2 * k + b + step) % K
        return {"ids": numbers(1, step, V, rows, length), "seg": [[int(t > length // 2) for t in range(length)]] * rows,
                "rank": rank, "back": [b >= rows // 2 for b in range(rows)] if salt else [False] * rows, "at": at,
                "word": numbers(4, step, V, rows, K), "weight": [[1.0] * K] * rows, "label": numbers(5, step, 3, rows)}
    return inputs


ORDERS = {"V": V, "D": 40, "H": 2, "F": 100, "N": 2, "rate": 0.0}
case("xlnet", spec="xlnet.tn", model="XLNet", names="hf", dims={"B": B, "T": 21, "K": K}, configs=ORDERS | {"M": 19, "R": 13},
     loss="plm", inputs=permuted(21, B), outputs={"infer": ["h"], "fill": ["logits"]}, rate=0.05)
case("xlnet_both_ways", spec="xlnet.tn", model="XLNet", names="hf", dims={"B": 4, "T": 21, "K": K}, rate=0.05,
     configs=ORDERS | {"M": 17, "R": 9, "far": 11}, loss="plm", inputs=permuted(21, 4, 1), outputs={"fill": ["logits"]})
case("xlnet_tied", spec="xlnet.tn", model="XLNet", names="hf", dims={"B": B, "T": 21, "K": K}, rate=0.05, loss="plm",
     configs=ORDERS | {"M": 19, "R": 13, "tied": True}, inputs=permuted(21, B), outputs={"infer": ["h"], "fill": ["logits"]})


def classified(step):
    return permuted(23, B)(step) | {"rank": [[-1] * 23] * B}


case("xlnet_classify", spec="xlnet.tn", model="XLNet", names="hf", dims={"B": B, "T": 23}, loss="ce",
     configs=ORDERS | {"M": 0, "R": 0, "C": 3}, inputs=classified, outputs={"classify": ["classes"]}, rate=0.02)


def asked(step):
    """Rows with padding in front; texts of 5 to 14 places, then a question, then <cls>. One row has no answer."""
    length, row = 23, {"ids": numbers(1, step, V, B, 23), "len": [23, 17, 12]}
    texts = [(length - n, length - n + t) for n, t in zip(row["len"], (14, 9, 5))]
    none = [(b + step) % 3 == 1 for b in range(B)]
    row["seg"] = [[int(t > end) for t in range(length)] for _, end in texts]
    row["allowed"] = [[begin <= t < end or t == length - 1 for t in range(length)] for begin, end in texts]
    row["start"] = [length - 1 if no else begin + (step + b) % 3 for b, ((begin, _), no) in enumerate(zip(texts, none))]
    row["end"] = [length - 1 if no else end - 1 - step % 2 for (_, end), no in zip(texts, none)]
    return row | {"inside": [float(not no) for no in none]}


case("xlnet_span", spec="xlnet_heads.tn", model="XLNetSpan", names="hf", dims={"B": B, "T": 23}, rate=0.02, inputs=asked,
     loss="span + 0.5 * absent", configs=ORDERS | {"A": 5, "Z": 5},
     outputs={"answer": ["first", "first_score", "last", "last_score", "none"]})
