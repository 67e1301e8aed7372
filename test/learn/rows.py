"""The models, their tasks and sizes, and what is done to each to make it fail."""
import tasks

# Sources and copies of a text.
LETTERS = (b"abcdefgh", b"ABCDEFGH")
OF_EACH_CLUSTER = (bytes([1, 9, 33, 50, 65, 120, 129, 250]), bytes([2, 10, 34, 51, 66, 121, 130, 251]))

MODELS = {}


def add(name, file, model, losses, task, sizes, steps, dead, wrong, shifted, optimizer, schedule="constant(warmup = {tenth})", **more):
    """`dead`, `wrong`: what is replaced in which file, for a dead gradient and a wrong mask. `shifted`: inputs whose rows are
    shifted, or what is replaced."""
    MODELS[name] = {"file": file, "model": model, "losses": losses, "task": task, "sizes": sizes, "steps": steps,
                    "settings": {"optimizer": optimizer, "schedule": schedule.format(tenth=steps // 10, steps=steps)},
                    "faults": {"dead gradient": dead, "shifted label": shifted, "wrong mask": wrong}, **more}


def text(streams, length, symbols, back, window=0):
    """Training reads each symbol once. A model that has no `target` predicts within its window."""
    def make(draw, samples):
        return tasks.delayed(draw, streams, samples // streams * length, symbols, back, window)
    return make


def rows(task, *words, also=None, **more):
    """`also`: inputs that only other losses read, as (shape, type, values by name)."""
    def make(draw, samples):
        table = task(draw, samples, *words, **more)
        for shape, kind, values in also or ():
            table.fill(shape, kind, **values)
        return table
    return make


LINEAR = "linear(warmup = {tenth}, total = {steps}, floor = 0.05)"
NEXT = ("cross_entropy[V](logits, target)", "cross_entropy[V](logits, if training then ids else target)")
SELF = ("ids[T: 1 .. T -> T1]", "if training then ids[T: 0 .. T1 -> T1] else ids[T: 1 .. T -> T1]")

# Language models
add("transformer_xl", "transformer_xl.tn", "TransformerXL", ["nll"], text(8, 16, LETTERS, 9),
    {"B": 8, "T": 16, "D": 128, "H": 2, "F": 128, "N": 2, "M": 16}, 600,
    {"transformer_xl.tn": [("scores = dot[D](h, emb)", "scores = dot[D](stop_gradient(h), emb)")]},
    {"transformer_xl.tn": [("else j <= M + i", "else j >= M and j <= M + i")]},
    {"transformer_xl.tn": [NEXT]}, "adam(lr = 1e-3)", LINEAR)
add("transformer_xl_adaptive", "transformer_xl_adaptive.tn", "TransformerXL", ["nll"], text(8, 16, OF_EACH_CLUSTER, 9),
    {"B": 8, "T": 16, "D": 64, "H": 2, "F": 128, "N": 2, "M": 16}, 600,
    {"transformer_xl_adaptive.tn": [("let    h = dropout(blocks(dropout(e * sqrt(D), rate)), rate)",
                                     "let    h = dropout(stop_gradient(blocks(dropout(e * sqrt(D), rate))), rate)")]},
    {"transformer_xl_adaptive.tn": [("mask  j <= M + i", "mask  j >= M and j <= M + i")]},
    {"transformer_xl_adaptive.tn": [("in     ids: index(V)[B, T], target: index(V)[B, T]\n",
                                     "in     ids: index(V)[B, T], next_id: index(V)[B, T]\n"
                                     "  let    target = if training then ids else next_id\n")]}, "adam(lr = 1e-3)", LINEAR)
for name, file, model, output in (("gpt2", "gpt2.tn", "GPT2", ("dot[D](y, wte)", "dot[D](stop_gradient(y), wte)")),
                                  ("gpt1", "gpt1.tn", "GPT1", ("let    logits = dot[D](body(tokens_embed[V: ids] + positions_embed[L: 0 .. T -> T]), tokens_embed)",
                                                               "let    logits = dot[D](stop_gradient(body(tokens_embed[V: ids] + positions_embed[L: 0 .. T -> T])), tokens_embed)"))):
    add(name, file, model, ["lm"], text(16, 16, LETTERS, 1, 16), {"B": 16, "T": 16, "D": 64, "E": 32, "N": 2, "L": 16}, 400,
        {file: [output]}, {"gpt2.tn": [("mask  j <= i", "mask  j == i")]},
        {file: [SELF]} if file == "gpt2.tn" else {}, "adamw(lr = 3e-3)")
MODELS["gpt1"]["faults"]["shifted label"] = {"gpt1.tn": [("loss   lm = mean(cross_entropy[V](logits[T: 0 .. T1 -> T1], ids[T: 1 .. T -> T1]))",
                                                          "loss   lm = mean(cross_entropy[V](logits[T: 0 .. T1 -> T1], " + SELF[1] + "))")]}
add("lstm, language model", "lstm.tn", "LSTMLM", ["nll"], text(8, 16, (b"abcd", b"ABCD"), 1),
    {"B": 8, "T": 16, "C": 64, "N": 1}, 600,
    {"lstm.tn": [("head(dropout(layers(emb[V: ids]), rate))", "head(dropout(stop_gradient(layers(emb[V: ids])), rate))")]},
    {"lstm.tn": [("full[B, T](true)", "expand[B](iota[T]() < 1)")]}, {"lstm.tn": [NEXT]}, "adam(lr = 5e-3)", LINEAR)

# Masked symbols
BERT = "bert_adam(lr = 1e-3, decay = 0.01, eps = 1e-6)"
SIZES = {"B": 16, "T": 16, "K": 2, "V": 20, "D": 64, "N": 2, "L": 16}
ONLY_FIRST = ("iota[S]() < len", "iota[S]() < 1")
add("bert", "bert.tn", "BERT", ["mlm", "nsp"], rows(tasks.periodic, 16, 2, 12, 2, 2, 1, tasks.both_ways_and("follows", "nsp", 8)),
    {**SIZES, "E": 32, "F": 128}, 500,
    {"bert.tn": [("mlm_head(h[T: at]", "mlm_head(stop_gradient(h)[T: at]"), ("pooler(h[", "pooler(stop_gradient(h)[")]},
    {"bert.tn": [ONLY_FIRST]}, ("word", "follows"), BERT, LINEAR)
add("roberta", "roberta.tn", "Roberta", ["mlm"], rows(tasks.periodic, 16, 2, 12, 2, 2, 1, tasks.padded(0), also=[((), "i32", {"label": 0})]),
    {**SIZES, "L": 32, "pad": 0}, 500,
    {"roberta.tn": [("mlm_head(h[T: at]", "mlm_head(stop_gradient(h)[T: at]")]},
    {"roberta.tn": [("given[T -> S])", "iota[S]() < 1)")]}, ("word",), BERT, LINEAR)
add("ernie1", "ernie1.tn", "Ernie1", ["mlm"], rows(tasks.periodic, 16, 2, 12, 2, 2, 1, tasks.both_ways, also=[((), "i32", {"label": 0})]), SIZES, 500,
    {"ernie1.tn": [("mlm_head(h[T: at]", "mlm_head(stop_gradient(h)[T: at]")]},
    {"ernie1.tn": [ONLY_FIRST]}, ("word",), BERT, LINEAR)
add("nezha", "nezha.tn", "Nezha", ["mlm", "nsp"], rows(tasks.periodic, 18, 6, 12, 2, 2, 1, tasks.both_ways_and("follows", "nsp", 8)),
    {name: size for name, size in SIZES.items() if name != "L"} | {"T": 18}, 500,
    {"nezha.tn": [("mlm_head(h[T: at]", "mlm_head(stop_gradient(h)[T: at]"), ("pooler(h[", "pooler(stop_gradient(h)[")]},
    {"nezha.tn": [ONLY_FIRST]}, ("word", "follows"), BERT, LINEAR)
add("unilm", "unilm.tn", "UniLM", ["mlm"], rows(tasks.periodic, 16, 2, 12, 2, 2, 1, tasks.four_ways, also=[((), "i32", {"follows": 0}), ((), "f32", {"paired": 0.0})]), SIZES, 500,
    {"unilm.tn": [("mlm_head(h[T: at]", "mlm_head(stop_gradient(h)[T: at]")]},
    {"unilm.tn": [("let    sees = j < len and", "let    sees = j < 1 and")]}, ("word",), BERT, LINEAR)
add("xlnet", "xlnet.tn", "XLNet", ["plm"], rows(tasks.periodic, 16, 2, 12, 2, 3, None, tasks.in_an_order, "plm", also=[((), "i32", {"label": 0})]),
    {"B": 16, "T": 16, "K": 3, "V": 20, "D": 64, "H": 2, "F": 128, "N": 2, "M": 0, "R": 0}, 500,
    {"xlnet.tn": [("dot[D](dropout(g, rate), emb)", "dot[D](stop_gradient(g), emb)")]},
    {"xlnet.tn": [("krank < rank[T: at])", "krank < rank[T: at] and iota[S]() < 1)")]}, ("word",), BERT, LINEAR)

# Classes, tags and spans
HEADS = {"B": 16, "T": 16, "V": 20, "D": 64, "N": 2, "L": 16}
add("bert, classes", "bert_heads.tn", "Classify", ["ce"], rows(tasks.classified, 16, 4, "ce", segments=True, also=[((), "f32", {"score": 0.0})]), {**HEADS, "C": 3}, 500,
    {"bert_heads.tn": [("classifier(dropout(tanh(pooler(h[T: 0])), rate))\n", "classifier(dropout(tanh(pooler(stop_gradient(h)[T: 0])), rate))\n")]},
    {"bert.tn": [("mask  sees", "mask  sees and j < 1")]}, ("label",), BERT, LINEAR)
add("bert, spans", "bert_heads.tn", "Span", ["span"], rows(tasks.spans, 24, 3), {**HEADS, "T": 24, "L": 24}, 500,
    {"bert_heads.tn": [("let    logits = qa_outputs(bert(ids, iota[T](), seg, iota[S]() < len))",
                         "let    logits = qa_outputs(stop_gradient(bert(ids, iota[T](), seg, iota[S]() < len)))")]},
    {"bert.tn": [("mask  sees", "mask  sees and j < 1")]}, ("start", "end"), BERT, LINEAR)
add("bert, tags", "bert_heads.tn", "Tag", ["ce"], rows(tasks.entities, 16), {**HEADS, "C": 9}, 500,
    {"bert_heads.tn": [("classifier(dropout(h, rate))", "classifier(dropout(stop_gradient(h), rate))")]},
    {"bert.tn": [("mask  sees", "mask  sees and j < 1")]}, ("tag",), BERT, LINEAR)
add("bert, choice", "bert_heads.tn", "Choice", ["ce"], rows(tasks.choices, 12, 3, 3), {**HEADS, "T": 12, "A": 3}, 500,
    {"bert_heads.tn": [("h[T: 0])), rate))[One: 0]", "stop_gradient(h)[T: 0])), rate))[One: 0]")]},
    {"bert.tn": [("mask  sees", "mask  sees and j < 1")]}, ("label",), BERT, LINEAR)
add("gpt1, tasks", "gpt1.tn", "GPT1Tasks", ["clf"], rows(tasks.classified, 16, 4, "clf", one_of=1, also=[((), "i32", {"answer": 0})]),
    {**HEADS, "E": 32, "C": 3, "A": 1}, 500,
    {"gpt1.tn": [("let    found = dropout(y[T: at], rate)", "let    found = dropout(stop_gradient(y)[T: at], rate)")]},
    {"gpt2.tn": [("mask  j <= i", "mask  j == i")]}, ("label",), "adamw(lr = 2e-3)", LINEAR)
add("ernie2", "ernie2.tn", "Ernie2", ["apart", "capital"], rows(tasks.tasks_of_ernie, 16, also=[
    ((2,), "i32", {"at": 0, "word": 0}), ((2,), "f32", {"weight": 0.0}), ((16,), "i32", {"topic": 0}),
    ((), "i32", {"order": 0, "relevance": 0, "relation": 0})]), {**HEADS, "K": 2}, 500,
    {"ernie2.tn": [("let    h = blocks(dropout(norm(e), rate), sees)", "let    h = stop_gradient(blocks(dropout(norm(e), rate), sees))")]},
    {"ernie2.tn": [("iota[S]() < len", "iota[S]() < 1")]}, ("distance", "upper"), BERT, LINEAR)
add("mtdnn", "mtdnn.tn", "MTDNN", ["pair"], rows(tasks.classified, 16, 4, "pair", "entail", segments=True, also=[
    ((), "i32", {"accept": 0, "best": 0}), ((), "f32", {"score": 0.0}), ((2, 16), "i32", {"many": 0, "many_seg": 0}),
    ((2,), "i32", {"many_len": 1})]), {**HEADS, "A": 2}, 500,
    {"mtdnn.tn": [("mnli(h, given and seg == 0, h,", "mnli(stop_gradient(h), given and seg == 0, stop_gradient(h),")]},
    {"mtdnn.tn": [("seg, iota[S]() < len)", "seg, iota[S]() < 1)")]}, ("entail",), "adamax(lr = 2e-3)", LINEAR)

# Recurrent networks
VALID = ("let    valid = iota[T]() < len", "let    valid = expand[B](iota[T]() < 1)")
RECURRENT = {"B": 16, "T": 16, "V": 20, "X": 16, "C": 32, "N": 2}
TAGS = [("let    valid = iota[T]() < len", "let    valid = expand[B](iota[T]() < 1)"), ("real(valid)", "real(iota[T]() < len)")]
add("rnn", "rnn.tn", "TagRNN", ["ce"], rows(tasks.entities, 16, weights=False), {**RECURRENT, "R": 9}, 400,
    {"rnn.tn": [("head(dropout(y, rate))", "head(dropout(stop_gradient(y), rate))")]}, {"rnn.tn": TAGS}, ("tag",), "adam(lr = 5e-3)", LINEAR)
add("lstm, tags", "lstm.tn", "TagLSTM", ["ce"], rows(tasks.parities, 16), {**RECURRENT, "R": 4}, 400,
    {"lstm.tn": [("head(dropout(y, rate))", "head(dropout(stop_gradient(y), rate))")]}, {"lstm.tn": TAGS}, ("tag",), "adam(lr = 1e-2)", LINEAR)
add("gru", "gru.tn", "ClassifyGRU", ["ce"], rows(tasks.classified, 16, 4, "ce"), {**RECURRENT, "K": 3}, 400,
    {"gru.tn": [("head(dropout(last, rate))", "head(dropout(stop_gradient(last), rate))")]}, {"gru.tn": [VALID]}, ("label",), "adam(lr = 5e-3)", LINEAR,
    configs=("K",))

# From one text to another
ADAM = "adam(lr = 1e-3, betas = (0.9, 0.98), eps = 1e-9)"
add("transformer", "transformer.tn", "Transformer", ["nll"], rows(tasks.translated, 8, 9, 10, sorted),
    {"B": 16, "S": 8, "T": 9, "V": 12, "D": 64, "F": 128, "H": 2, "N": 2, "rate": "0.0", "rate_in": "0.0"}, 500,
    {"transformer.tn": [("memory = encoder(x)", "memory = stop_gradient(encoder(x))")]},
    {"transformer.tn": [("attn(a, m, iota[S]() < src_len)", "attn(a, m, iota[S]() < 1)")]}, ("label",), ADAM, LINEAR,
    target={"classes": 12, "smoothing": 0.1})
add("universal_transformer", "universal_transformer.tn", "Universal", ["nll"], rows(tasks.translated, 8, 9, 10, list),
    {"B": 16, "S": 8, "T": 9, "V": 12, "D": 64, "F": 128, "H": 2, "A": 2}, 500,
    {"universal_transformer.tn": [("if act then os else hs)", "stop_gradient(if act then os else hs))")]},
    {"universal_transformer.tn": [("cross(n2(a), m, iota[S]() < src_len)", "cross(n2(a), m, iota[S]() < 1)")]}, ("label",), ADAM, LINEAR,
    target={"classes": 12, "smoothing": 0.1})
