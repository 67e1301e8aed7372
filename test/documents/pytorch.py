#!/usr/bin/env python3
"""Checks each form of Tenon in the cookbook's table of PyTorch's: within a model that declares what it names. pytorch.py DOCUMENT
SCRATCH-FOLDER"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import driver  # noqa: E402

MODEL = """model Row {{
  config V = 11, D = 8, H = 2, E = D / H, F = 16, N = 2, M = 3, p = 0.1
  dim    B, T
  in     ids: index(V)[B, T], target: index(V)[B, T], at: index(T)[B]
  param  emb: [V, D] ~ normal(0.02)
  let    rows = emb[V: ids]
{lines}
}}
"""
LAYER = "  layer  Block(z: [B, T, D]) -> [B, T, D] { return z + gelu(z) }\n"
ATTEND = "".join(f"  use    w{name} = Linear[D -> H * E]\n" for name in "qkv") + \
    "  dim    S = T\n  let    (q, k, v) = (wq(rows), wk(rows)[T -> S], wv(rows)[T -> S])\n"
# What stands before a form, and what is averaged for the loss: FORM is the form itself.
FORMS = {
    "dot[D](x, w)": ("  param  w: [F, D] ~ normal(1)\n  let    x = rows\n", "FORM"),
    "x[D -> H * E]": ("  let    x = rows\n", "FORM"),
    "x[H * E -> D]": ("  let    x = rows[D -> H * E]\n", "FORM"),
    "x[T -> S]": ("  dim    S = T\n  let    x = rows\n", "FORM"),
    "x[T: 0]": ("  let    x = rows\n", "FORM"),
    "x[T: 1 .. T -> T1]": ("  dim    T1 = T - 1\n  let    x = rows\n", "FORM"),
    "emb[V: ids]": ("", "FORM"),
    "x[T: at]": ("  let    x = rows\n", "FORM"),
    "concat[M + T -> S](a, b)": ("  dim    S = M + T\n  let    (a, b) = (expand[B, M](emb[V: 0]), rows)\n", "FORM"),
    "x + bias": ("  param  bias: [D] = 0\n  let    x = rows\n", "FORM"),
    "expand[T](..)": ("  let    x = mean[T](rows)\n", "rows + expand[T](x)"),
    "attend(i: T, j: S) { score content = dot[E](q, k)  scale 1 / sqrt(E)  mask j <= i  value v }": (ATTEND, "FORM"),
    "where(c, a, b)": ("  let    (a, b) = (rows, -rows)\n  let    c = a > 0\n", "FORM"),
    "where(c, 0, x)": ("  let    x = rows\n  let    c = x > 0\n", "FORM"),
    "sum(cross_entropy[V](logits, y, where = y != 0)) / max(sum(real(y != 0)), 1)": (
        "  let    logits = dot[D](rows, emb)\n  let    y = target\n", "FORM"),
    "concat[One + One -> Two](expand[One](a), expand[One](b))": (
        "  dim    One = 1, Two = 2\n  let    (a, b) = (rows, -rows)\n", "FORM"),
    "x[T: (iota[T2]() + s) mod T]": ("  config s = 3\n  dim    T2 = T\n  let    x = rows\n", "FORM"),
    "window[T -> T * Two](x, pad = (1, 0))[Two: 0]": ("  dim    Two = 2\n  let    x = rows\n", "FORM"),
    "m + log(sum[D](exp(x - m)))": ("  let    x = rows\n  let    m = stop_gradient(max[D](x))\n", "FORM"),
    "let m = stop_gradient(max[D](x))": ("  let    x = rows\n  FORM\n", "log(sum[D](exp(x - m)))"),
    "top[T -> Rank](key)": ("  dim    Rank = T\n  let    key = rows[D: 0]\n  let    (_best, places) = FORM\n",
                            "rows[T: places]"),
    "top[T -> Rank](-key)": ("  dim    Rank = T\n  let    key = rows[D: 0]\n  let    (_least, places) = FORM\n",
                             "rows[T: places]"),
    "dot[S](w, real(src == iota[V]()))": (
        "  dim    S = T\n  let    (w, src) = (softmax[S](rows[D: 0][T -> S]), ids[T -> S])\n", "FORM"),
    "one + (soft - stop_gradient(soft))": (
        "  let    soft = softmax[D](rows)\n  let    one = real(argmax[D](soft) == iota[D]())\n", "dot[D](FORM, emb)"),
    "x + stop_gradient(round(x) - x)": ("  let    x = rows\n", "FORM"),
    "q = code[K: argmax[K](..)]": ("  config K = 5\n  param  code: [K, D] ~ normal(1)\n"
                                   "  let    q = code[K: argmax[K](dot[D](rows, code))]\n", "rows + stop_gradient(q - rows)"),
    "round(x)": ("  let    x = rows\n", "rows * FORM"),
    "stop_gradient(x)": ("  let    x = rows\n", "rows + FORM"),
    "dropout(x, p)": ("  let    x = rows\n", "FORM"),
    "use blocks = stack[N] Block": (LAYER + "  FORM\n", "blocks(rows)"),
    "param w: [F, D] ~ normal(0.02)": ("  FORM\n", "dot[D](rows, w)"),
    "state": ("  state  kept: [D] = 0\n  next   kept = where(training, mean[B, T](rows), kept)\n", "rows + kept"),
}
# with another form, or tested as commands
ELSEWHERE = {"dim T1 = T - 1", "dim One = 1, Two = 2", "dim T2 = T", "dim Rank = T", "one", "next", "loss", "clip", "optimizer",
             "schedule", "--weights FILE --names hf"}


def main(document, folder):
    os.makedirs(folder, exist_ok=True)
    with open(document, encoding="utf-8") as file:
        table = file.read().split("## From PyTorch to Tenon")[1]
    forms = [form for row in re.findall(r"^\|.*\| (.*) \|$", table, re.M)[1:] for form in re.findall(r"`([^`]*)`", row)]
    wrong = 0
    for form in forms:
        if form in ELSEWHERE:
            continue
        path = os.path.join(folder, "row.tn")
        before, used = FORMS.get(form, ("", "no model for this form"))
        with open(path, "w", encoding="utf-8") as file:
            file.write(MODEL.format(lines=before.replace("FORM", form) + f"  loss   z = mean({used.replace('FORM', form)})"))
        try:
            driver.tenon("check", path)
        except driver.Failed as failed:
            wrong += 1
            print(f"WRONG: {form}\n{failed.text}")
    print(f"{len(forms)} forms, {wrong} wrong")
    return 1 if wrong or set(FORMS) - set(forms) else 0


sys.exit(main(*sys.argv[1:]))
