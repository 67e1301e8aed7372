"""The table of gradient tests: one row per operation of the language, and several where an operation has several cases.

A row is (name, axes of the result, parameters, statements, expression). `$` stands for the row's own prefix, so that no two rows
share a parameter; the parameters of a layer of the row are found by that prefix, too. Integer and boolean operations have no
gradient: they stand in rows that choose with them. Values lie in -1 .. 1, all different and away from 0 and 0.5
(op_gradients.py), so that kinks are not met.
"""
from collections import namedtuple

Row = namedtuple("Row", "name axes params lets result layers stopped")

# Names with config sizes first, then run-time ones: SMALL, where every element is moved, and LARGE, whose rows end inside tiles
# of every kernel. `ids` is below 256, `target` too.
SMALL = {"A": 3, "C": 5, "G": 2, "H": 2, "E": 3, "F": 2, "M": 3}, {"B": 2, "T": 7}
LARGE = {"A": 33, "C": 67, "G": 35, "H": 3, "E": 41, "F": 24, "M": 33}, {"B": 2, "T": 131}
HEADER = """
  config K = 2, HE = H * E, W = 5, V = 256, N = 3
  dim    B, T
  dim    S = T, T1 = T - 1, U = M + T, P = M + T, R = 2 * U - 1, A2 = A, A3 = A, C2 = C, C3 = C - 2, A5 = A + C
  dim    W1 = 1, W3 = 3, Z3 = 3, A6 = A, C6 = C, A7 = (A - 1) div 2 + 1, C7 = (C - 1) div 2 + 1  # places and windows
  dim    TT = 2 * T, T7 = 3 * T + M, T8 = (T7 - 4) div 3 + 1, T9 = (T7 - 4) div 4 + 1 # windows in steps along them
  in     ids, target: index(V)[B, T]
  let    some = ids mod A
  let    other = ids div A mod A
  let    near = min(ids mod 7, T - 1)
"""
ROWS = []


def row(name, axes, params, result, lets="", layers="", stopped=()):
    ROWS.append(Row(name, axes.split(), params, lets, result, layers, stopped))


AC = {"p": "A, C"}
PQ = {"p": "A, C", "q": "A, C"}

# ---- elementwise
for function in ("exp", "abs", "sin", "cos", "atan", "erf", "tanh", "sigmoid", "relu", "leaky_relu", "gelu", "gelu_tanh"):
    row(function, "A C", AC, f"{function}(3 * $p)")
for function in ("round", "floor", "ceil"):
    row(function, "A C", PQ, f"$p * {function}(9 * $q)")
row("log", "A C", AC, "log($p + 1.5)")
row("sqrt", "A C", AC, "sqrt($p + 1.5)")
row("neg", "A C", AC, "-$p")
row("clip", "A C", AC, "clip($p, -0.4995, 0.5005)")
row("add", "A C", PQ, "$p + $q")
row("sub", "A C", PQ, "$p - $q")
row("mul", "A C", PQ, "$p * $q")
row("div", "A C", PQ, "$p / ($q + 1.5)")
row("pow", "A C", PQ, "($p + 1.5) ^ $q")
row("square", "A C", AC, "$p ^ 2 + $p ^ 3 - ($p + 2) ^ -1.5")
row("max", "A C", PQ, "max($p, $q)")
row("min", "A C", PQ, "min($p, $q)")
row("max with a number", "A C", AC, "max($p, 0.25) * min($p, -0.25)")
row("where", "A C", PQ, "where($p < $q, $p * $p, sin($q))")
row("where of integers", "A C", PQ,
    "where(iota[A]() + iota[C]() mod 2 == 1 and not (iota[A]() == iota[C]()) or iota[C]() div 3 != 1, $p, $q)")
