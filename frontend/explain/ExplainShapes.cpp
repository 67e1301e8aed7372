// Pages of the codes of axes, sizes and indices, T0201..T0299.
#include "frontend/explain/Explain.h"

namespace tenon {

static constexpr ExplainPage kShapes[] = {
    {"T0201", "the tensor lacks this axis",
     "An axis operation, a reduction or a dot names an axis that the tensor does not have. Axes are told apart by name: an axis "
     "that was renamed (x[T -> S]) or reduced is gone.",
     "let key = x[T -> S]\nlet q = key[T: 0]", "let key = x[T -> S]\nlet q = key[S: 0]"},
    {"T0202", "other axes than declared",
     "The value has not the axes of its declared type. The message names what is missing and what is too much. The order of axes "
     "does not matter here: a declared type sets it. Whole numbers and truth values may lack axes, reals may not: expand[B](x) "
     "repeats a value, full[B, D](0) a number. A carry of a scan keeps its axes at every place.",
     "layer Head(x: [B, D]) -> [B, V] { .. }\nlet y = head(h)          # h: [B, T, D]", "let y = head(h[T: 0])"},
    {"T0203", "neither side has all axes of the other",
     "Reals are broadcast only if the axes of one side contain those of the other; an outer product hidden in a sum is nearly "
     "always a slip. Say expand[..](x) where it is meant. Whole numbers and truth values may form outer products. The score "
     "terms of an attend add up by the same rule, in whatever order: one of them has all axes of the others.",
     "let y = a + b            # a: [B, T], b: [T, D]", "let y = expand[D](a) + b"},
    {"T0204", "axes of different sizes",
     "A rename keeps every place, so both axes must have the same size: the same number, or the same form of dims such as M + T.",
     "dim S = M + T\nlet k = x[T -> S]", "dim S = T\nlet k = x[T -> S]"},
    {"T0205", "sizes before and after differ",
     "A split x[D -> H * E] or merge x[H * E -> D] keeps all elements: the products on both sides must be equal.",
     "config D = 512, H = 10, E = 50\nlet q = x[D -> H * E]", "config D = 500, H = 10, E = D / H\nlet q = x[D -> H * E]"},
    {"T0206", "an axis twice",
     "No tensor has two axes of one name. Give one of them a name of its own: a square matrix is [D, D2] with dim D2 = D, and "
     "keys that are also queries are x[T -> S].",
     "param w: [D, D] ~ normal(0.02)", "dim D2 = D\nparam w: [D, D2] ~ normal(0.02)"},
    {"T0207", "an index that can leave its axis",
     "Every index is proved to stay inside its axis for all sizes, by interval arithmetic and then Presburger arithmetic under "
     "the mask or the `where` around it. The message shows the range of the index and, where there is one, a concrete example "
     "that leaves the axis. Ways out: a mask that hides the bad places, clip(i, 0, N - 1), a declared bound (index(N)), or a "
     "longer axis. A value that is not linear in places and sizes has no known range; clip gives it one. Places count from 0, "
     "and "
     "the last one is T - 1; the one before every place is window[T -> T * K](x, pad = (1, 0))[K: 0] with dim K = 2, and in a "
     "scan "
     "what a carry hands on.",
     "attend(i: T, j: S) {\n  score position = dot[E](q, r[P: M + i - j])\n  value v\n}",
     "attend(i: T, j: S) {\n  score position = dot[E](q, r[P: M + i - j])\n  mask  j <= M + i\n  value v\n}"},
    {"T0208", "a slice that can leave its axis",
     "x[T: low .. high -> K] takes the places low .. high - 1. For all sizes of the dims it must hold that 0 <= low and that "
     "high is at most the size of the axis. `T: low ..` goes to the end.",
     "let last = c[S: T .. S + 1 -> Z]", "let last = c[S: T .. S -> M]"},
    {"T0209", "a dim outside its bounds",
     "Every symbolic dim is at least 1, and dim T <= L is at most L. The bound itself must leave room for 1.",
     "dim T <= L        # L = 512\nbind T = 1024", "bind T = 512"},
    {"T0210", "a slice of another length",
     "The places low .. high - 1 of a slice become the axis after ->, so their number must be its size.",
     "let mem = c[S: T .. S -> T]      # S = M + T: these are M places", "let mem = c[S: T .. S -> M]"},
    {"T0211", "the parts do not make the whole", "The sizes of the parts of a concat, added, are the size of its result.",
     "dim S = M + T + 1\nlet c = concat[M + T -> S](mem, x)", "dim S = M + T\nlet c = concat[M + T -> S](mem, x)"},
    {"T0212", "parts with different axes",
     "All parts of a concat have the same axes besides the joined one; what put writes has the axes of the tensor with the "
     "places instead of the written axis.",
     "concat[M + T -> S](mem, x[B: 0])", "concat[M + T -> S](mem, x)"},
    {"T0213", "not a size",
     "The size of an axis is a whole number or made of sums and products of dims: S = M + T, N = B * T (of up to 4 dims that a "
     "run brings). D / H must divide; `div` rounds down, of dims that it divides: (4 * N + 1) div 2 is 2 * N.",
     "config E = D / H         # D = 512, H = 10", "config E = D div H"},
    {"T0214", "a size out of range",
     "A size is never negative, for any size of the dims (each is at least 1), and at most 2147483647: places are counted with "
     "32 bits. A parameter has at most 2^46 elements, in all layers of a stack.",
     "dim R = T - 2", "dim R = T - 1"},
    {"T0215", "a window that does not fit",
     "Windows of K places, `stride` apart, over an axis of N places with p0 and p1 places of padding: there are (N + p0 + p1 - "
     "dilation (K - 1) - 1) div stride + 1 of them, and the axis of the windows has this size. Of an axis that a run brings this "
     "is known where its dims are counted by the stride: with dim N, T = 2 * N + 1, windows of 3 places with stride 2 are N.",
     "dim K = 3\nlet w = window[T -> T * K](x)", "dim K = 3\nlet w = window[T -> T * K](x, pad = 1)"},
    {"T0216", "axes in the wrong form",
     "Each operation writes its axes in its own way: x[T -> S], x[T: i], x[T: a .. b -> K], sum[T](x), dot[E](a, b), concat[A + "
     "B -> C](a, b), window[T -> W * K](x), top[V -> K](x), put[T: at](x, v), sinusoid[P, D]().",
     "concat[M * T -> S](mem, x)", "concat[M + T -> S](mem, x)"},
    {"T0217", "labels that can leave the classes",
     "The labels of a cross entropy are places on the class axis. Declare them as index(V) with the size of that axis, or say "
     "with `where` which rows count: the bounds are proved under it.",
     "in target: index(W)[B, T]\nloss nll = mean(cross_entropy[V](logits, target))",
     "in target: index(V)[B, T]\nloss nll = mean(cross_entropy[V](logits, target))"},
    {"T0218", "labels that do not fit the logits",
     "Labels have exactly the axes of the logits without the class axis, one label per row. Otherwise rows and labels are not of "
     "the same places, or a rename was forgotten.",
     "cross_entropy[V](logits, ids[T: 1 .. T -> T1])", "cross_entropy[V](logits[T: 0 .. T1 -> T1], ids[T: 1 .. T -> T1])"},
    {"T0219", "a parameter whose size varies",
     "Parameters outlive a call, so their sizes are numbers: configs, or dims made of configs. A table over run-time places "
     "takes the bound of the dim.",
     "dim T <= L\nparam position: [T, D] ~ normal(0.02)",
     "param position: [L, D] ~ normal(0.02)\nlet p = position[L: 0 .. T -> T]"},
    {"T0220", "a mean or a choice of nothing",
     "A mean over an axis without places is 0 / 0, and of no places none is the largest or the smallest, or is drawn. "
     "`top` takes at least one place, a window has at least one, and an `attend` has keys and heads. The axis has a size that "
     "was bound, or that configs "
     "make 0.",
     "dim T1 = T - 1                     # with --bind T=1\nloss nll = mean(cross_entropy[V](y[T: 0 .. T1 -> T1], ids[T: 1 .. T "
     "-> T1]))",
     "tenon compile model.tn --bind T=1 --entry step -o model   # an entry that has no such mean"},
    {"T0221", "proofs take too many steps",
     "That every index stays inside its axis is proved case by case: min, max, where, `or` in a mask and each div and mod "
     "multiply the cases. All proofs of a file together get about a second.",
     "let i = max(min(a, b) mod 3, min(c, d) mod 5) + ...",
     "let i: index(R)[T] = clip(.., 0, R - 1)   # proved once, known wherever i is read"},
};
ExplainPages explainShapes() { return kShapes; }

} // namespace tenon
