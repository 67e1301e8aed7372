"""The models, their tasks and sizes, and what is done to each to make it fail.

Replacements are pairs (old, new) by file; the old text has to stand there once.
"""
import files
import heads
import shapes
import tasks

MODELS = {}

# Sources and their copies.
LETTERS = (b"abcdefgh", b"ABCDEFGH")
OF_EACH_CLUSTER = (bytes([1, 9, 33, 50, 65, 120, 129, 250]), bytes([2, 10, 34, 51, 66, 121, 130, 251]))

# Settings of recipes.
FALLING = "linear(warmup = {tenth}, total = {steps}, floor = 0.05)"
EVEN = "constant(warmup = {tenth})"
BERT_ADAM = "bert_adam(lr = 1e-3, decay = 0.01, eps = 1e-6)"
ADAM = "adam(lr = 1e-3, betas = (0.9, 0.98), eps = 1e-9)"


def add(name, file, model, losses, task, sizes, steps, optimizer, schedule, *, dead, wrong, shifted, **more):
    """`dead`, `wrong`: what is replaced in `file`, or (a dict) in others, for a dead gradient and a wrong mask. `shifted`:
    replaced too, or a tuple of inputs that get the rows of the sample before. `more`: further faults, `target` for tasks.chance,
    `configs` that have the name of a dim, `recipe`: further settings of it, `named`: its name, `data` (with {} for the
    part) or `tasks` of the recipe where `task` makes files, `waits` for what the compiler does not know yet."""
    faults = {"dead gradient": dead, "shifted label": shifted, "wrong mask": wrong, **more.pop("faults", {})}
    MODELS[name] = {"file": file, "model": model, "losses": losses, "task": task, "sizes": sizes, "steps": steps,
                    "settings": {"optimizer": optimizer, "schedule": schedule.format(tenth=steps // 10, steps=steps)},
                    "faults": {what: {file: fault} if isinstance(fault, list) else fault for what, fault in faults.items()},
                    **more}


def delayed(streams, length, symbols, back, window=0, target=False):
    """Training reads each symbol once. A model that has no `target` predicts within its window."""
    return lambda draw, samples: tasks.delayed(draw, streams, samples // streams * length, symbols, back, window, target)


def kept(streams, length, gap=1):
    return lambda draw, samples: tasks.kept(draw, streams, samples // streams * length, LETTERS, gap, ord("."))


def rows(task, *words, also=None, **more):
    """`also`: inputs that only other losses read, as (shape, type, values by name)."""
    def make(draw, samples):
        table = task(draw, samples, *words, **more)
        for shape, kind, values in also or ():
            table.fill(shape, kind, **values)
        return table
    return make


def periodic(view, symbols=12, period=2, masked=2, mask=1, loss="mlm", also=None):
    return rows(tasks.periodic, 16, period, symbols, 2, masked, mask, view, loss, also=also)


# Language models. A shifted label is the symbol itself.
NEXT = ("cross_entropy[V](logits, target)", "cross_entropy[V](logits, if training then ids else target)")
WINDOW = "(logits[T: 0 .. T1 -> T1], {}ids[T: 1 .. T -> T1]))"
SELF = "if training then ids[T: 0 .. T1 -> T1] else "
XL = {"B": 8, "T": 16, "D": 128, "H": 2, "F": 128, "N": 2, "M": 16}
GPT = {"B": 16, "T": 16, "D": 64, "E": 32, "N": 2, "L": 16}

add("transformer_xl", "transformer_xl.tn", "TransformerXL", ["nll"], delayed(8, 16, LETTERS, 9), XL, 800, "adam(lr = 1e-3)",
    FALLING,
    dead=[("dot[D](h, emb)", "dot[D](stop_gradient(h), emb)")],
    wrong=[("else j <= M + i", "else j >= M and j <= M + i")],
    shifted=[NEXT])
add("transformer_xl_adaptive", "transformer_xl_adaptive.tn", "TransformerXL", ["nll"], delayed(8, 16, OF_EACH_CLUSTER, 7),
    {**XL, "shrink": 2}, 400, "adam(lr = 2e-3)", FALLING,
    dead=[("dropout(blocks(dropout(e * sqrt(D), rate)), rate)",
           "dropout(stop_gradient(blocks(dropout(e * sqrt(D), rate))), rate)")],
    wrong=[("mask  j <= M + i", "mask  j >= M and j <= M + i")],
    shifted=[("let    (b1, b2, b3) = (target >= V0, target >= V0 + V1, target >= V0 + V1 + V2)",
              "let    goal = if training then ids else target\n"
              "  let    (b1, b2, b3) = (goal >= V0, goal >= V0 + V1, goal >= V0 + V1 + V2)"),
             ("min(target, V0) else if Q == 2 then min(target, V0) + b2 else min(target, V0)",
              "min(goal, V0) else if Q == 2 then min(goal, V0) + b2 else min(goal, V0)"),
             ("(z1, target", "(z1, goal"), ("(z2, target", "(z2, goal"), ("(z3, target", "(z3, goal")])
add("gpt2", "gpt2.tn", "GPT2", ["lm"], delayed(16, 16, LETTERS, 1, 16), GPT, 400, "adamw(lr = 3e-3)", EVEN,
    dead=[("dot[D](y, wte)", "dot[D](stop_gradient(y), wte)")],
    wrong=[("mask  j <= i", "mask  j == i")],
    shifted=[("cross_entropy[V]" + WINDOW.format(""), "cross_entropy[V]" + WINDOW.format(SELF))])
add("gpt1", "gpt1.tn", "GPT1", ["lm"], delayed(16, 16, LETTERS, 1, 16), GPT, 500, "adamw(lr = 2e-3)", EVEN,
    dead=[("dot[D](body(tokens_embed[V: ids] + positions_embed[L: 0 .. T -> T]), tokens_embed)",
           "dot[D](stop_gradient(body(tokens_embed[V: ids] + positions_embed[L: 0 .. T -> T])), tokens_embed)")],
    wrong={"gpt2.tn": [("mask  j <= i", "mask  j == i")]},
    shifted=[("mean(cross_entropy[V]" + WINDOW.format(""), "mean(cross_entropy[V]" + WINDOW.format(SELF))])
add("llama", "llama.tn", "Llama", ["lm"], delayed(16, 16, LETTERS, 1, 16, target=True), {**GPT, "K": 1, "F": 128}, 400,
    "adamw(lr = 3e-3)", EVEN,
    dead=[("norm(layers(embed_tokens[V: ids]))", "stop_gradient(norm(layers(embed_tokens[V: ids])))")],
    wrong=[("mask  j <= i", "mask  j == i")], shifted=[NEXT], configs=("K",))
add("alibi", "alibi.tn", "MPT", ["lm"], delayed(16, 16, LETTERS, 1, 16, target=True),
    {"B": 16, "T": 16, "D": 64, "H": 2, "N": 2}, 400, "adamw(lr = 3e-3)", EVEN,
    dead=[("norm_f(blocks(wte[V: ids]))", "stop_gradient(norm_f(blocks(wte[V: ids])))")],
    wrong=[("mask  j <= i", "mask  j == i")], shifted=[NEXT])
add("moe", "moe.tn", "MoE", ["lm"], delayed(16, 16, LETTERS, 1, 16, target=True), {**GPT, "K": 1, "F": 128, "X": 4}, 400,
    "adamw(lr = 3e-3)", EVEN,
    dead=[("dot[D](norm(y), lm_head)", "dot[D](stop_gradient(norm(y)), lm_head)")],
    wrong={"llama.tn": [("mask  j <= i", "mask  j == i")]}, shifted=[NEXT], configs=("K",))
for kind, steps in (("lstm", 800), ("rnn", 800), ("gru", 800)):
    add(kind + ", language model", kind + ".tn", kind.upper() + "LM", ["nll"], kept(16, 16), {"B": 16, "T": 16, "C": 64, "N": 1},
        steps, "adam(lr = 1e-2)", FALLING,
        dead=[("layers(emb[V: ids])", "stop_gradient(layers(emb[V: ids]))")],
        wrong=[("full[B, T](true)", "expand[B](iota[T]() < 1)")],
        shifted=[NEXT],
        faults={"the input as the answer": [("cross_entropy[V](logits, target)", "cross_entropy[V](logits, ids)")]})
# No place but the one before is known without the state: the four taps of the convolution see no letter where its copy is due.
add("mamba", "mamba.tn", "Mamba", ["lm"], kept(16, 18, 4), {"B": 16, "T": 18, "D": 32, "N": 1, "Z": 8, "R": 4, "std": 0.1}, 500,
    "adamw(lr = 5e-3)", FALLING,
    dead=[("norm_f(layers(embeddings[V: ids]))", "stop_gradient(norm_f(layers(embeddings[V: ids])))")],
    wrong=[("exp(expand[Z](d) * decay) * h", "exp(expand[Z](d) * decay - 30) * h")], shifted=[NEXT])

# Masked symbols.
MASKED = {"B": 16, "T": 16, "K": 2, "V": 20, "D": 64, "N": 2, "L": 16}
FOLLOWS = tasks.both_ways_and("follows", "nsp", 8)
LABEL = [((), "i32", {"label": 0})]
RESTORED = ("mlm_head(h[T: at]", "mlm_head(stop_gradient(h)[T: at]")
POOLED = ("pooler(h[T: 0])", "pooler(stop_gradient(h)[T: 0])")
FIRST = ("iota[S]() < len", "iota[S]() < 1")
LINES = {"B": 16, "T": 16, "K": 2, "V": 9, "D": 64, "N": 2, "L": 16}


def documents(line, *more):
    return lambda draw, samples: files.documents(draw, min(samples, 480), line, *more)


add("bert", "bert.tn", "BERT", ["mlm", "nsp"], periodic(FOLLOWS), {**MASKED, "E": 32, "F": 128}, 500, BERT_ADAM, FALLING,
    dead=[RESTORED, POOLED], wrong=[FIRST], shifted=("word", "follows"))
OF_OTHERS = ("cross_entropy[V](logits, word)", "cross_entropy[V](logits, if training then flip[B](word) else word)")

add("bert, whole words", "bert.tn", "BERT", ["mlm", "nsp"], documents(files.units, "nsp"), LINES, 600, BERT_ADAM, FALLING,
    data='mlm_nsp(text = "{0}/text.txt", vocab = "{0}/vocab.txt", words = units)',
    dead=[RESTORED, POOLED], wrong=[FIRST],
    shifted=[OF_OTHERS, ("next_logits, follows", "next_logits, if training then flip[B](follows) else follows")])
# A row is a mark, twice six letters and their ends: marks are hidden, too, and stand where they always do.
add("roberta", "roberta.tn", "Roberta", ["mlm"], documents(files.turns, None, 3 * files.LETTERS + "<>>"),
    {**LINES, "K": 3, "L": 18, "pad": 0}, 500, BERT_ADAM, FALLING,
    data='mlm_blocks(text = "{0}/text.txt", vocab = "{0}/vocab.txt")',
    dead=[("lm_head(h[T: at]", "lm_head(stop_gradient(h)[T: at]")], wrong=[("given[T -> S])", "iota[S]() < 1)")],
    shifted=[OF_OTHERS])
ONE_PLACE = [((1,), "i32", {"at": 0, "word": 0}), ((1,), "f32", {"weight": 1.0})]
add("roberta, classes", "roberta.tn", "Roberta", ["ce"],
    rows(tasks.classified, 16, 3, "ce", padding=0, also=[*ONE_PLACE, ((), "f32", {"score": 0.0})]),
    {"B": 16, "T": 16, "K": 1, "V": 20, "D": 64, "N": 2, "L": 18, "pad": 0, "C": 3}, 600, BERT_ADAM, FALLING,
    recipe={"loss": "ce"},
    dead=[("dropout(h[T: 0], rate)", "dropout(stop_gradient(h)[T: 0], rate)")], wrong=[("given[T -> S])", "iota[S]() < 1)")],
    shifted=("label",))
add("ernie1", "ernie1.tn", "Ernie1", ["mlm", "pair"], documents(files.entities, "pair"), {**LINES, "K": 4}, 500, BERT_ADAM,
    FALLING, data='ernie_masks(text = "{0}/text.txt", vocab = "{0}/vocab.txt", stages = ("char", "phrase", "entity"))',
    dead=[RESTORED, POOLED], wrong=[FIRST],
    shifted=[OF_OTHERS, ("pair_head(pooled), label", "pair_head(pooled), if training then flip[B](label) else label")])
add("nezha", "nezha.tn", "Nezha", ["mlm", "nsp"], periodic(FOLLOWS, period=0),
    {name: size for name, size in MASKED.items() if name != "L"}, 500, BERT_ADAM, FALLING,
    dead=[RESTORED, POOLED], wrong=[FIRST], shifted=("word", "follows"))
# By the optimizer and in the types of the published recipe.
add("nezha, lamb", "nezha.tn", "Nezha", ["mlm", "nsp"], periodic(FOLLOWS, period=0),
    {name: size for name, size in MASKED.items() if name != "L"}, 500, 'lamb(lr = 1e-2, decay = 0.01, form = "huawei")', FALLING,
    recipe={"clip": "global_norm(1.0, form = tf)", "numerics": "policy(params = f32, compute = f16, scale = dynamic())"},
    dead=[RESTORED, POOLED], wrong=[FIRST], shifted=("word", "follows"))
add("unilm", "unilm.tn", "UniLM", ["mlm"],
    periodic(tasks.four_ways, also=[((), "i32", {"follows": 0}), ((), "f32", {"paired": 0.0})]), MASKED, 800, BERT_ADAM, FALLING,
    dead=[RESTORED], wrong=[("j < len and (task == 0 or task == 1 and j <= i", "j < 1 and (task == 0 or task == 1 and j <= i")],
    shifted=("word",))
add("unilm, texts", "unilm.tn", "UniLM", ["mlm", "nsp"], documents(files.even(8), "nsp"), LINES, 500, BERT_ADAM, FALLING,
    data='unilm(text = "{0}/text.txt", vocab = "{0}/vocab.txt", short = 0)', # not known is the first symbol that is read
    dead=[RESTORED, POOLED], wrong=[("j < len and (task == 0 or task == 1 and j <= i",
                                     "j < 1 and (task == 0 or task == 1 and j <= i")],
    shifted=[("logits, word, spread", "logits, if training then flip[B](word) else word, spread"),
             ("h[T: 0]))), follows", "h[T: 0]))), if training then flip[B](follows) else follows")])
add("xlnet", "xlnet.tn", "XLNet", ["plm"], periodic(tasks.in_an_order, masked=3, mask=None, loss="plm", also=LABEL),
    {"B": 16, "T": 16, "K": 3, "V": 20, "D": 64, "H": 2, "F": 128, "N": 2, "M": 0, "R": 0}, 1200, BERT_ADAM, FALLING,
    dead=[("dot[D](dropout(g, rate), emb)", "dot[D](stop_gradient(g), emb)")],
    wrong=[("krank < rank[T: at])", "krank < rank[T: at] and iota[S]() < 1)")],
    shifted=("word",))

add("xlnet, classes", "xlnet.tn", "XLNet", ["ce"], rows(heads.classified_at_the_end, 16, 3, "ce", also=ONE_PLACE),
    {"B": 16, "T": 16, "K": 1, "V": 20, "D": 64, "H": 2, "F": 128, "N": 2, "M": 0, "R": 0, "C": 3}, 600, BERT_ADAM, FALLING,
    recipe={"loss": "ce"},
    dead=[("dropout(h, rate)[T: T - 1]", "dropout(stop_gradient(h), rate)[T: T - 1]")],
    wrong=[("stream[T](h, iota[T](), krank <= rank)", "stream[T](h, iota[T](), krank <= rank and iota[S]() == iota[T]())")],
    shifted=("label",))

# Classes, spans, tags.
HEADS = {"B": 16, "T": 16, "V": 20, "D": 64, "N": 2, "L": 16}
NARROW = {"bert.tn": [("mask  sees", "mask  sees and j < 1")]}

add("bert, classes", "bert_heads.tn", "Classify", ["ce"],
    rows(tasks.classified, 16, 3, "ce", segments=True, also=[((), "f32", {"score": 0.0})]), {**HEADS, "C": 3}, 1000,
    BERT_ADAM, FALLING,
    dead=[("h[T: 0])), rate))\n", "stop_gradient(h)[T: 0])), rate))\n")], wrong=NARROW, shifted=("label",))
add("bert, spans", "bert_heads.tn", "Span", ["span"], rows(tasks.spans, 16), HEADS, 500, BERT_ADAM, FALLING,
    dead=[("qa_outputs(bert(ids, iota[T](), seg, iota[S]() < len))",
           "qa_outputs(stop_gradient(bert(ids, iota[T](), seg, iota[S]() < len)))")], wrong=NARROW, shifted=("start", "end"))
add("roberta, spans", "roberta_heads.tn", "RobertaSpan", ["span"], rows(tasks.spans, 16, padding=0),
    {**HEADS, "L": 18, "pad": 0}, 500, BERT_ADAM, FALLING,
    dead=[("qa_outputs(roberta(ids, place, full[B, T](0), given[T -> S]))",
           "qa_outputs(stop_gradient(roberta(ids, place, full[B, T](0), given[T -> S])))")], wrong=NARROW,
    shifted=("start", "end"))
add("xlnet, spans", "xlnet_heads.tn", "XLNetSpan", ["span", "absent"], rows(tasks.asked, 16),
    {"B": 16, "T": 16, "V": 20, "D": 64, "H": 2, "F": 128, "N": 2}, 400, BERT_ADAM, FALLING,
    dead=[("dropout(blocks(dropout(emb[V: ids], rate)), rate)",
           "stop_gradient(dropout(blocks(dropout(emb[V: ids], rate)), rate))")],
    wrong=[("mask  j >= T - len", "mask  j == i")], shifted=("start", "end", "inside"))
add("bert, tags", "bert_heads.tn", "Tag", ["ce"], rows(tasks.entities, 16), {**HEADS, "C": 9}, 500, BERT_ADAM, FALLING,
    dead=[("classifier(dropout(h, rate))", "classifier(dropout(stop_gradient(h), rate))")], wrong=NARROW, shifted=("tag",))
add("roberta, tags", "roberta_heads.tn", "RobertaTag", ["ce"], rows(tasks.entities, 16, padding=0),
    {**HEADS, "L": 18, "pad": 0, "C": 9}, 500, BERT_ADAM, FALLING,
    dead=[("classifier(dropout(h, rate))", "classifier(dropout(stop_gradient(h), rate))")], wrong=NARROW, shifted=("tag",))
add("bert, choice", "bert_heads.tn", "Choice", ["ce"], lambda draw, samples: files.choices(draw, min(samples, 3200), 3, 3),
    {**HEADS, "T": 8, "A": 3, "V": 19, "L": 8}, 600, BERT_ADAM, FALLING,
    data='groups(file = "{0}/choices.tsv", vocab = "{0}/vocab.txt", size = 3)',
    dead=[("h[T: 0])), rate))[One: 0]", "stop_gradient(h)[T: 0])), rate))[One: 0]")], wrong=NARROW,
    shifted=[("cross_entropy[A](logits, label)", "cross_entropy[A](logits, if training then flip[B](label) else label)")])
add("roberta, choice", "roberta_heads.tn", "RobertaChoice", ["ce"],
    lambda draw, samples: files.choices(draw, min(samples, 3200), 3, 3),
    {**HEADS, "T": 8, "A": 3, "V": 19, "L": 10, "pad": 0}, 600, BERT_ADAM, FALLING,
    data='groups(file = "{0}/choices.tsv", vocab = "{0}/vocab.txt", size = 3)',
    dead=[("h[T: 0])), rate))[One: 0]", "stop_gradient(h)[T: 0])), rate))[One: 0]")], wrong=NARROW,
    shifted=[("cross_entropy[A](logits, label)", "cross_entropy[A](logits, if training then flip[B](label) else label)")])
add("gpt1, tasks", "gpt1.tn", "GPT1Tasks", ["clf"],
    rows(tasks.classified, 16, 4, "clf", one_of=1, also=[((), "i32", {"answer": 0})]), {**HEADS, "E": 32, "C": 3, "A": 1}, 500,
    "adamw(lr = 2e-3)", FALLING,
    dead=[("dropout(y[T: at], rate)", "dropout(stop_gradient(y)[T: at], rate)")],
    wrong={"gpt2.tn": [("mask  j <= i", "mask  j == i")]}, shifted=("label",))
add("gpt1, choice", "gpt1.tn", "GPT1Tasks", ["pick", "lm"], rows(heads.answered, 3, 3),
    {"B": 16, "T": 8, "V": 16, "D": 64, "N": 2, "L": 8, "E": 32, "C": 2, "A": 3}, 1000, "adamw(lr = 3e-3)", FALLING,
    recipe={"loss": "pick + 0.5 * lm"},
    dead=[("let    y = body(tokens_embed[V: ids] + positions_embed[L: 0 .. T -> T])\n  let    logits = dot[D](y, tokens_embed)",
           "let    y = stop_gradient(body(tokens_embed[V: ids] + positions_embed[L: 0 .. T -> T]))\n"
           "  let    logits = dot[D](y, tokens_embed)")],
    wrong={"gpt2.tn": [("mask  j <= i", "mask  j == i")]}, shifted=("answer",))
HELD = 'vocab = "vocab.txt", held_out = 0.51' # of texts what stands behind the second document
SEVEN = f"""(task(data = ernie_masks(text = "text.txt", {HELD}), loss = mask + capital + document, id = 0),
                task(data = reorder(text = "text.txt", {HELD}), loss = reorder, id = 1),
                task(data = distances(text = "text.txt", {HELD}), loss = apart, id = 2),
                task(data = relations(file = "relations.tsv", {HELD}), loss = discourse, id = 3),
                task(data = relevance(file = "relevance.tsv", {HELD}), loss = retrieve, id = 4))"""
add("ernie2", "ernie2.tn", "Ernie2", ["mask", "capital", "document", "reorder", "apart", "discourse", "retrieve"],
    lambda draw, samples: files.seven_tasks(draw, min(samples, 320)), {**LINES, "T": 11, "L": 11, "K": 4, "V": 21}, 1200,
    BERT_ADAM, FALLING, tasks=SEVEN,
    dead=[("blocks(dropout(norm(e), rate), sees)", "stop_gradient(blocks(dropout(norm(e), rate), sees))")], wrong=[FIRST],
    shifted=[(f"), {label})", f"), if training then flip[B]({label}) else {label})")
             for label in ("word", "upper", "topic", "order", "distance", "relation", "relevance")])
add("mtdnn", "mtdnn.tn", "MTDNN", ["pair"],
    rows(tasks.classified, 16, 3, "pair", "entail", segments=True, also=[
        ((), "i32", {"accept": 0, "best": 0}), ((), "f32", {"score": 0.0}), ((2, 16), "i32", {"many": 0, "many_seg": 0}),
        ((2,), "i32", {"many_len": 1})]), {**HEADS, "A": 2}, 500, "adamax(lr = 2e-3)", FALLING,
    dead=[("classifier(dropout(f, rate))", "classifier(stop_gradient(dropout(f, rate)))")],
    wrong=[("seg, iota[S]() < len)", "seg, iota[S]() < 1)"), ("let    given = iota[T]() < len", "let    given = iota[T]() < 1")],
    shifted=("entail",))
add("mtdnn, heads", "mtdnn.tn", "MTDNN", ["single", "regress", "rank"], rows(heads.several_heads, 12, 3, 2),
    {**HEADS, "T": 12, "L": 12, "A": 2}, 500, "adamax(lr = 2e-3)", FALLING, recipe={"loss": "single + regress + rank"},
    dead=[("dropout(first, rate)", "stop_gradient(first)")],
    wrong=[("seg, iota[S]() < len)", "seg, iota[S]() < 1)"), ("many_seg, iota[S]() < many_len)", "many_seg, iota[S]() < 1)")],
    shifted=("accept", "score", "best"))

# Recurrent networks: what stands behind the first place is taken for padding.
RECURRENT = {"B": 16, "T": 16, "V": 20, "X": 16, "C": 32, "N": 2}
VALID = ("let    valid = iota[T]() < len", "let    valid = expand[B](iota[T]() < 1)")
TAGS = {"dead": [("head(dropout(y, rate))", "head(dropout(stop_gradient(y), rate))")],
        "wrong": [VALID, ("real(valid)", "real(iota[T]() < len)")], "shifted": ("tag",)}

add("rnn", "rnn.tn", "TagRNN", ["ce"], rows(tasks.entities, 16, weights=False), {**RECURRENT, "R": 9}, 400, "adam(lr = 5e-3)",
    FALLING, **TAGS)
add("lstm, tags", "lstm.tn", "TagLSTM", ["ce"], rows(tasks.parities, 16), {**RECURRENT, "R": 4}, 400, "adam(lr = 1e-2)",
    FALLING, **TAGS)
add("gru", "gru.tn", "ClassifyGRU", ["ce"], rows(tasks.classified, 16, 3, "ce"), {**RECURRENT, "K": 3}, 400, "adam(lr = 5e-3)",
    FALLING,
    dead=[("head(dropout(last, rate))", "head(dropout(stop_gradient(last), rate))")], wrong=[VALID], shifted=("label",),
    configs=("K",))

# From one text to another. Source and target see nothing but the first place of the source.
PAIRS = {"B": 16, "S": 8, "T": 9, "V": 12, "D": 64, "F": 128, "H": 2}
SMOOTHED = {"classes": 12, "smoothing": 0.1}

add("transformer", "transformer.tn", "Transformer", ["nll"], rows(tasks.translated, 8, 9, 10, sorted),
    {**PAIRS, "N": 2, "smooth": 0.1}, 500, ADAM, FALLING,
    dead=[("dot[D](y, emb)", "dot[D](stop_gradient(y), emb)")],
    wrong=[("attn(a, m, iota[S]() < src_len)", "attn(a, m, iota[S]() < 1)"), ("iota[S2]() < src_len", "iota[S2]() < 1")],
    shifted=("label",), target=SMOOTHED)
add("universal_transformer", "universal_transformer.tn", "Universal", ["nll"], rows(tasks.translated, 8, 9, 10, list),
    {**PAIRS, "A": 2}, 500, ADAM, FALLING,
    dead=[("if post then said else dec_norm(said), emb", "stop_gradient(if post then said else dec_norm(said)), emb")],
    wrong=[("if post then a else n2(a), m, iota[S]() < src_len)", "if post then a else n2(a), m, iota[S]() < 1)"),
           ("iota[S2]() < src_len", "iota[S2]() < 1")],
    shifted=("label",), target=SMOOTHED)
add("t5", "t5.tn", "T5", ["nll"], rows(tasks.translated, 8, 9, 10, sorted), {**PAIRS, "E": 32, "N": 2}, 500,
    "adamw(lr = 2e-3)", FALLING,
    dead=[("dot[D](y * D ^ -0.5, shared)", "dot[D](stop_gradient(y) * D ^ -0.5, shared)")],
    wrong=[("mask  j < src_len\n      drop  rate\n      value v(y)", "mask  j < 1\n      drop  rate\n      value v(y)"),
           ("mask  j < src_len\n      drop  rate\n      value v2(m)", "mask  j < 1\n      drop  rate\n      value v2(m)")],
    shifted=("label",))

# A generator and a discriminator, both of which have something to find out.
add("electra", "electra.tn", "Electra", ["mlm", "rtd"], rows(tasks.found_out, 16, 12),
    {"B": 16, "T": 16, "K": 4, "V": 14, "X": 64, "D": 64, "Q": 64, "N": 2, "NG": 1, "L": 16}, 800, BERT_ADAM, FALLING,
    dead=[("generator(embeddings(masked, seg), sees)[T: at]", "stop_gradient(generator(embeddings(masked, seg), sees))[T: at]"),
          ("gelu(dense(h)))[One: 0]", "gelu(dense(stop_gradient(h))))[One: 0]")],
    wrong=[("sees = iota[S]() < len", "sees = iota[S]() < 1")],
    shifted=[("real(replaced)", "real(if training then flip[T](replaced) else replaced)")])
add("electra, classes", "electra.tn", "ElectraClassifier", ["ce"], rows(tasks.classified, 16, 3, "ce", segments=True),
    {"B": 16, "T": 16, "V": 20, "X": 64, "D": 64, "N": 2, "L": 16, "C": 3, "rate": 0.0}, 1000, BERT_ADAM, FALLING,
    recipe={"init": None, "epochs": None, "groups": None, "clip": "global_norm(1.0)"}, named="glue",
    dead=[("dropout(h[T: 0], rate)", "dropout(stop_gradient(h)[T: 0], rate)")],
    wrong=[("electra(embeddings(ids, seg), iota[S]() < len)", "electra(embeddings(ids, seg), iota[S]() < 1)")],
    shifted=("label",))

# Classes of texts by a relay, and of pictures. What lies behind a mark or in other columns is hidden by the wrong mask.
add("star_transformer", "star_transformer.tn", "StarTransformer", ["ce"],
    rows(tasks.classified, 16, 3, "ce", also=[((16,), "i32", {"tag": 0})]),
    {"B": 16, "T": 16, "V": 20, "X": 32, "D": 32, "F": 64, "H": 2, "E": 16, "N": 2, "L": 16, "C": 3}, 800, "adam(lr = 2e-3)",
    FALLING,
    dead=[("classify(0.5 * (relay + max[T](h)))", "classify(stop_gradient(0.5 * (relay + max[T](h))))")],
    wrong=[("given = iota[T]() < len", "given = iota[T]() < expand[B](1)")], shifted=("label",))
add("star_transformer, tags", "star_transformer.tn", "StarTransformer", ["tagged"],
    rows(tasks.entities, 16, weights=False, loss="tagged", also=LABEL),
    {"B": 16, "T": 16, "V": 20, "X": 32, "D": 32, "F": 64, "H": 2, "E": 16, "N": 2, "L": 16, "R": 9}, 400, "adam(lr = 2e-3)",
    FALLING, recipe={"loss": "tagged"},
    dead=[("tagger(h)", "tagger(stop_gradient(h))")],
    wrong=[("scale 1 / sqrt(E)  value values", "scale 1 / sqrt(E)  mask j == 1 or j > 2  value values")], shifted=("tag",))
add("resnet", "resnet.tn", "ResNet", ["ce"], rows(shapes.shapes, 3, 16, 1),
    {"B": 16, "Y": 16, "X": 16, "K": 4, "C0": 8, "C1": 8, "C2": 16, "C3": 32, "C4": 64}, 300,
    "sgd(lr = 0.03, momentum = 0.9, decay = 1e-4)", FALLING,
    dead=[("fc(mean[Y4, X4](x4))", "fc(stop_gradient(mean[Y4, X4](x4)))")],
    wrong=[("conv1(image)", "conv1(where(iota[X]() < 3, image, 0))")], shifted=("label",), configs=("K",))
add("resnet, bottleneck", "resnet.tn", "ResNet", ["ce"], rows(shapes.shapes, 3, 16, 1),
    {"B": 16, "Y": 16, "X": 16, "K": 4, "C0": 8, "C1": 16, "C2": 32, "C3": 64, "C4": 64, "Block": "Bottleneck", "wide": 4}, 500,
    "sgd(lr = 0.05, momentum = 0.9, decay = 1e-4)", FALLING,
    dead=[("fc(mean[Y4, X4](x4))", "fc(stop_gradient(mean[Y4, X4](x4)))")],
    wrong=[("conv1(image)", "conv1(where(iota[X]() < 3, image, 0))")], shifted=("label",), configs=("K",))
add("vit", "vit.tn", "ViT", ["ce"], rows(shapes.shapes, 1, 15, 5),
    {"B": 16, "Y": 15, "X": 15, "P": 5, "C": 1, "D": 32, "E": 16, "N": 2, "K": 4, "std": 0.1}, 400, "adamw(lr = 2e-3)", FALLING,
    dead=[("classifier(h[T: 0])", "classifier(stop_gradient(h)[T: 0])")],
    wrong=[("drop  rate\n    value wv(x)", "drop  rate\n    mask  j < 1\n    value wv(x)")], shifted=("label",), configs=("K",))