row("where of a contraction", "B T C", {"p": "A, E", "w": "C, E"}, "where(ids mod 3 == 1, dot[E](sin($p[A: some]), $w), 0)")
row("where of contractions in each other", "B T C", {"p": "A, E", "u": "F, E", "v": "F, E", "w": "C, F"},
    "where(ids mod 4 != 1 and near > 1, near * dot[F](tanh(dot[E]($x, $u)) * dot[E]($x, $v), $w), 0)",
    "let $x = sin($p[A: some])")
row("where of a contraction, of places alone", "A C", {"p": "A, E", "w": "C, E"}, "where(iota[A]() != 1, dot[E]($p, $w), 0)")
row("cross_entropy where, of a contraction", "B T", {"p": "A, E", "w": "C, E"},
    "cross_entropy[C](dot[E](sin($p[A: some]), $w), target mod C, where = ids mod 3 != 0)")
row("where of all and any", "A C", PQ, "where(all[C]($p > -2), $p, $q) * where(any[C]($q > 2), $p, $q)")
row("real of integers", "B T", {"p": "A"}, "$p[A: some] * real(ids) / 256 + real(near) * $p[A: other]")
row("repeated along an axis", "A C", {"p": "A, C", "q": "C"}, "$p * $q + $q ^ 2")
row("expand", "A C", {"p": "A", "q": "C"}, "expand[C]($p) * expand[A]($q)")
row("full", "A C", {"p": "C"}, "full[A, C](2) * expand[A]($p)")
row("size", "C", {"p": "C"}, "$p * size[T]() / size[B]()")
row("sinusoid", "P C", {"p": "C"},
    "sinusoid[P, C](start = 1 - M) * $p + sinusoid[P, C](clamp = 4, layout = \"interleaved\", steps = \"t2t\") * sin($p)")
row("stop_gradient", "A C", PQ, "$p * stop_gradient($q)", stopped=("q",))
row("dropout", "A C", AC, "dropout(sin($p), 0.3)")
row("dropout shared", "B T C", {"p": "A, C"}, "dropout[T]($p[A: some], 0.4)")
row("training", "A C", AC, "(if training then exp($p) else $p)")

# ---- reductions
row("sum", "C", AC, "sum[A](exp($p))")
row("sum of all", "", AC, "sum[A, C]($p * sin($p))")
row("sum over run-time axes", "C", {"p": "A, C"}, "sum[B, T]($p[A: some] ^ 2)")
row("mean", "A", AC, "mean[C](exp($p))")
row("mean over run-time axes", "C", {"p": "A, C"}, "mean[B, T](sin($p[A: some]))")
row("reduce max", "A", AC, "max[C]($p)")
row("reduce max over two", "", AC, "max[A, C]($p) + min[A, C]($p)")
row("reduce min", "C", AC, "min[A]($p)")
row("softmax", "A C", AC, "softmax[C](3 * $p)")
row("softmax along the first axis", "A C", AC, "softmax[A](3 * $p)")
row("softmax over two axes", "A C", AC, "softmax[A, C](3 * $p)")
row("log_softmax", "A C", AC, "log_softmax[C](3 * $p)")
row("normalize", "A C", AC, "normalize[C]($p, eps = 1e-5)")
row("normalize along the first axis", "A C", AC, "normalize[A]($p, eps = 0.1)")
row("normalize over two axes", "A C", AC, "normalize[A, C]($p, eps = 1e-12)")
row("layer norm", "B T C", {"p": "A, C"}, "$n($p[A: some])", "use $n = LayerNorm[C]")
row("rms norm", "A C", AC, "$n($p)", "use $n = RMSNorm[C]")

