"""Cases of BERT and the encoders that import it. Lengths differ, so that keys are masked in the middle of a tile."""
from cases import case
from formulas import numbers, places, reals

B, T, K, V, A = 3, 23, 4, 67, 3
LENGTHS = [T, 17, 12]
BODY = "Block(F = 100, act = {}, Attention = {})"
CONTENT = "SelfAttention(E = 24)"
SIZES = {"V": V, "D": 72, "N": 2, "rate": 0.0}
WORDS = {"B": B, "T": T, "K": K}


def text(step, types=2):
    return {"ids": numbers(1, step, V, B, T), "seg": numbers(2, step, types, B, T), "len": LENGTHS}


def predicted(step):
    """Places to predict, a weight 0 among them."""
    weight = [[float((b + k + step) % 5 > 0) for k in range(K)] for b in range(B)]
    return {"at": places(3, step, LENGTHS, K), "word": numbers(4, step, V, B, K), "weight": weight}


def pretraining(step):
    return text(step) | predicted(step) | {"follows": numbers(5, step, 2, B)}


case("bert", spec="bert.tn", model="BERT", names="hf", dims=WORDS, configs=SIZES | {"E": 24, "F": 100, "L": 29},
     loss="mlm + nsp", inputs=pretraining, outputs={"infer": ["h", "pooled"], "fill": ["logits"]}, rate=0.1)
case("nezha", spec="nezha.tn", model="Nezha", names="hf", dims=WORDS, loss="mlm + nsp", inputs=pretraining, rate=0.1,
     configs=SIZES | {"Body": BODY.format("gelu", "RelativeAttention(E = 24, W = 9)")}, outputs={"infer": ["h", "pooled"]})


def dynamic(step):
    """Padding is id 1 at the end."""
    ids = numbers(1, step, V - 2, B, T)
    return predicted(step) | {"ids": [[x + 2 if t < n else 1 for t, x in enumerate(row)] for row, n in zip(ids, LENGTHS)]}


case("roberta", spec="roberta.tn", model="Roberta", names="hf", dims=WORDS, loss="mlm", inputs=dynamic, rate=0.1,
     configs=SIZES | {"L": 29, "Body": BODY.format("gelu", CONTENT)}, outputs={"infer": ["h"], "fill": ["logits"]})
case("roberta_classify", spec="roberta.tn", model="Roberta", names="hf", dims=WORDS, loss="ce", rate=0.02,
     inputs=lambda step: dynamic(step) | {"label": numbers(6, step, 3, B)},
     configs=SIZES | {"L": 29, "C": 3, "Body": BODY.format("gelu", CONTENT)}, outputs={"classify": ["classes"]})

ROBERTA = {"names": "hf", "rate": 0.02}
WIDE = SIZES | {"L": 29, "Body": BODY.format("gelu", CONTENT)}


def texts(step):
    return {"ids": dynamic(step)["ids"]}


case("roberta_regress", **ROBERTA, spec="roberta.tn", model="Roberta", dims=WORDS, loss="fit", configs=WIDE | {"C": 1},
     inputs=lambda step: dynamic(step) | {"score": reals(6, step, B)}, outputs={"classify": ["classes"]})
HEADED = ROBERTA | {"spec": "roberta_heads.tn", "dims": {"B": B, "T": T}}
case("roberta_span", **HEADED, model="RobertaSpan", loss="span", configs=WIDE, outputs={"infer": ["first", "last"]},
     inputs=lambda step: texts(step) | {"start": numbers(6, step, T, B), "end": numbers(7, step, T, B), "inside": [1.0] * B})
case("roberta_tag", **HEADED, model="RobertaTag", loss="ce", configs=WIDE | {"C": 9}, outputs={"infer": ["logits"]},
     inputs=lambda step: texts(step) | {"tag": numbers(6, step, 9, B, T),
                                        "weight": [[float(t < n and t % 3 != 1) for t in range(T)] for n in LENGTHS]})


