#!/usr/bin/env python3
"""Which values `out step(T)` may give: those that do not depend on how many places there are.

usage: walks.py [--spoil kept|moving]

KEPT is accepted, and what it gives window by window, and after going back, is what it gives on the whole, in f64. MOVING is
refused, each row for the reason beside it and at its own line; that the refusals are right is seen from the first places of two
texts of different lengths, which differ.
--spoil takes the first row of the other table into the named one, which must be noticed.
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import driver  # noqa: E402
from tensors import Tensor, save_npy, tensor  # noqa: E402

FRAME = """model Walks {{
  config D = 6, L = 40, W = 4, V = 9, M = 3
  dim    B, T <= L
  dim    S = T, R = S, P = 2 * S, Q = S, One = 1, Z = M + T, Y = One + Z, Z2 = Z
  in     x: [B, T, D], n: index(T + 1)[B], doc: i32[B, T], pre: [B, M, D]
  param  e: [L, D] ~ normal(1.0)
  param  b: [W] ~ normal(1.0)
  let    key = x[T -> S]
  let    back = sinusoid[R, D](start = 1 - R)
  let    two = sinusoid[P, D](start = 0 - S)
  let    zero = sinusoid[P, D]()
  let    near = sinusoid[R, D]()
  fn     far(r: [P, D], k: i32[]) -> [B, T, D] {{
    return attend(i: T, j: S) {{ score c = dot[D](x, r[P: clip(k + i - j, 0, P - 1)]) mask j <= i value key }}
  }}
  layer  Add(x: [B, T, D], k: i32[]) -> [B, T, D] {{ return tanh(x + e[L: k mod L]) }}
  use    adds = loop[2] Add
  layer  Read(x: [B, T, D], r: [P, D]) -> [B, T, D] {{
    return x + attend(i: T, j: S) {{ score c = dot[D](x, r[P: S + i - j]) mask j <= i value x[T -> S] }}
  }}
  use    reads = stack[2] Read
  layer  Sum(x: [B, T, D]) -> [B, T, D] {{ param g: [D] ~ normal(1.0)  return x + tanh(g * cumsum[T](x)) }}
  use    sums = stack[2] Sum
  layer  Twice(x: [B, T, D]) -> [B, T, D] {{ use again = loop[3] Sum  return tanh(again(x)) }}
  use    twice = stack[2] Twice
  layer  Parity(x: [B, T, D]) -> [B, T, D] {{
    let    y = x[T -> S]
    let    near = attend(i: T, j: S) {{ score c = dot[D](x, y) mask j <= i and j > i - 3 value y }}
    return tanh(x + (if depth mod 2 == 0 then near else cumsum[T](x) * 0.1))
  }}
  use    parity = stack[5] Parity
  let    kv = concat[M + T -> Z](pre, x)
  use    wide = Linear[D -> D]
  layer  Front(x: [B, T, D]) -> [B, T, D] {{
    param  own: [M, D] ~ normal(1.0)
    use    wk, wv = Linear[D -> D]
    let    both = concat[M + T -> Z](expand[B, M, D](own), tanh(x))
    return x + attend(i: T, j: Z) {{ score c = dot[D](x, wk(both)) mask j <= i + M value wv(both) }}
  }}
  use    fronts = stack[3] Front
  layer  Given(x: [B, T, D], kv: [B, Z, D]) -> [B, T, D] {{
    use    wk = Linear[D -> D]
    return x + attend(i: T, j: Z) {{ score c = dot[D](x, wk(kv)) mask j <= i + M value kv }}
  }}
  use    given = stack[2] Given
  layer  Sums(x: [B, T, D]) -> [B, T, D] {{
    use    wk, wv = Linear[D -> D]
    let    s = dot[D](x, wk(x)[T -> S])
    return x + dot[S](where(iota[S]() <= iota[T](), sigmoid(s - 1), 0.0), wv(x)[T -> S])
  }}
  use    sigmoids = stack[2] Sums
  let    decay: [T, S] = where(iota[S]() <= iota[T](), 0.9 ^ real(iota[T]() - iota[S]()), 0.0)
  let    retained = dot[D](x, key) * decay
"""

KEPT = {
    "rows": "x + e[L: iota[T]()]",
    "sliced": "x + e[L: 0 .. T -> T]",
    "started": "x + sinusoid[T, D](start = 3)",
    "even": "where(expand[B, D](iota[T]() mod 2 == 0), x, 0.0)",
    "ends": "where(expand[B, D](iota[T]() < T), x, 0.0)",
    "cancels": "x + e[L: iota[T]() + T - T]",
    "backwards": "attend(i: T, j: S) { score c = dot[D](x, back[R: j + R - 1 - i]) mask j <= i value key }",
    "centred": "attend(i: T, j: S) { score c = dot[D](x, two[P: S + i - j]) mask j <= i value key }",
    "halved": "attend(i: T, j: S) { score c = dot[D](x, two[P: (2 * S + 2 * (i - j)) div 2]) mask j <= i value key }",
    "bounded": "far(two, T)",
    "cut": "attend(i: T, j: S) { score c = dot[D](x, two[P: S .. P -> Q][Q: i - j]) mask j <= i value key }",
    "flipped": "attend(i: T, j: S) { score c = dot[D](x, flip[R](near)[R: R - 1 - (i - j)]) mask j <= i value key }",
    "joined": "attend(i: T, j: S) { score c = dot[D](x, concat[R + Q -> P](back, near[R -> Q])[P: S + i - j]) mask j <= i "
    "value key }",
    "clipped": "attend(i: T, j: S) { score c = dot[D](x, key) score t = b[W: min(i - j, W - 1)] mask j <= i value key }",
    "mirrored": "attend(i: T, j: S) { score c = dot[D](x, key) mask S - 1 - j >= S - 1 - i value key }",
    "prefix": "attend(i: T, j: S) { score c = dot[D](x, key) mask j < n or j <= i value key }",
    "prefix2": "attend(i: T, j: S) { score c = dot[D](x, key) mask doc == doc[T -> S] and (j <= i - 2 or j < min(n, 2) or j == "
    "i) value key }",
    "blocks": "attend(i: T, j: S) { score c = dot[D](x, key) mask j <= i and (i div 4 == j div 4 or (i - j) mod 7 == 0) value "
    "key }",
    "read": "reads(x, two)",
    "running": "cumsum[T](x)",
    "count": "x + e[L: min(cumsum[T](where(doc == 1, 1, 0)), L - 1)]",
    "mean": "cumsum[T](x * x) / expand[B, D](real(iota[T]() + 1))",
    "stacksum": "sums(x) + cumsum[S](key)[S -> T]",
    "loopsum": "twice(x)",
    "rounds": "parity(x)",
    "keysum": "attend(i: T, j: S) { score c = dot[D](x, cumsum[T](x)[T -> S]) mask j <= i value cumsum[S](key) }",
    "prefixed": "attend(i: T, j: Z) { score c = dot[D](x, kv) mask j <= i + M value kv }",
    "projected": "attend(i: T, j: Z) { score c = dot[D](x, wide(kv)) mask j < M or (j <= i + M and j > i + M - 5) value "
    "tanh(kv) }",
    "sunk": "attend(i: T, j: Z) { score c = dot[D](x, kv) score s = b[W: min(j, W - 1)] mask j <= i + 3 value wide(kv) }",
    "behind": "attend(i: T, j: Z) { score c = dot[D](x, kv) mask j < n + M or j - M <= i value kv }",
    "twofold": "attend(i: T, j: Y) { score c = dot[D](x, concat[One + Z -> Y](full[B, One, D](0.5), wide(kv))) mask j <= i + M "
    "+ 1 value concat[One + M + T -> Y](full[B, One, D](0.5), pre, x) }",
    "scored": "attend(i: T, j: Z) { score c = concat[M + S -> Z](dot[D](x, pre), dot[D](x, key)) mask j <= i + M value kv }",
    "kinds": "attend(i: T, j: Z) { score c = dot[D](x, kv) mask j <= i + M and (j < M or concat[M + T -> Z](full[B, "
    "M](0), doc) == "
    "doc) value kv }",
    "numbered": "attend(i: T, j: Z) { score c = dot[D](x, kv + sinusoid[Z, D](start = 2) + e[L: iota[Z]() mod 7]) "
    "mask j <= i + M "
    "value kv * real(iota[Z]()) }",
    "frontsum": "attend(i: T, j: Z) { score c = dot[D](x, concat[M + T -> Z](pre, cumsum[T](x))) mask j <= i + M value kv }",
    "another": "attend(i: T, j: Z2) { score c = dot[D](x, wide(kv)[Z -> Z2]) mask j <= i + M value tanh(kv[Z -> Z2]) }",
    "owned": "fronts(x)",
    "passed": "given(x, wide(kv))",
    "shares": "dot[S](where(iota[S]() <= iota[T](), sigmoid(dot[D](x, key)), 0.0), key)",
    "linear": "dot[S](dot[D](x, key) * real(iota[S]() <= iota[T]()), tanh(key))",
    "squared": "dot[S](where(iota[S]() > iota[T](), 0.0, relu(dot[D](x, key)) ^ 2), wide(key)) / expand[B, D](real(iota[T]() + "
    "1))",
    "summed": "expand[D](sum[S](where(iota[S]() < n or iota[S]() <= iota[T]() - 2, dot[D](x, key), 0.0))) * x",
    "retention": "dot[S](retained, key) / expand[D](max(abs(sum[S](retained)), 1))",
    "stackedsums": "sigmoids(x)",
    "pairsum": "attend(i: T, j: S) { score c = cumsum[S](log(abs(dot[D](x, key)))) mask j <= i value key }",
}

MOVING = {
    "last": ("x + e[L: T - 1]", "a place that is another one"),
    "reverse": ("x + e[L: T - 1 - iota[T]()]", "a place that is another one"),
    "lastrows": ("x + e[L: L - T .. L -> T]", "a place that is another one"),
    "rest": ("x + e[L: (iota[T]() + 1) mod T]", "div or mod with the number of places"),
    "product": ("x + e[L: (T * iota[T]()) mod L]", "a product with the number of places"),
    "either": ("x + e[L: where(doc == 1, T - 1, 0)]", "a choice between the number of places and something else"),
    "tail": ("where(expand[B, D](iota[T]() < T - 1), x, 0.0)", "a comparison with the number of places"),
    "ended": ("x + sinusoid[T, D](start = -T)", "a sinusoid that starts at the number of places"),
    "share": ("x * real(T)", "the number of places, taken as a value"),
    "scaled": ("attend(i: T, j: S) { score c = dot[D](x, key) scale 1 / real(T) mask j <= i value key }",
               "the number of places, taken as a value"),
    "hidden": ("attend(i: T, j: S) { score c = dot[D](x, key) mask j <= i and (j < T - 1 or j == 0) value key }",
               "a comparison with the number of places"),
    "uncentred": ("attend(i: T, j: S) { score c = dot[D](x, zero[P: S + i - j]) mask j <= i value key }",
                  "a row of a sinusoid that is another one"),
    "limited": ("attend(i: T, j: S) { score c = dot[D](x, near[R: min(i - j + 3, S - 1)]) mask j <= i value key }",
                "a bound that moves"),
    "turned": ("attend(i: T, j: S) { score c = dot[D](x, flip[R](near)[R: i - j]) mask j <= i value key }",
               "a row of a sinusoid that is another one"),
    "called": ("far(zero, T)", "a row of a sinusoid that is another one"),
    "looped": ("adds(x, T)", "div or mod with the number of places"),
    "stacked": ("reads(x, zero)", "a row of a sinusoid that is another one"),
    "seamed": ("attend(i: T, j: S) { score c = dot[D](x, concat[R + Q -> P](near, near[R -> Q])[P: i - j + 3]) mask j <= i and i "
               "< T - 3 value key }",
               "a concat whose parts meet"),
}
ROWS, LENGTH, SHORT = 2, 23, 9
WINDOWS = ([7, 16], [7] + [1] * 16, [5, 3, 15])


class Wrong(Exception):
    pass


def written(name, values, *outs):
    """The lines of the values begin at line `first`."""
    frame = FRAME.format()
    lines = [f"  let    {key}: [B, T, D] = {text}\n" for key, text in values.items()]
    return driver.specification(frame + "".join([*lines, *outs]) + "}\n", name), frame.count("\n") + 1


def whole(folder, spec, names, inputs, *options):
    return driver.run(folder, spec, inputs, names, "--f64", "--init", "--seed", "3", *options)


def part(inputs, low, high):
    cut = dict(inputs)
    for name in ("x", "doc"):
        value, inner = inputs[name], 6 if name == "x" else 1
        values = [v for row in range(ROWS) for v in value.row(row)[low * inner:high * inner]]
        cut[name] = Tensor(value.kind, (ROWS, high - low) + value.shape[2:], values)
    return cut


def distance(got, want, low, high, name):
    """The largest difference of the places low .. high - 1, which are all of `got` or its first."""
    worst = 0.0
    for row in range(ROWS):
        for place in range(low, high):
            for a, b in zip(got[name].row(row, place - low), want[name].row(row, place)):
                worst = max(worst, abs(a - b) if a == a else float("inf"))
    return worst


def kept(folder, inputs, values):
    spec, _ = written("kept", values, f"  out full = {', '.join(values)}\n", f"  out step(T) = {', '.join(values)}\n")
    want = whole(folder, spec, values, inputs, "--entry", "full")
    states, position = os.path.join(folder, "states.safetensors"), os.path.join(folder, "position.npy")
    for windows in WINDOWS:
        at, back = 0, []
        for count in windows:
            start = ["--states", states, *back] if at else []
            got = whole(folder, spec, values, part(inputs, at, at + count), "--entry", "step", "--save-states", states, *start)
            for name in values:
                worst = distance(got, want, at, at + count, name)
                if not worst <= 1e-11:
                    raise Wrong(f"{name} in windows {windows}: places from {at} on differ by {worst} from the whole")
            at += count
            back = []
            if windows is WINDOWS[0] and at < LENGTH:  # other places, and back to where these began
                whole(folder, spec, values, part(inputs, at + 3, at + 9), "--entry", "step", "--save-states", states,
                      "--states", states)
                save_npy(position, Tensor("i32", (), [at]))
                back = ["--state", f"step.position=@{position}"]


def moving(folder, inputs, values):
    texts = {name: text for name, (text, _) in values.items()}
    inputs = {name: value for name, value in inputs.items() if name not in ("n", "pre")}  # no row reads them
    spec, _ = written("whole", texts, f"  out full = {', '.join(texts)}\n")
    want, got = whole(folder, spec, texts, inputs), whole(folder, spec, texts, part(inputs, 0, SHORT))
    for name in texts:
        if distance(got, want, 0, SHORT, name) < 1e-3:
            raise Wrong(f"{name}: refused, but its places are the same for {SHORT} places and for {LENGTH}")
    spec, first = written("moving", texts, *(f"  out s{number}(T) = {name}\n" for number, name in enumerate(texts)))
    done = subprocess.run(["tenon", "check", spec], capture_output=True, text=True, check=False)
    found = re.findall(r"error\[T0416\]: (`out s(\d+)\(T\)` walks axis T, but .*)\n *--> .*:(\d+):\d+", done.stderr)
    reasons = {int(number): (message, int(line)) for message, number, line in found}
    for number, (name, (text, reason)) in enumerate(values.items()):
        message, line = reasons.get(number, ("accepted", 0))
        elsewhere = text.startswith(("far(", "adds(", "reads("))  # in the function or layer
        if reason not in message or (line != first + number) != elsewhere:
            raise Wrong(f"{name}, line {first + number}: {message}, at line {line}")
    if len(found) != len(values) or done.stderr.count("error[") != len(values):
        raise Wrong(f"{len(found)} refusals for {len(values)} values:\n{done.stderr}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--spoil", choices=["kept", "moving"])
    options = parser.parse_args()
    draw = random.Random(7)
    inputs = {"x": Tensor("f64", (ROWS, LENGTH, 6), [draw.gauss(0, 1) for _ in range(ROWS * LENGTH * 6)]),
              "pre": Tensor("f64", (ROWS, 3, 6), [draw.gauss(0, 1) for _ in range(ROWS * 3 * 6)]),
              "n": tensor("i32", [3, 5]), "doc": tensor("i32", [[1] * 11 + [2] * 12, [1] * LENGTH])}
    accepted, refused = dict(KEPT), dict(MOVING)
    if options.spoil == "kept":
        accepted["last"] = MOVING["last"][0]
    if options.spoil == "moving":
        refused["rows"] = (KEPT["rows"], "")
    with tempfile.TemporaryDirectory() as folder:
        try:
            moving(folder, inputs, refused)
            kept(folder, inputs, accepted)
        except (Wrong, driver.Failed) as wrong:
            sys.exit(f"WRONG: {wrong}")
    print(f"{len(accepted)} values are the same window by window, {len(refused)} are refused")


if __name__ == "__main__":
    main()