# ---- losses
row("cross_entropy", "A", AC, "cross_entropy[C](3 * $p, iota[A]() + 1)")
row("cross_entropy of a batch", "B T", {"p": "A, C"}, "cross_entropy[C](2 * $p[A: some], target mod C)")
row("cross_entropy where", "A", AC, "cross_entropy[C](3 * $p, iota[A](), where = iota[A]() != 1)")
row("cross_entropy spread", "A", AC, "cross_entropy[C](3 * $p, iota[A]() + 1, spread = 0.2 / C)")
row("cross_entropy spread and skip", "A", AC, "cross_entropy[C](3 * $p, iota[A]() + 2, spread = 0.2 / C, skip = 1)")
row("cross_entropy smoothing", "A", AC, "cross_entropy[C](3 * $p, iota[A]() + 1, smoothing = 0.2)")
row("cross_entropy smoothing of others, and skip", "A", AC,
    "cross_entropy[C](3 * $p, iota[A]() + 2, smoothing = 0.2, form = \"t2t\", skip = 1)")
row("cross_entropy with everything", "B T", {"p": "A, C"},
    "cross_entropy[C]($p[A: some], where(target mod C == 1, 0, target mod C), spread = 0.1 / C, skip = 1, where = ids "
    "mod 3 != 0)")
row("binary_cross_entropy", "A C", AC, "binary_cross_entropy(3 * $p, iota[A]() + iota[C]() < 4)")
row("binary_cross_entropy of reals", "A C", PQ, "binary_cross_entropy(3 * $p, stop_gradient(sigmoid($q)))", stopped=("q",))

# ---- axes
row("cumsum", "A C", AC, "sin(cumsum[C]($p))")
row("cumsum along the first axis", "A C", AC, "sin(cumsum[A]($p)) * cumsum[C]($p)")
row("cumsum along a run-time axis", "B T C", {"p": "A, C"}, "tanh(cumsum[T]($p[A: some]))")
row("flip", "A C", PQ, "flip[A]($p) * flip[C]($q)")
row("max behind normalize", "C", AC, "max[A](normalize[A, C]($p, eps = 0.1))")  # the winners must be found among the same numbers
row("argmax", "A C", AC, "where(argmax[C]($p) == iota[C](), $p * $p, $p)")
row("argmax of computed numbers", "A C", AC, "where(argmax[C](sin(3 * $p)) == iota[C](), $p * $p, $p)")
row("argmax along the first axis", "A C", AC, "where(expand[A](argmax[A](sin(3 * $p))) == iota[A](), $p * $p, $p)")
row("sample", "A C", AC, "where(sample[C](4 * $p, temperature = 2) == iota[C](), $p * $p, $p)")
row("sample of several draws", "A K C", AC, "where(sample[C -> K]($p) == iota[C](), expand[K]($p * $p), expand[K]($p))")
row("top", "A K", AC, "sin($v) * real($i + 1)", "let ($v, $i) = top[C -> K]($p)")
row("top along the first axis", "A2 C", AC, "$v ^ 2 * real($i + 1)", "let ($v, $i) = top[A -> A2](exp($p))")
row("top of a batch", "B T K", {"p": "A, C"}, "sin($v)", "let ($v, $i) = top[C -> K]($p[A: some])")
row("put", "B C G", {"p": "C, G", "q": "K, G"}, "sin(put[C: $at](expand[B]($p), $q))",
    "let $at = iota[K]() * 2 + expand[B, K](1)")
row("put where", "B C G", {"p": "C, G", "q": "K, G"},
    "sin(put[C: $at](expand[B]($p), $q, where = ids[T: 0] + iota[K]() mod 2 == 0))", "let $at = iota[K]() * 2 + expand[B, K](1)")
row("put of two axes of slots", "A C", {"p": "A, C", "q": "A, K, G"},
    "sin(put[C: $at]($p, $q)) * $p", "let $at = iota[K]() + iota[G]()")
