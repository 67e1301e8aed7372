#!/usr/bin/env python3
"""Types written on values, exceptions of a policy, parameters of 16 bits and `reduce = f64`, against an evaluation in doubles
with exactly the roundings of docs/training.md ("Mixed precision", "Other types for some values", "Parameters of 16 bits"); the
evaluation is that of bf16.py.

usage: policy.py types|reduce [--controls]
  types   two specifications (a stack of MLPs, a stack with attention) under policies with exceptions, with types written on two
          values, and with parameters of 16 bits. Loss and every gradient of `tenon grad --recipe` agree to TOLERANCE (relative
          L2 per tensor), on every tier.
          --controls: the evaluation leaves the exception, the type or the rounding of parameters out, which must be noticed.
  reduce  sums, softmax, normalizers, losses, attention and their gradients with `reduce = f64` are the f32 nearest to what
          doubles give, but for EXACT of them.
          --controls: so are not those of `reduce = f32`.
"""
import argparse
import math
import os
import random
import struct
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bf16  # noqa: E402
from bf16 import ATTENTION, BLOCKS, CLASSES, POINTS, SHORT, TOLERANCE, driver, tensors, tiers  # noqa: E402

NOTICED = 2e-4
OF_ATTENTION = ("attention's operands", "attention's result", "attention's gradients")
EXACT, INEXACT = 0.01, 0.08  # shares of results that are not the nearest f32: with f64, and at least with f32

RECIPE = """
train Net as small {{
  bind       {bind}
  data       = caller
  optimizer  = sgd(lr = 0.1)
  numerics   = {policy}
}}
"""
MLP = """
model Net {{
  config D = 13, F = 29, C = 7, N = 2
  dim    B
  in     x: [B, D], label: index(C)[B]
  layer Block(x: [B, D]) -> [B, D] {{
    use    norm = LayerNorm[D]
    use    up = Linear[D -> F]
    use    down = Linear[F -> D]
    return x + down(gelu_tanh(up(norm(x))))
  }}
  use    first = Linear[D -> D]
  use    blocks = stack[N] Block
  use    last = LayerNorm[D]
  use    head = Linear[D -> C]
  let    h: {h}[B, D] = last(blocks(first(x)))
  let    logits: {logits}[B, C] = head(h)
  loss   nll = mean(cross_entropy[C](logits, label))
}}
"""
# The attention in a layer of its own, without parameters.
LOOKING = ATTENTION.replace("{", "{{").replace("}", "}}").replace("    let    a = attend(i: T, j: S) {{", """\
    layer Look(q: [B, T, D], k: [B, T, D], v: [B, T, D]) -> [B, T, D] {{
      return attend(i: T, j: S) {{""").replace("value v[T -> S] }}", """value v[T -> S] }}
    }}
    use    look = Look
    let    a = look(q, k, v)""")