def several(step):
    """A texts each, of different lengths; padding is id 1 at the end."""
    ids = numbers(1, step, V - 2, B, A, T)
    return {"ids": [[[x + 2 if t < length else 1 for t, x in enumerate(row)] for row, length in zip(rows, (n, T, 9))]
                    for rows, n in zip(ids, LENGTHS)], "label": numbers(6, step, A, B)}


case("roberta_choice", **HEADED, model="RobertaChoice", loss="ce", configs=WIDE | {"A": A}, inputs=several,
     outputs={"infer": ["logits"]})

case("ernie1", spec="ernie1.tn", model="Ernie1", names="hf", dims=WORDS, loss="mlm + pair", rate=0.1,
     inputs=lambda step: text(step) | predicted(step) | {"label": numbers(5, step, 2, B)},
     configs=SIZES | {"L": 29, "Body": BODY.format("relu", CONTENT)}, outputs={"infer": ["h", "pooled"]})


def seven(step):
    return text(step, 4) | predicted(step) | {
        "task": numbers(6, step, 3, B), "upper": numbers(7, step, 2, B, T), "topic": numbers(8, step, 2, B, T),
        "order": numbers(9, step, 33, B), "distance": numbers(10, step, 3, B), "relevance": numbers(11, step, 3, B),
        "relation": numbers(12, step, 25, B)}


case("ernie2", spec="ernie2.tn", model="Ernie2", names="hf", dims=WORDS, inputs=seven, rate=0.05,
     loss="mask + capital + 0.5 * document + reorder + 0.25 * apart + discourse + retrieve",
     configs=SIZES | {"L": 29, "J": 3, "Body": BODY.format("gelu", CONTENT)}, outputs={"infer": ["h", "pooled"]})

HEADS = {"spec": "bert_heads.tn", "names": "hf", "dims": {"B": B, "T": T}, "rate": 0.02}
ENCODER = SIZES | {"L": 29, "Body": BODY.format("gelu", CONTENT)}
case("bert_classify", **HEADS, model="Classify", loss="ce", configs=ENCODER | {"C": 3}, outputs={"infer": ["logits"]},
     inputs=lambda step: text(step) | {"label": numbers(6, step, 3, B)})
case("bert_regress", **HEADS, model="Classify", loss="fit", configs=ENCODER | {"C": 1}, outputs={"infer": ["logits"]},
     inputs=lambda step: text(step) | {"score": reals(6, step, B)})
case("bert_span", **HEADS, model="Span", loss="span", configs=ENCODER, outputs={"infer": ["first", "last"]},
     inputs=lambda step: text(step) | {"start": numbers(6, step, T, B), "end": numbers(7, step, T, B), "inside": [1.0] * B})
case("bert_tag", **HEADS, model="Tag", loss="ce", configs=ENCODER | {"C": 9}, outputs={"infer": ["logits"]},
     inputs=lambda step: text(step) | {"tag": numbers(6, step, 9, B, T),
                                       "weight": [[float(t < n and t % 3 != 1) for t in range(T)] for n in LENGTHS]})
case("bert_choice", **HEADS, model="Choice", loss="ce", configs=ENCODER | {"A": A}, outputs={"infer": ["logits"]},
     inputs=lambda step: {"ids": numbers(1, step, V, B, A, T), "seg": numbers(2, step, 2, B, A, T),
                          "len": [[n, T, 9] for n in LENGTHS], "label": numbers(6, step, A, B)})


ELECTRA = {"spec": "electra.tn", "rate": 0.05}
NARROW = {"V": V, "X": 40, "L": 29, "rate": 0.0, "Layer": BODY.format("gelu", CONTENT)}
case("electra_classify", **ELECTRA, model="ElectraClassifier", names="hf", dims={"B": B, "T": T}, loss="ce",
     configs=NARROW | {"D": 72, "N": 2, "C": 3}, outputs={"infer": ["classes"]},
     inputs=lambda step: text(step) | {"label": numbers(6, step, 3, B)})