row("gather", "B T C", {"p": "A, C"}, "sin($p[A: some])")
row("gather of a gather", "B T", {"p": "A, C"}, "$p[A: some][C: target mod C] ^ 2")
row("gather along a batch", "B T C", {"p": "A, C"}, "$x[T: near]", "let $x = exp($p[A: some])")
row("gather of a batch and heads", "B T H", {"p": "A, H"}, "$x[T: near] * $x", "let $x = $p[A: some]")
row("gather at each column", "C", AC, "sin($p[A: 2 * iota[C]() mod A])")
row("gather at each column of a batch", "B T C", {"p": "A, C"}, "sin($p[A: (expand[C](some) + iota[C]()) mod A]) * $p[A: some]")
row("pick", "A", AC, "$p[C: 2] * $p[C: 0]")
row("slice", "A C3", AC, "$p[C: 1 .. C - 1 -> C3] ^ 2")
row("slice of a run-time axis", "B T1 C", {"p": "A, C"}, "$x[T: 0 .. T1 -> T1] * $x[T: 1 .. T -> T1]", "let $x = $p[A: some]")
row("concat", "A5 G", {"p": "A, G", "q": "C, G"}, "concat[A + C -> A5]($p, sin($q)) ^ 2")
row("concat of run-time axes", "B U C", {"p": "A, C", "q": "M, C"}, "concat[M + T -> U](expand[B]($q), $p[A: some])")
row("split", "A H E", {"p": "A, HE"}, "$p[HE -> H * E] ^ 2")
row("merge", "A HE", {"p": "A, H, E"}, "$p[H * E -> HE] ^ 2")
row("merge of axes apart", "HE A", {"p": "H, A, E"}, "$y", "let $y: [HE, A] = sin($p[E * H -> HE])")
row("transpose", "C A", AC, "$y", "let $y: [C, A] = exp($p)")
row("rename", "A A2", {"p": "A, C", "q": "A, C"}, "dot[C]($p, $q[A -> A2])")
row("window", "A6 W3 C", AC, "sin(window[A -> A6 * W3]($p, pad = 1, fill = 0.3))")
row("window of integers", "B T C", {"p": "A, C"},
    "$p[A: some] * real(sum[W3](window[T -> T * W3](ids, pad = 1, fill = 2))) / 64")
row("max pooling", "A7 C7", AC, "max[W3, Z3](window[A -> A7 * W3, C -> C7 * Z3](sin(3 * $p), stride = 2, pad = 1, fill = -9))")
row("mean pooling of a run-time axis", "B T C", {"p": "A, C"}, "mean[W3](window[T -> T * W3](exp($p[A: some]), pad = 1))")
row("max pooling in steps of a run-time axis", "B T C", {"p": "A, C"},
    "max[W3](window[TT -> T * W3](concat[T + T -> TT](sin(3 * $x), $x), stride = 2, pad = 1, fill = -9))", "let $x = $p[A: some]")
row("convert", "A C", AC, "$p * where($p > 0, 1, 0)")

# ---- contractions
row("dot", "A G", {"p": "A, C", "q": "G, C"}, "dot[C]($p, $q)")
row("dot of a batch", "B T G", {"p": "A, C", "q": "G, C"}, "dot[C]($p[A: some], $q)")
row("dot batched", "A G", {"p": "A, C", "q": "A, G, C"}, "dot[C]($p, $q)")
row("dot over two axes", "G K", {"p": "A, C, G", "q": "C, K, A"}, "dot[A, C]($p, $q)")
row("dot over all", "", PQ, "dot[A, C]($p, $q)")
row("dot over run-time axes", "C G", {"p": "A, C", "q": "A, G"}, "dot[B, T]($p[A: some], $q[A: other])")
row("dot with itself", "A A2", AC, "dot[C]($p, $p[A -> A2])")
row("dot of a vector", "A", {"p": "A, C", "q": "C"}, "dot[C]($p, $q)")
row("scores", "B H T S", {"p": "A, H, E", "q": "A, H, E"}, "dot[E]($p[A: some], $q[A: other][T -> S])")
row("linear", "B T G", {"p": "A, C"}, "$l($p[A: some])", "use $l = Linear[C -> G]")
row("linear to two axes", "B T H E", {"p": "A, C"}, "$l($p[A: some])", "use $l = Conv1D[C -> H * E]")
row("convolution", "A6 C6 G", {"p": "H, A, C", "q": "G, H, W3, Z3"},
    "dot[H, W3, Z3](window[A -> A6 * W3, C -> C6 * Z3](sin($p), pad = 1), $q)")