class PolicyNet(bf16.Net):
    """`compute`: of the policy. `other`: type of layers by the last step of their path. `values`: types of `h` and `logits`. Each
    layer's contractions round to its own type."""

    def __init__(self, weights, sizes, shape, compute, other, values, short):
        super().__init__(weights, POINTS, sizes, shape, short)
        self.compute, self.other, self.values = compute, other, values
        self.scale = SHORT[compute][1] if compute in SHORT else 1
        self.points = POINTS if compute in SHORT else ()

    def within(self, layer, points, function, *arguments, **keywords):
        """With the rounding points of a layer's contractions, of `points`."""
        kind, before = self.other.get(layer.split(".")[-1], self.compute), (self.points, self.rounded)
        if kind in SHORT:
            self.points, self.rounded = points, SHORT[kind][0]
        else:
            self.points = ()
        try:
            return function(*arguments, **keywords)
        finally:
            self.points, self.rounded = before

    def linear(self, name, x, saved=False):
        return self.within(name, POINTS, super().linear, name, x, saved)

    def linear_back(self, name, dy, x):
        return self.within(name, POINTS, super().linear_back, name, dy, x)

    def attention(self, name, z):
        """Rows of an attention with other numerics than its projections, which round by their own."""
        return self.within("look", OF_ATTENTION, super().attention, name, z)

    def attention_back(self, name, dout, z, kept):
        return self.within("look", OF_ATTENTION, super().attention_back, name, dout, z, kept)

    def typed(self, name, a):
        return [[SHORT[self.values[name]][0](x) for x in row] for row in a] if self.values.get(name) in SHORT else a

    def run(self, x, labels, forward, backward):
        carry, kept = self.linear("first", x), []
        for depth in range(BLOCKS):
            z, norm = self.norm(f"blocks.{depth}.norm", carry)
            added, inside = forward(self, f"blocks.{depth}", z)
            kept.append((z, norm, inside))
            carry = bf16.plus(carry, added)
        z, norm = self.norm("last", carry)
        h = self.typed("h", z)
        head = {**self.other, **({"head": "f32"} if self.values.get("logits") == "f32" else {})}
        self.other = head
        loss, d = self.loss(self.typed("logits", self.linear("head", h)), labels)
        d = self.typed("logits", [[x * self.scale for x in row] for row in d])
        d = self.norm_back("last", self.typed("h", self.linear_back("head", d, h)), norm, stack=False)
        for depth in reversed(range(BLOCKS)):
            z_of, norm_of, inside = kept[depth]
            d = bf16.plus(d, self.norm_back(f"blocks.{depth}.norm", backward(self, f"blocks.{depth}", d, z_of, inside), norm_of))
        self.linear_back("first", d, x)
        gradients = {name: [[x / self.scale for x in row] for row in rows] for name, rows in self.gradients.items()}
        return {"loss.loss": [[loss]], "loss.nll": [[loss]], **gradients}


class Case:
    """`params`: the type of 16 bits that parameters are kept in."""

    def __init__(self, kind, policy, compute="f32", other=None, values=None, short="bf16", seed=5, params=None):
        self.kind, self.policy, self.compute, self.other, self.short = kind, policy, compute, other or {}, short
        self.values, self.params = values or {}, params
        self.seed = seed
        self.batch, self.sizes = ((19,), {"D": 13, "F": 29}) if kind == "mlp" else ((3, 7), {"D": 11, "W": 7})
        draw = random.Random(seed + 100)
        D = self.sizes["D"]
        self.x = tensors.Tensor("f32", self.batch + (D,), [draw.uniform(-2, 2) for _ in range(tensors.count(self.batch) * D)])
        self.labels = tensors.Tensor("i32", self.batch, [draw.randrange(CLASSES) for _ in range(tensors.count(self.batch))])

    def text(self):
        bind = ", ".join(f"{name} = {size}" for name, size in zip("BT", self.batch))
        types = {name: self.values.get(name, "") for name in ("h", "logits")}
        return (MLP if self.kind == "mlp" else LOOKING).format(**types) + RECIPE.format(bind=bind, policy=self.policy)

    def weights(self):
        D = self.sizes["D"]
        shapes = bf16.linears("first", D, D) | {"last.weight": (D,), "last.bias": (D,)} | bf16.linears("head", D, CLASSES)
        for block in (f"blocks.{depth}" for depth in range(BLOCKS)):
            shapes |= {f"{block}.norm.weight": (D,), f"{block}.norm.bias": (D,)}
            mlp = [("up", D, self.sizes["F"]), ("down", self.sizes["F"], D)] if self.kind == "mlp" else []
            for name, inner, outer in mlp or [(part, D, D) for part in ("query", "key", "value", "merge")]:
                shapes |= bf16.linears(f"{block}.{name}", inner, outer)
            shapes.pop(block + ".key.bias", None)
        return bf16.drawn(self.seed, shapes)

    def expected(self, params=None, **changed):
        given = {"compute": self.compute, "other": self.other, "values": self.values, **changed}
        keep = SHORT[params][0] if params else float
        weights = {name: [[keep(x) for x in row] for row in bf16.rows_of(value)] for name, value in self.weights().items()}
        net = PolicyNet(weights, self.sizes, self.x.shape, short=self.short, **given)
        net.is_split = not params
        mlp, attention = (PolicyNet.mlp, PolicyNet.mlp_back), (PolicyNet.attention, PolicyNet.attention_back)
        return net.run(bf16.rows_of(self.x), list(self.labels.values), *(mlp if self.kind == "mlp" else attention))

    def compiled(self, folder, tier):
        spec, file = driver.specification(self.text(), "net"), os.path.join(folder, "weights.safetensors")
        tensors.save_safetensors(file, self.weights())
        _, gradients = driver.gradients(folder, spec, {"x": self.x, "label": self.labels}, "--recipe", "small",
                                        *driver.settings(self.sizes), "--weights", file, environment=driver.code_of(tier))
        return {name: bf16.rows_of(value) for name, value in gradients.items()}


