// Pages of the codes of names (T0101..), values (T0301..), layers and statements (T0401..) and attend (T0501..).
#include "frontend/explain/Explain.h"
#include "runtime/base/DataType.h"

namespace tenon {

static constexpr ExplainPage kScopes[] = {
    {"T0101", "unknown name",
     "Nothing of this name is visible here: no definition of this layer or of what encloses it, no argument, no built-in "
     "function. Definitions of a model are not seen by layers that stand outside of it, and configs and dims that need each "
     "other stand in order.",
     "let h = norm4(x)", "let h = norm3(x)"},
    {"T0102", "unknown axis",
     "An axis is a dim, a config that is a whole number, or a formal of the layer. `..` stands for further axes, only where the "
     "arguments have it. A layer or function that stands in a file, outside of a model, does not see the axes of its callers: it "
     "names those that it mentions in the brackets of its signature, and leaves the others to `..`.",
     "layer Block(x: [B, T, D]) -> [B, T, D] { .. }", "layer Block[D](x: [.., D]) -> [.., D] { .. }"},
    {"T0103", "defined twice",
     "A name has one definition per layer or model, and a layer or model one per program: imported files count.",
     "let h = a\nlet h = b", "let h = a\nlet h2 = b"},
    {"T0104", "defined in a circle",
     "A definition needs its own value. Recurrence over time is written by state and next, or by scan.",
     "let a = b + 1\nlet b = a - 1", "state a: [B] = 0\nnext a = a + 1"},
    {"T0105", "not a layer", "`use` takes a layer, or a config whose value is a layer.", "use act = relu",
     "use up = Linear[D -> F]"},
    {"T0106", "the layer has no such keyword", "Keywords of `use` name a config, a param or a use of the layer.",
     "use norm = LayerNorm[D](epsilon = 1e-12)", "use norm = LayerNorm[D](eps = 1e-12)"},
    {"T0107", "no such model", "The file has no model, or none of the name given by --model, or nothing at all.", "", ""},
    {"T0108", "nothing of this name to set or bind", "--set names configs of the model, --bind its symbolic dims.",
     "tenon check gpt2.tn --set Dim=64", "tenon check gpt2.tn --set D=64"},
    {"T0109", "an import that cannot be found",
     "Imports are looked up beside the importing file, then in the folder of TENON_MODELS, then among Tenon's own models. They "
     "never leave these folders, so they are no absolute paths.",
     "import \"../bert.tn\"", "import \"bert.tn\""},
    {"T0110", "no such member",
     "layer.name reads a param of a used layer. A stack has one per layer, so there is no single one to read. Tensors have no "
     "methods: what PyTorch writes x.mean(-1) is mean[D](x), x.detach() is stop_gradient(x).",
     "let w = bert.wrod", "let w = bert.word"},
    {"T0111", "no such entry", "--entry names an `out` of the model, or eval, or a train recipe.", "", ""},
    {"T0112", "a file that cannot be read", "The file does not exist, is a folder, or may not be read.", "", ""},
    {"T0113", "an option that gives a name twice", "--set and --bind give a name one value.",
     "tenon check gpt2.tn --set D=64 --set D=32", "tenon check gpt2.tn --set D=32"},
    {"T0114", "an axis, argument or `let` without a use",
     "A warning: the layer, function or model never mentions it, so it has no effect. Take it away, or begin its name with `_` "
     "where callers need it.",
     "layer Up[D, F](x: [.., D]) -> [.., D] { return x * 2 }", "layer Up[D](x: [.., D]) -> [.., D] { return x * 2 }"},
    {"T0115", "a param or used layer that nothing uses",
     "A warning: nothing reads it, so no entry has it, and no file of weights. Take it away, or begin its name with `_`.",
     "param w, b: [D] = 0\nreturn x * w", "param w: [D] = 0\nreturn x * w"},
    {"T0116", "a metric that depends on the size of the batches",
     "A warning: an evaluation combines sums, maxima, minima, any and all over the rows, for each class too, and applies the "
     "formula to those of all rows. Something else that depends on the rows of a batch is taken for each batch alone, and the "
     "mean over the whole batches: a sum inside of what is summed, such as the mean in a variance, an argmax over the rows, a "
     "function other than arithmetic of a sum; or a formula that written out has more than 400 terms or 24 levels. What is "
     "summed is to be a function of one row: mean((w - mean(w)) ^ 2) is mean(w * w) - mean(w) * mean(w).",
     "metric r2 = 1 - sum((z - w) ^ 2) / sum((w - mean(w)) ^ 2)",
     "metric r2 = 1 - mean((z - w) ^ 2) / (mean(w * w) - mean(w) * mean(w))"},
    {"T0117", "a loop whose end is known",
     "A warning: depths, numbers, sizes, the bounds of indices and the ranges of reals (a sigmoid lies between 0 and 1, which "
     "rounding may reach; a carry that begins at 0 and grows is at least 0) show that the condition of `until` is false at every "
     "depth, so that all rounds run, or true at the first one, so that none does. A condition is of what the loop carries, such "
     "as "
     "min(halted) >= 0.99. One that a config or `training` switches off is not warned of.",
     "until depth > 8   # in loop[8]", "until min(halted) >= 0.99"},
    {"T0118", "a whole number of more than 32 bits",
     "A warning: whole numbers have 32 bits, from -2147483648 to 2147483647, and what is beyond wraps around, as in C. The "
     "bounds "
     "of what this one is made of allow such values. An index stays on its axis all the same, but is another one then.",
     "let h = (ids * 1_000_003) mod K", "let h = (ids mod 2_000 * 1_000_003) mod K"},
    {"T0119", "a state that is never set",
     "A warning: the body that declares the state has no `next` for it, so that it stays the number that it starts from, or what "
     "a file of weights has for it. A `next` in a scan sets the carries of the scan and no state. Where that is meant the name "
     "begins with `_`.",
     "state h: [B, D] = 0\nlet y = x + h", "state h: [B, D] = 0\nlet y = x + h\nnext h = y"},
    {"T0199", "too many mistakes", "After a hundred mistakes the rest is not looked at.", "", ""},
};
ExplainPages explainScopes() { return kScopes; }

static const std::string kElementTypes =
    "Types are [..] for reals, index(n) with n of at least 1, " + runtime::listThat(runtime::isInCode, " and ") + ".";
static const ExplainPage kValues[] = {
    {"T0301", "another element type than declared",
     "Reals, whole numbers (index, i32, i64) and truth values (bool) do not turn into each other silently, except a truth value "
     "into the index 0 or 1 and a whole number into a real in arithmetic. real(x) makes reals.",
     "in flags: bool[B]\nlet y: [B] = flags", "let y: [B] = real(flags)"},
    {"T0302", "a tensor or number is needed", "Layers, functions, texts and tuples are no operands.", "let y = relu + x",
     "let y = relu(x)"},
    {"T0303", "a truth value is needed",
     "and, or, not, where, all, any and until take truth values: comparisons and bool tensors.", "mask not len", "mask j < len"},
    {"T0304", "division of whole numbers", "`/` of whole numbers may not be whole. `div` rounds down, real(..) makes reals.",
     "let half = i / 2", "let half = i div 2"},
    {"T0305", "unknown element type", kElementTypes.c_str(), "in ids: int[B, T]", "in ids: index(V)[B, T]"},
    {"T0306", "a number out of range",
     "A compile-time number is not finite, does not fit into 64 bits, or is divided by 0; or a temperature is not above 0.",
     "config A = 1 / 0", "config A = 1 / 2"},
    {"T0307", "wrong number or form of arguments", "The message says what the function takes.", "where(c, a)", "where(c, a, b)"},
    {"T0308", "no such keyword",
     "The built-in function has no argument of this name, or not with this value. The message lists them.",
     "normalize[D](x, epsilon = 1e-5)", "normalize[D](x, eps = 1e-5)"},
    {"T0309", "not known at compile time",
     "Rates, strides, pads and limits are numbers that configs decide; a tensor or run-time dim cannot be one. A requirement may "
     "compare sums of dims and of their products, too: require T >= 4 and N == B * T. As many places in front of a window as the "
     "text has come from a concat: dim Z = T - 1, Q = Z + T, then window[Q -> T * S](concat[Z + T -> Q](full[B, Z, D](0.0), u)) "
     "has for each place all those back (docs/cookbook.md). What differs by depth stands side by side: use near = Conv(step = "
     "1), "
     "use far = Conv(step = 2), then `if depth mod 2 == 0 then near(x) else far(x)`; a rate of dropout by depth is there, too.",
     "let y = clip(x, 0, n)      # n is an input", "let y = min(max(x, 0), n)"},
    {"T0310", "an index of reals", "Places are whole numbers: iota, index inputs, binders of attend, and arithmetic of them.",
     "x[T: y / 2]", "x[T: i div 2]"},
    {"T0311", "not an initializer",
     "After ~ stands a distribution, after = a number, of a state a param or another state of its sizes, or an expression of "
     "indices: param a: [N] = log(1 + iota[N]()), with "
     "elementwise\n"
     "functions of iota and numbers alone, over axes of the parameter, at most 65536 values. Distributions are normal, "
     "trunc_normal, uniform, xavier_uniform, kaiming_normal,\northogonal; a spread is not negative, and stands behind a mean, "
     "normal(0, 0.02), or alone; uniform takes a bound or both, uniform(-1, 1). Numbers may be added to them "
     "and multiply them (1 + normal(0.02)), and exp and log be taken where the draws allow it.",
     "param w: [D] ~ relu", "param w: [D] ~ normal(0.02)"},
    {"T0312", "a condition that only the run knows",
     "`if` decides at compile time which side exists. A choice per element is where(c, a, b).",
     "let y = if ids == 0 then a else b", "let y = where(ids == 0, a, b)"},
    {"T0313", "names and values do not match", "let (a, b) takes as many names as there are values.",
     "let (h, g, s) = blocks(x, y)", "let (h, g) = blocks(x, y)"},
    {"T0314", "this cannot be called", "Only layers that are used, functions and built-in functions are called.", "let y = D(x)",
     "let y = dense(x)"},
    {"T0315", "a loss or metric that is no number", "A loss or metric is one number: reduce what is left, usually by mean.",
     "loss nll = cross_entropy[V](logits, target)", "loss nll = mean(cross_entropy[V](logits, target))"},
    {"T0316", "more weight than the target of a cross-entropy has",
     "`smoothing` is the share of the target that all classes have together, `spread` the weight of each single class that is "
     "not the label: spread * (V - 1) is at most 1, and the label has the rest.",
     "cross_entropy[V](logits, target, spread = 0.1)", "cross_entropy[V](logits, target, smoothing = 0.1)"},
    {"T0317", "a loss or metric that compares all pairs",
     "A warning: whole numbers are compared over the axes of both sides, so the result is a table of all pairs. In a loss or "
     "metric one side most often has a wrong axis. Where all pairs are meant, name the table with a `let` of its own.",
     "metric acc = mean(argmax[B](logits) == label)", "metric acc = mean(argmax[C](logits) == label)"},
    {"T0318", "probabilities where logits belong",
     "A warning: a cross-entropy applies its own softmax (or sigmoid); with a second one before it the gradients are small and "
     "the loss never comes near 0.",
     "cross_entropy[C](softmax[C](logits), label)", "cross_entropy[C](logits, label)"},
};
ExplainPages explainValues() { return kValues; }

static constexpr ExplainPage kLayers[] = {
    {"T0401", "wrong number of arguments", "The layer or function is declared with another number of arguments.",
     "let y = block(x)", "let y = block(x, sees)"},
    {"T0402", "wrong axis arguments",
     "A layer gets one axis, or product of axes, per formal; `I -> O` formals are written [D -> F].", "use up = Linear[D]",
     "use up = Linear[D -> F]"},
    {"T0403", "wrong number of results", "`return` gives as many values as the layer declares after ->.",
     "-> ([B, T, D], [B, D]) { return h }", "-> [B, T, D] { return h }"},
    {"T0404", "the carry of a stack does not fit",
     "Under stack and loop the first k arguments, k being the number of results, go from step to step. Each must come out with "
     "the type with which it goes in.",
     "layer Block(x: [B, T, D]) -> [B, T, F] { .. }\nuse blocks = stack[N] Block",
     "layer Block(x: [B, T, D]) -> [B, T, D] { .. }\nuse blocks = stack[N] Block"},
    {"T0405", "a parameter whose axes differ by depth",
     "An `if` on depth may make layers of a stack different, and parameters may exist at some depths only; one that exists has "
     "the same axes at every depth. Use two names where the sizes differ.",
     "config F = if depth == 0 then 64 else 32\nparam w: [F]", "if depth == 0 then first(x) else rest(x)"},
    {"T0406", "depth outside of a stack", "`depth` is the step of the enclosing stack or loop.", "model M { let a = depth }",
     "layer Block(x: [D]) -> [D] { return x * depth }"},
    {"T0407", "no such state or carry",
     "`next` gives a new value to a state of the same layer or model, or to a carry of the same scan. A state that a scan goes "
     "on "
     "from is where a carry begins, and is set behind the scan.",
     "state h: [B, D] = 0\nlet y = scan(t: T) { next h = h + x[T: t]  yield h }",
     "state h: [B, D] = 0\nlet y = scan(t: T) { carry c: [B, D] = h  next c = c + x[T: t]  yield c }\nnext h = y[T: T - 1]"},
    {"T0408", "a state that would be set twice",
     "A state has one new value per step: one `next` in its body, and one call of its layer; a second instance is a second "
     "`use`. The rounds of a loop, the places of a scan and the layers of a stack that share one hand it on to each other.",
     "next mem = c\nnext mem = stop_gradient(c)", "next mem = stop_gradient(c)"},
    {"T0409", "a statement in the wrong place",
     "in, out, loss and metric stand in models; return in layers and functions; carry and yield in scan; until in layers under "
     "loop.",
     "layer Block(x: [D]) -> [D] { in y: [D] .. }", "layer Block(x: [D], y: [D]) -> [D] { .. }"},
    {"T0410", "a requirement fails",
     "The author of the layer requires a property of configs and sizes that the present values lack, or that no sizes have. What "
     "is said of sizes that the run brings, T >= 4, is checked when it brings them.",
     "require D mod H == 0    # D = 512, H = 10", "--set H=8"},
    {"T0411", "nothing is returned", "A layer or function ends with `return`, a scan with `yield`.",
     "fn f(x: [D]) -> [D] { let y = x }", "fn f(x: [D]) -> [D] { return x }"},
    {"T0412", "axes in the wrong place",
     "The axes of a layer are given where it is used, not in a config and not where it is called; blocks[N](x) is for stacks.",
     "let y = up[D -> F](x)", "use up = Linear[D -> F]\nlet y = up(x)"},
    {"T0413", "nothing is demanded",
     "A model has at least one `out`, `loss` or `metric`; without them nothing would be computed.", "model M { dim B in x: [B] }",
     "model M { dim B in x: [B] out x }"},
    {"T0414", "the number of layers",
     "stack[N] and loop[N] take a whole number from 0 to 1000000 that is known at compile time. The layers of a stack inside of "
     "stacks count for each of those: stack[1000] of a layer with stack[1000] has a million.",
     "use blocks = stack[T] Block", "use blocks = stack[12] Block"},
    {"T0415", "layers without end",
     "A layer or function uses itself, directly or through others, or the calls nest more than 200 deep; a program has finitely "
     "many layers. A config may put a layer inside one of its kind: Residual(Inner = Residual(Inner = Linear)).",
     "layer A(x: [D]) -> [D] { use a = A return a(x) }", "use a = stack[3] A"},
    {"T0416", "an entry that walks an axis needs later places",
     "`out step(T)` brings the places of the dim T window by window and keeps what earlier ones gave. Along T everything is per "
     "place, but for attends whose mask implies key <= query or key < n for an n of the first window (keys that do not depend on "
     "T may stand in front of the places: concat[M + T -> S](pre, x) under key <= query + M), cumsum, sums over keys whose terms "
     "where(iota[S]() <= iota[T](), .., 0.0) makes 0 at later ones, scans that read "
     "x[T: t], and windows that end at their own place (stride 1, pad = ((K - 1) * dilation, 0)). Nor may a value change with "
     "the number of places: in an index, a comparison or the start of a table T must cancel, as it does where rows of "
     "sinusoid[R, D](start = 1 - R) are read at R - 1 + i - j.",
     "attend(i: T, j: S) { score s = .. value .. }", "mask j <= i"},
    {"T0417", "a state of the model changes outside of training",
     "A state without a run-time axis is saved with the weights and shared by all who use them; evaluation and generation leave "
     "it as it is.",
     "state avg: [D] = 0\nnext avg = 0.9 * avg + 0.1 * mean[B](x)",
     "next avg = if training then 0.9 * avg + 0.1 * mean[B](x) else avg"},
    {"T0418", "checking takes too many steps",
     "A layer or function is gone through once per use, and what it uses once more for each of these: twenty functions that each "
     "call the one before twice are a million calls. A body under stack[N] is gone through once per choice of its `if depth`, a "
     "file once per `out`. The checker stops after about a second of this.",
     "fn f1(x: [..]) -> [..] { return f0(x) + f0(x + 1) }  fn f2(x: [..]) -> [..] { return f1(x) + f1(x + 1) }  ... f20",
     "let y = f1(x)\nlet z = f1(y)"},
    {"T0419", "definitions need each other too deeply",
     "The value asked for needs another definition, that one the next, and so on for more levels than the checker goes down. A "
     "chain of some ten thousand `let`s is allowed.",
     "let a1 = a0 + 1  let a2 = a1 + 1  ... a1000000", "use steps = stack[1000] Step"},
};
ExplainPages explainLayers() { return kLayers; }

static constexpr ExplainPage kAttend[] = {
    {"T0501", "a score without the key axis",
     "The softmax runs over the keys, so a score that is the same for all keys cancels. Usually a rename is missing: the key "
     "comes from x[T -> S].",
     "score content = dot[E](wq(x), wk(x))      # both on T", "score content = dot[E](wq(x), wk(x[T -> S]))"},
    {"T0502", "not a mask", "A mask says of each key whether it is seen: a truth value with the key axis.", "mask i < len",
     "mask j < len"},
    {"T0503", "a value without the key axis", "The values are summed over the keys, so they need the key axis.", "value wv(x)",
     "value wv(x[T -> S])"},
    {"T0504", "an attend without score or value", "attend needs at least one score that is not 0, and a value.",
     "attend(i: T, j: S) { score a }", "attend(i: T, j: S) { score a value v }"},
    {"T0505", "an item twice", "An attend has any number of scores and masks, but one scale, one drop and one value.",
     "value a\nvalue b", "value a + b"},
    {"T0506", "binders along one axis", "Queries and keys need axes of their own: rename the side of the keys.",
     "attend(i: T, j: T) { .. }", "let key = x[T -> S]\nattend(i: T, j: S) { .. }"},
    {"T0507", "not a dropout rate", "A rate is a number at compile time, at least 0 and below 1.", "dropout(x, 1.5)",
     "dropout(x, 0.1)"},
    {"T0508", "a scale that does not fit",
     "The scale multiplies the sum of the scores: a number, or a tensor over batch and query axes, never over keys.",
     "scale s[S: j]", "score content = s * dot[E](q, k)"},
};
ExplainPages explainAttend() { return kAttend; }

static constexpr ExplainPage kCompiler[] = {
    {"T0901", "not supported yet",
     "The specification means something, but this version of the compiler makes no code for the construct that the message "
     "names.",
     "", ""},
    {"T0902", "attention that stores its scores",
     "Attention runs without a matrix of queries times keys if its score terms are sums of dot products of a query with the "
     "keys, of either with a table at a function of the distance between them, of a query with a table at any integer function "
     "of both or with two vectors chosen by a condition, of tables of scores, of scores that lie in memory (an input, a "
     "contraction of vectors of pairs), and of functions of the distance and the head, each with factors of the head, the query "
     "or the key; or one elementwise function of such a sum. This one has another term, "
     "which the notes name with the entries; it is computed as written, and its scores take the bytes the notes state. A "
     "contraction of a query with keys is over one axis, the width of a head: dot[H, E](q, k) leaves no heads, and is fused over "
     "their product, q[H * E -> D].",
     "score bias = slope * expand[H](real(i * j))", "score bias = slope * expand[H](real(i - j))"},
    {"T0903", "computed in simpler ops",
     "The target (`--target`) has no kernel for an op that comes of this line, such as a fused attention, or has none for its "
     "element type. It is computed as contractions, reductions and elementwise ops, with the same numbers but for rounding; the "
     "notes name the entries, the reason, and the bytes of the largest tensor that exists for it alone.",
     "", ""},
};
ExplainPages explainCompiler() { return kCompiler; }

} // namespace tenon