row("convolution in steps", "A7 C7 G", {"p": "H, A, C", "q": "G, H, W3, Z3"},
    "dot[H, W3, Z3](window[A -> A7 * W3, C -> C7 * Z3]($p, stride = 2, pad = 1), $q)")
row("convolution of a batch", "B G A6 C7", {"p": "H, A, C", "q": "G, H, W3, Z3"},
    "$y", "let $x = expand[B]($p) * real(1 + iota[B]())\n  "
    "let $y: [B, G, A6, C7] = dot[H, W3, Z3](window[A -> A6 * W3, C -> C7 * Z3]($x, stride = (1, 2), pad = ((2, 0), "
    "(1, 1))), $q)")
row("convolution with channels last", "A6 C6 G", {"p": "A, C, H", "q": "W3, Z3, H, G"},
    "dot[W3, Z3, H](window[A -> A6 * W3, C -> C6 * Z3]($p, pad = 1), $q)")
row("convolution of one place, in steps", "A7 G", {"p": "A, C", "q": "G, C, W1"},
    "dot[C, W1](window[A -> A7 * W1]($p, stride = 2), $q)")
row("convolution of one place", "A6 G", {"p": "C, A", "q": "G, C, W1"}, "dot[C, W1](window[A -> A6 * W1]($p), $q)")
row("causal convolution", "B T G", {"p": "A, C", "q": "G, C, W3"},
    "dot[C, W3](window[T -> T * W3]($p[A: some], pad = (2, 0)), $q)")
row("dilated convolution", "B T G", {"p": "A, C", "q": "W3, C, G"},
    "dot[C, W3](window[T -> T * W3]($p[A: some], pad = 2, dilation = 2), $q)")
row("convolutions in steps of run-time axes", "B T8 G", {"p": "A, C", "q": "F, C, W3", "r": "M, F", "s": "W3, F, G"},
    "dot[F, W3](window[T7 -> T8 * W3]($z, stride = 3, pad = (0, 1), dilation = 2), $s)",
    "let $x = $p[A: some]\n  let $y = dot[C, W3](window[TT -> T * W3](concat[T + T -> TT]($x, exp($x)), stride = 2, pad = 1), $q)"
    "\n  let $z = concat[M + T + T + T -> T7](expand[B]($r), $y, sin($y), $y * $y)")
row("convolutions in steps beyond their windows", "B T9 G", {"p": "A, C", "q": "C, W3, G", "r": "M, C"},
    "dot[C, W3](window[T7 -> T9 * W3]($z, stride = 4, pad = (0, 1), dilation = 2), $q)",
    "let $x = $p[A: some]\n  let $z = concat[M + T + T + T -> T7](expand[B]($r), $x, sin($x), $x * $x)")
row("grouped convolution", "H A6 G", {"p": "H, E, A", "q": "H, G, E, W3"}, "dot[E, W3](window[A -> A6 * W3]($p, pad = 1), $q)")
row("depthwise convolution", "B T C", {"p": "A, C", "q": "W3, C"},
    "sum[W3](window[T -> T * W3]($p[A: some], pad = (2, 0)) * $q)")

# ---- attention
QKV = {"q": "A, H, E", "k": "A, H, E", "v": "A, H, F"}
READ = "let $Q = sin($q[A: some])\n  let $K = sin($k[A: other])[T -> S]\n  let $V = $v[A: some][T -> S]\n  "
LONG = ("let $Q = sin($q[A: some])\n  let $K = concat[M + T -> U](expand[B]($k[A -> M]), $k[A: other])\n  let $V = concat[M + T "
        "-> U](expand[B]($v[A -> M]), $v[A: some])\n  ")
BTHF = "B T H F"