TYPES = {
    "logits in f32": Case("mlp", "policy(compute = bf16)", "bf16", values={"logits": "f32"}),
    "a layer in f32": Case("mlp", 'policy(compute = bf16, f32 = "blocks.*.up*")', "bf16", {"up": "f32"}),
    "two layers in f32": Case("mlp", 'policy(compute = f16, f32 = ("*.down.weight", "head"))', "f16",
                              {"down": "f32", "head": "f32"}, short="f16", seed=8),
    "a layer in bf16 beside f16": Case("mlp", 'policy(compute = f16, bf16 = "*.down*")', "f16", {"down": "bf16"}, short="f16"),
    "attention in bf16 beside f16": Case("attention", 'policy(compute = f16, bf16 = "*.look")', "f16", {"look": "bf16"},
                                         short="f16", seed=6),
    "a layer in bf16": Case("mlp", 'policy(bf16 = "*.down*")', "f32", {"down": "bf16"}),
    "a value in bf16": Case("mlp", "policy(compute = f32)", values={"h": "bf16"}, seed=7),
    "a value in bf16, contracted in bf16": Case("mlp", "policy(compute = bf16)", "bf16", values={"h": "bf16"}),
    "a value in f16, contracted in f32": Case("mlp", 'policy(compute = bf16, f32 = "head*")', "bf16", {"head": "f32"},
                                              {"h": "f16", "logits": "bf16"}),
    "attention in f32": Case("attention", 'policy(compute = bf16, f32 = "*.look")', "bf16", {"look": "f32"}, seed=6),
    "attention in bf16": Case("attention", 'policy(compute = f32, bf16 = "*.look")', "f32", {"look": "bf16"}, seed=6),
    "parameters in bf16": Case("mlp", "policy(params = bf16, compute = bf16)", "bf16", params="bf16"),
    "parameters in bf16, attention": Case("attention", "policy(params = bf16, compute = bf16)", "bf16", params="bf16", seed=6),
    "parameters in bf16, contracted in f32": Case("mlp", "policy(params = bf16)", params="bf16", seed=7),
    "parameters in f16, contracted in f16": Case("mlp", "policy(params = f16, compute = f16)", "f16", short="f16", params="f16",
                                                 seed=7),
    "parameters in f16, contracted in bf16": Case("mlp", "policy(params = f16, compute = bf16)", "bf16", params="f16"),
    "parameters in bf16, a layer in f32": Case("mlp", 'policy(params = bf16, compute = bf16, f32 = "*.down")', "bf16",
                                               {"down": "f32"}, params="bf16"),
}


def types(folder, controls):
    wrong = []
    for what, case in TYPES.items():
        contracts = "bf16" in (case.compute, case.other.get("down"))  # the kernel of attention has no code for more of bf16
        for tier in (tiers.of_bf16() if contracts else tiers.runnable())[:1 if controls else None]:
            got = case.compiled(folder, tier)
            if controls:
                for part in [part for part in ("other", "values", "params") if getattr(case, part)]:
                    name, far = bf16.worst(got, case.expected(**{"params": case.params, part: {}}))
                    print(f"{what}, left out: {name} differs by {far:.1e}")
                    if not far > NOTICED:
                        wrong.append(f"{what}, left out: the difference is {far:.2g}, not noticed")
                continue
            name, far = bf16.worst(got, case.expected(case.params))
            print(f"{what}, {tier}: {len(got)} tensors, worst {far:.1e} ({name})")
            if not far <= TOLERANCE:
                wrong.append(f"{what}, {tier}: {name} differs by {far:.2g}")
    return wrong