case("electra_generator", **ELECTRA, model="Electra", names="hf_generator", dims=WORDS, loss="mlm",
     configs=NARROW | {"Q": 72, "NG": 2}, outputs={"fill": ["filled"]},
     inputs=lambda step: text(step) | predicted(step) | {"masked": numbers(7, step, V, B, T)})


def filled(step):
    """A fifth of the places keeps its token. The first place of a row is drawn again as its last: the later draw stays, unless it
    has weight 0."""
    given, masked = predicted(step), text(step)["ids"]
    for b, row in enumerate(given["at"]):
        row[-1 - b] = row[0]
        for k, t in enumerate(row):
            masked[b][t] = V - 1 if (b + k + 2 * step) % 5 else masked[b][t]
    return text(step) | given | {"masked": masked}


# Both sides in one step: what the discriminator reads is drawn. From this batch on, four of 106 draws are right guesses.
case("electra", spec="electra.tn", model="Electra", names="hf", dims=WORDS, loss="mlm + 50 * rtd",
     inputs=lambda step: filled(step + 4), configs=NARROW | {"D": 72, "N": 2, "Q": 48, "NG": 1},
     outputs={"infer": ["h", "verdict"], "fill": ["filled"]}, adam=True, rate=1e-3)


def masks(step):
    """Task t of a row: both ways, left to right, right to left, sequence to sequence."""
    lengths = [T, 17, 12, 20]
    weight = [[float((b + k + step) % 5 > 0) for k in range(K)] for b in range(4)]
    return {"ids": numbers(1, step, V, 4, T), "seg": numbers(2, step, 6, 4, T), "len": lengths,
            "place": [[(t + b) % 29 for t in range(T)] for b in range(4)], "task": [(b + step) % 4 for b in range(4)],
            "prefix": [7, 8, 9, 10], "at": places(3, step, lengths, K),
            "word": [[x + 1 for x in row] for row in numbers(4, step, V - 1, 4, K)], "weight": weight,
            "follows": numbers(5, step, 2, 4), "paired": [1.0, 0.0, 1.0, 1.0]}


case("unilm", spec="unilm.tn", model="UniLM", names="hf", dims={"B": 4, "T": T, "K": K}, loss="mlm + nsp", inputs=masks,
     configs=SIZES | {"L": 29, "Body": BODY.format("gelu", CONTENT)}, outputs={"fill": ["logits"]}, rate=0.02)


def shared(step):
    return text(step) | {"accept": numbers(5, step, 2, B), "score": reals(6, step, B), "many": numbers(7, step, V, B, A, T),
                         "many_seg": numbers(8, step, 2, B, A, T), "many_len": [[n, T, 9] for n in LENGTHS],
                         "best": numbers(9, step, A, B), "entail": numbers(10, step, 3, B)}


case("mtdnn", spec="mtdnn.tn", model="MTDNN", names="authors", dims={"B": B, "T": T},
     loss="single + regress + rank + pair", inputs=shared,
     configs=SIZES | {"L": 29, "A": A, "Body": BODY.format("gelu", CONTENT), "rate_single": 0.0,
                      "rate_head": 0.0, "rate_pair": 0.0, "skip": 0.0}, rate=0.02,
     outputs={"infer": ["acceptable"], "similarity": ["similar"], "ranking": ["ranks"], "entailment": ["entails"]})
case("mtdnn_plain", spec="mtdnn.tn", model="MTDNN", names="authors", dims={"B": B, "T": T}, inputs=shared, rate=0.02,
     loss="single + pair", outputs={"entailment": ["entails"]},
     configs=SIZES | {"L": 29, "A": A, "Body": BODY.format("gelu", CONTENT), "rate_single": 0.0, "rate_pair": 0.0, "san": False})