def attend(name, items, more=None, binders="i: T, j: S", lets=READ, axes=BTHF, params=None, before=""):
    row("attend: " + name, axes, (params or QKV) | (more or {}), "$y", f"{lets}{before}let $y = attend({binders}) {{ {items} }}")


CONTENT = "score content = dot[E]($Q, $K)  scale 1 / sqrt(E)  value $V  "
attend("content", CONTENT)
attend("content of gathered rows", CONTENT, lets=READ.replace("sin", ""))
attend("causal", CONTENT + "mask j <= i")
attend("strictly causal, a query without keys", CONTENT + "mask j < i")
attend("padding", CONTENT + "mask j < 1 + ids[T: 0] mod 7")
attend("window", CONTENT + "mask j <= i and j > i - 3")
attend("not and or", CONTENT + "mask not (j == i) or i == 2")
attend("permutation", CONTENT + "mask (target mod 7)[T -> S] <= target mod 7")
attend("documents", CONTENT + "mask some[T -> S] == some")
attend("dropout", CONTENT + "mask j <= i  drop 0.3")
attend("content bias", "score content = dot[E]($Q + $u, $K)  scale 0.7  mask j <= i  value $V", {"u": "H, E"})
attend("scale that is a tensor", "score content = dot[E]($Q, $K)  scale exp($s)  value $V", {"s": "H"})
attend("position bias by table", "score c = dot[E]($Q, $K)  score t = $t[W: clip(j - i, -2, 2) + 2]  value $V", {"t": "W, H"})
attend("relative table of values", "score c = dot[E]($Q, $K)  value expand[T]($V) + expand[B, H]($w[W: clip(j - i, -2, 2) + 2])",
       {"w": "W, F"})
attend("distance", "score c = dot[E]($Q, $K)  score d = $s * expand[H](real(i - j))  mask j <= i  value $V", {"s": "H"})
attend("offset in a grid", "score c = dot[E]($Q, $K)  score t = $t[W: clip(i div 3 - j div 3 + i mod 3 - j mod 3, -2, 2) + 2]  "
       "score r = dot[E]($Q + $u, $r[W: clip(i div 3 - j div 3 + i mod 3 - j mod 3, -2, 2) + 2])  mask j <= i + 3  value $V",
       {"t": "W, H", "u": "H, E", "r": "W, H, E"})
attend("scores by a computed place", "score c = dot[E]($Q, $K)  score t = $t[W: (i div 3 + j div 3) mod 5]  drop 0.2  value $V",
       {"t": "W, H"})
PAIRS = "tanh(expand[S]($l[A: some]) + expand[T]($z[A: other][T -> S]))"
attend("scores of pairs", f"score c = dot[E]($Q, $K)  score b = dot[C]({PAIRS}, $w)  mask j <= i + 1  drop 0.2  value $V",
       {"l": "A, C", "z": "A, C", "w": "C, H"})
attend("scores of pairs that heads and rows share", f"score c = dot[E]($Q, $K)  score b = 0.5 * mean[B](dot[C]({PAIRS}, $w))  "
       "scale 0.7  mask j <= i or j == 2  value $V", {"l": "A, C", "z": "A, C", "w": "C"})
attend("keys that ask", "score c = dot[E]($Q, $K)  score r = dot[E]($Q, $r[W: clip(j - i, -2, 2) + 2])  "
       "score s = dot[E]($K + 0.5, $s[W: clip(i - j, -2, 2) + 2])  mask j <= i + 3  value $V", {"r": "W, H, E", "s": "W, H, E"})
attend("segments", "score c = dot[E]($Q + $u, $K)  score g = dot[E]($Q + $s, $g[G: some != some[T -> S]])  scale 0.6  mask j <= "
       "i  value $V",
       {"u": "H, E", "s": "H, E", "g": "G, H, E"})