# ---- reduce = f64

SUMS = """
model Net {{
  config D = 37, C = 41, E = 5
  dim    B, T
  dim    S = T
  in     x: [B, D], c: [B, C], label: index(C)[B], k: [B, T, E], v: [B, T, E], q: [B, T, E], g: [B, D], r: [B, T, E]
  param  shift: [D] ~ normal(1)
  param  class: [C] ~ normal(1)
  param  ask: [E] ~ normal(1)
  fn seen(q: [B, T, E]) -> [B, T, E] {{
    return attend(i: T, j: S) {{ score dot[E](q, k[T -> S])  mask j <= i  value v[T -> S] }}
  }}
  let    total = sum[D](x)
  let    average = mean[B](x)
  let    share = softmax[D](x)
  let    even = normalize[D](x, eps = 1e-5)
  let    look = seen(q)
  out    total, average, share, even, look
  loss   nll = mean(cross_entropy[C](c + class, label))
  loss   norms = sum(normalize[D](x + shift, eps = 1e-5) * g)
  loss   looks = sum(seen(q + ask) * r)
}}
"""


def nearest(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def softmax(row):
    most = max(row)
    parts = [math.exp(a - most) for a in row]
    return [part / math.fsum(parts) for part in parts]


def seen(q, k, v):
    """Row by row, with weights."""
    rows, shares = [], []
    for i, query in enumerate(q):
        share = softmax([math.fsum(a * b for a, b in zip(query, key)) for key in k[:i + 1]])
        shares.append(share)
        rows.append([math.fsum(p * v[j][e] for j, p in enumerate(share)) for e in range(len(query))])
    return rows, shares


class Sums:
    B, T, D, C, E = 8, 33, 37, 41, 5

    def __init__(self):
        draw = random.Random(3)

        def tensor(shape, scale=1.0, middle=0.0):
            values = [nearest(middle + scale * draw.uniform(-1, 1)) for _ in range(tensors.count(shape))]
            return tensors.Tensor("f32", shape, values)
        B, T, D, C, E = self.B, self.T, self.D, self.C, self.E
        self.inputs = {"x": tensor((B, D), 3, 11), "c": tensor((B, C), 4), "g": tensor((B, D)),
                       "label": tensors.Tensor("i32", (B,), [draw.randrange(C) for _ in range(B)]),
                       **{name: tensor((B, T, E), 2) for name in ("k", "v", "q", "r")}}
        self.weights = {"shift": tensor((D,)), "class": tensor((C,)), "ask": tensor((E,))}

    def rows(self, name):
        return bf16.rows_of(self.inputs[name])

    def batch(self, name):
        rows = self.rows(name)
        return [rows[at:at + self.T] for at in range(0, len(rows), self.T)]

    def values(self):
        x = self.rows("x")
        even = []
        for row in x:
            mean = math.fsum(row) / self.D
            scale = 1 / math.sqrt(math.fsum((a - mean) ** 2 for a in row) / self.D + 1e-5)
            even.append([(a - mean) * scale for a in row])
        return {"total": [math.fsum(row) for row in x],
                "average": [nearest(math.fsum(column)) / self.B for column in zip(*x)],
                "share": [a for row in x for a in softmax(row)], "even": [a for row in even for a in row],
                "look": [a for q, k, v in zip(*map(self.batch, "qkv")) for row in seen(q, k, v)[0] for a in row]}

    def gradients(self):
        """Sums in doubles over the rows of numbers of f32, which elementwise ops have rounded. What only sums read of each
        other stays double: row statistics, and here the gradients of the rows."""
        B, D = self.B, self.D
        dclass = []
        for row, label in zip(self.rows("c"), self.inputs["label"].values):
            logits = [nearest(a + b) for a, b in zip(row, self.weights["class"].values)]
            most = max(logits)
            lse = most + math.log(math.fsum(math.exp(a - most) for a in logits))
            dclass.append([(math.exp(a - lse) - (place == label)) / B for place, a in enumerate(logits)])
        dshift = []
        for row, g in zip(self.rows("x"), self.rows("g")):
            moved = [nearest(a + b) for a, b in zip(row, self.weights["shift"].values)]
            mean = math.fsum(moved) / D
            scale = 1 / math.sqrt(math.fsum((a - mean) ** 2 for a in moved) / D + 1e-5)
            hat = [(a - mean) * scale for a in moved]
            first, second = math.fsum(g) / D, math.fsum(a * b for a, b in zip(g, hat)) / D
            dshift.append([scale * (a - first - b * second) for a, b in zip(g, hat)])
        dask = []
        for q, k, v, r in zip(*map(self.batch, "qkvr")):
            q = [[nearest(a + b) for a, b in zip(row, self.weights["ask"].values)] for row in q]
            for i, (of, d) in enumerate(zip(seen(q, k, v)[1], r)):
                dp = [math.fsum(a * b for a, b in zip(d, v[j])) for j in range(i + 1)]
                mean = math.fsum(p * t for p, t in zip(of, dp))
                dask.append([math.fsum(p * (t - mean) * k[j][e] for j, (p, t) in enumerate(zip(of, dp)))
                             for e in range(self.E)])
        return {name: [math.fsum(column) for column in zip(*rows)]
                for name, rows in (("class", dclass), ("shift", dshift), ("ask", dask))}

    def compiled(self, folder, tier, reduce):
        file = os.path.join(folder, "weights.safetensors")
        recipe = RECIPE.format(bind=f"B = {self.B}, T = {self.T}", policy=f"policy(reduce = {reduce})")
        spec = driver.specification(SUMS.format() + recipe.replace("data ", "loss       = nll + norms + looks\n  data "), "sums")
        tensors.save_safetensors(file, self.weights)
        words = ("--recipe", "small", "--weights", file)
        asked = {name: value for name, value in self.inputs.items() if name in "xqkv"}
        found = driver.run(folder, spec, asked, list(self.values()), *words, "--bind", f"B={self.B}", "--bind", f"T={self.T}",
                           environment=driver.code_of(tier))
        _, gradients = driver.gradients(folder, spec, self.inputs, *words, environment=driver.code_of(tier))
        return {name: list(tensor.values) for name, tensor in {**found, **gradients}.items() if not name.startswith("loss.")}


def reduce(folder, controls):
    wrong, sums = [], Sums()
    want = {**sums.values(), **sums.gradients()}
    for tier in tiers.runnable():
        got = sums.compiled(folder, tier, "f32" if controls else "f64")
        if got.keys() != want.keys():
            raise SystemExit(f"other tensors: {sorted(got.keys() ^ want.keys())}")
        for name in want:
            pairs = list(zip(got[name], want[name], strict=True))
            off = sum(a != nearest(b) for a, b in pairs) / len(pairs)
            far = max(abs(a - b) / (abs(b) or 1) for a, b in pairs)
            print(f"{name}, {tier}: {off:.1%} of {len(pairs)} are not the nearest, worst {far:.1e}")
            if not controls and not off <= max(EXACT, 1.5 / len(pairs)):
                wrong.append(f"{name}, {tier}: {off:.1%} of {len(pairs)} are not the nearest f32")
            if controls and not off >= INEXACT:
                wrong.append(f"{name}, {tier}: with f32, too, all but {off:.1%} of {len(pairs)} are the nearest f32")
        if controls:
            break
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["types", "reduce"])
    parser.add_argument("--controls", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wrong = {"types": types, "reduce": reduce}[options.part](folder, options.controls)
    for text in wrong:
        print("WRONG:", text)
    print(f"{len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