attend("relative with memory", "score c = dot[E]($Q + $u, $K)  score r = dot[E]($Q + $w, $R[P: M + i - j])  scale 0.6  mask j <= "
       "M + i  drop 0.2  value $V",
       {"u": "H, E", "w": "H, E", "r": "C, H, E"}, "i: T, j: U", LONG, before="let $R = dot[C](sinusoid[P, C](), $r)\n  ")
attend("two streams", "score c = dot[E]($Q + $u, $K)  score r = dot[E]($Q + $w, $R[R: where(ids[T: 0] mod 2 == 0, j - M - i, M + "
       "i - j) + U - 1])  "
       "score g = dot[E]($Q + $s, $g[G: some != concat[M + T -> U](full[B, M](0), some)])  scale 0.6  mask $rank <= target mod "
       "7  value $V",
       {"u": "H, E", "w": "H, E", "s": "H, E", "r": "C, H, E", "g": "G, H, E"}, "i: T, j: U", LONG,
       before="let $R = dot[C](sinusoid[R, C](start = 1 - U), $r)\n  let $rank = concat[M + T -> U](full[B, M](-1), target "
       "mod 7)\n  ")
attend("query stream", "score c = dot[E]($Q[T: near] + $u, $K)  score r = dot[E]($Q[T: near] + $w, $R[R: M + near - j + U - 1])  "
       "scale 0.6  mask j <= M + near  value $V",
       {"u": "H, E", "w": "H, E", "r": "C, H, E"}, "i: T, j: U", LONG,
       before="let $R = dot[C](sinusoid[R, C](start = 1 - U), $r)\n  ")
attend("one query", "score c = dot[E]($Q, $K)  value $V", {}, "j: S",
       "let $Q = $q[A: some[T: T - 1]]\n  let $K = $k[A: other][T -> S]\n  let $V = $v[A: some][T -> S]\n  ", "B H F")
attend("pooling with one score", "score c = dot[E]($K, $u)  value $V", {"u": "H, E"}, "j: S",
       "let $K = $k[A: other][T -> S]\n  let $V = $v[A: some][T -> S]\n  ", "B H F", {"k": "A, H, E", "v": "A, H, F"})
attend("no batch", "score c = dot[E]($q, $k[A -> A2])  mask j <= i  value $v[A -> A2]", {}, "i: A, j: A2", "", "A H F")

# ---- stacks, loops, states
LAYER = """
layer $Layer[T, C](x: [.., T, C]) -> [.., T, C] {
  use  l = Linear[C -> C]
  use  n = LayerNorm[C]
  return x + gelu(l(n(x))) / real(depth + 1)
}"""
DEEP = """
layer $Layer[T, C](x: [.., T, C], y: [.., T, C]) -> ([.., T, C], [.., T, C]) {
  param w: [C] ~ normal(1)
  return x * w + tanh(y), y - sin(x * real(depth + 1)) * y
}"""
row("stack", "B T C", {"p": "A, C"}, "$f($p[A: some])", "use $f = stack[N] $Layer[T, C]", LAYER)
row("loop", "B T C", {"p": "A, C"}, "$f($p[A: some])", "use $f = loop[N] $Layer[T, C]", LAYER)
row("every step of a stack", "N B T C", {"p": "A, C"}, "$y",
    "use $f = stack[N] $Layer[T, C]\n  let $y: [N, B, T, C] = $f[N]($p[A: some])", LAYER)
row("a stack of two values", "B T C", {"p": "A, C", "q": "A, C"}, "$a * $b",
    "use $f = stack[N] $Layer[T, C]\n  let ($a, $b) = $f($p[A: some], $q[A: some])", DEEP)
row("a function of its own", "A C", PQ, "$own($p, $q)", layers="fn $own(x: [..], y: [..]) -> [..] { return sin(x) * y }")
row("state", "B T C", {"p": "A, C"}, "$p[A: some] * $m[M: 1]", "state $m: [B, M, C] = 0.7\n  next $m = stop_gradient(2 * $m)")

# A mass that is whole at first grows by 0.9 .. 1.1 per round: what is moved by a little ends no loop earlier or later.
HALTS = """
layer $Layer[B, T, C](x: [B, T, C], mass: [B], rounds: i32[]) -> ([B, T, C], [B], i32[]) {
  use   l = Linear[C -> C]
  param v: [C] ~ normal(1)
  until min(mass) > LIMIT
  let   y = STEP
  return y, mass + 1 + 0.1 * sin(mean[T](dot[C](y, v))), rounds + 1
}"""
MIXED = "x + sin(l(x)) * v / real(depth + 1)"


def halts(name, step=MIXED, limit="2.5", loop="loop[W]", every=""):
    """The rounds are a factor of the result, so that one of another number would be seen."""
    lets = f"use $f = {loop} $Layer[B, T, C]\n  let ($y, $m, $k) = $f{every and '[W]'}($p[A: some], real(ids[T: 0] mod 2), 0)"
    row("until: " + name, every + "B T C", {"p": "A, C"}, "$y * real($k + 1) + expand[T, C]($m)", lets,
        HALTS.replace("STEP", step).replace("LIMIT", limit))


halts("the mass of every row")
halts("no round", limit="-1")
halts("all rounds", limit="99")
halts("rows that stay", "where(expand[T, C](mass) > 1.5, x, x * v + sin(l(x)))")
halts("draws", "x + dropout(sin(l(x)) * v, 0.3)")
halts("layers in turns", "if depth mod 2 == 0 then sin(l(x)) else x * v")
halts("layers in turns, an end by depth", "if depth mod 2 == 0 then sin(l(x)) else x * v", "0.5 and depth mod 3 == 2")
halts("at most as many as places", loop="loop[T]")
halts("every round", every="W ")
halts("every round, no round", limit="-1", every="W ")
halts("every round, layers in turns", "if depth mod 2 == 0 then sin(l(x)) else x * v", every="W ")


def scans(name, body, result="$y", axes="T B C", lets="", params=None):
    row("scan: " + name, axes, (params or {"p": "A, C", "q": "C, E", "h": "C"}) | {"w": "C, C2"}, result,
        f"let $x = sin($p[A: some])\n  {lets}let $y = scan(t: T) {{ carry h: [B, C] = expand[B]($h) {body} }}")


NEXT = "let new = tanh(dot[C2](h[C -> C2], $w) / 8 + $x[T: t])"
scans("a carry", f"{NEXT} next h = new yield new * h", params={"p": "A, C", "h": "C"})
scans("rows that ended", f"{NEXT} next h = where(ids[T: 0] mod 7 >= t, new, h) yield h", params={"p": "A, C", "h": "C"})
scans("backwards", f"{NEXT.replace('$x[', 'flip[T]($x)[')} next h = new yield new", "flip[T]($y)", params={"p": "A, C", "h": "C"})
scans("the last one", f"{NEXT} next h = new yield new", "$y[T: T - 1] ^ 2", "B C", params={"p": "A, C", "h": "C"})
scans("two carries", f"carry s: [B, C] = expand[B](exp($q)) {NEXT} next h = new next s = 0.75 * s + new * $q yield new * s",
      params={"p": "A, C", "h": "C", "q": "C"})
scans("a whole number", f"carry n: i32[B] = ids[T: 0] {NEXT} next n = (n + t) mod 5 next h = new yield new * real(n) + real(t)",
      params={"p": "A, C", "h": "C"})
scans("draws", NEXT.replace("$x[T: t]", "dropout($x[T: t], 0.3)") + " next h = new yield new", params={"p": "A, C", "h": "C"})
scans("a scan inside", f"{NEXT} let near = scan(s: N) {{ carry z: [B, C] = new next z = sin(z * $q + real(s)) yield z }} "
      "next h = near[N: N - 1] yield new * near[N: 1]", params={"p": "A, C", "h": "C", "q": "C"})
