#!/usr/bin/env python3
"""Mixed precision against an evaluation that knows nothing of the compiler: in doubles, with every rounding point of
docs/training.md ("Mixed precision") written out.

usage: bf16.py [--numerics f16] [--tiers TIER,..] [--controls]
  Two specifications: a stack of two blocks of LayerNorm, MLP with GELU and residual; the same with one head of causal attention.
  Cross-entropy, odd sizes, weights and inputs of a fixed seed. Loss and every gradient of `tenon grad --numerics bf16` (or f16,
  whose backward pass starts from the loss times GRAD_SCALE) agree to TOLERANCE (relative L2 per tensor), on every tier of the
  machine, and the tiers with one another. Without rounding the same evaluation agrees with `--numerics f32`.
  --controls: the evaluation leaves out one rounding point after the other, and at last all; or it rounds what no rule asks for.
  Each must be noticed.
"""
import argparse
import array
import math
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import driver  # noqa: E402
import tensors  # noqa: E402
import tiers  # noqa: E402
from rounding import away, tie, to_bf16, to_f16  # noqa: E402

# The compiler rounds numbers of f32, this file those of f64. Where these lie on two sides of the middle between two bf16, an
# element is off by 2^-8; it is one among hundreds. Found: 2e-7 to 4e-5. Of f16 there are eight times as many middles: in half of
# the seeds one is hit in front of an attention (3e-4), in those of CASES none (3e-7 to 7e-5).
TOLERANCE, BETWEEN_TIERS = 1e-4, 1e-2
NOTICED = {"bf16": 1e-3, "f16": 2e-4}  # a rounding point that is left out makes as much of a difference
GRAD_SCALE = 1024  # of `tenon grad` in f16
BLOCKS, CLASSES = 2, 7
CHUNK = 1024 # keys; docs/cpu.md, "D"
POINTS = ("factors", "ties of weights", "saved sums", "saved normalizers", "sums over rows", "attention's operands",
          "attention's result", "attention's gradients")
F32 = ("residual stream", "softmax")  # points that no rule asks for

MLP = """
model Net {
  config D = 13, F = 29, C = 7, N = 2
  dim    B
  in     x: [B, D], label: index(C)[B]
  layer Block(x: [B, D]) -> [B, D] {
    use    norm = LayerNorm[D]
    use    up = Linear[D -> F]
    use    down = Linear[F -> D]
    return x + down(gelu_tanh(up(norm(x))))
  }
  use    first = Linear[D -> D]
  use    blocks = stack[N] Block
  use    last = LayerNorm[D]
  use    head = Linear[D -> C]
  loss   nll = mean(cross_entropy[C](head(last(blocks(first(x)))), label))
}
"""
# W: the places that a query sees, its own the last.
ATTENTION = """
model Net {
  config D = 11, W = 7, C = 7, N = 2
  dim    B, T
  dim    S = T
  in     x: [B, T, D], label: index(C)[B, T]
  layer Block(x: [B, T, D]) -> [B, T, D] {
    use    norm = LayerNorm[D]
    use    query, value, merge = Linear[D -> D]
    use    key = Linear[D -> D](bias = false)          # its gradient is 0 but for rounding
    let    y = norm(x)
    let    q = query(y)
    let    k = key(y)
    let    v = value(y)
    let    a = attend(i: T, j: S) { score dot[D](q, k[T -> S])  scale 1 / sqrt(D)  mask j <= i and i - j < W  value v[T -> S] }
    return x + merge(a)
  }
  use    first = Linear[D -> D]
  use    blocks = stack[N] Block
  use    last = LayerNorm[D]
  use    head = Linear[D -> C]
  loss   nll = mean(cross_entropy[C](head(last(blocks(first(x)))), label))
}
"""


# ---- rows of numbers

SHORT = {"bf16": (to_bf16, 1), "f16": (to_f16, GRAD_SCALE)}  # and what the gradient starts from


def product(a, b):
    """Row by row: a[n, k] times b[m, k]."""
    return [[math.fsum(x * y for x, y in zip(row, other)) for other in b] for row in a]


def turned(a):
    return [list(column) for column in zip(*a)]


def combined(function, *tensors_):
    return [[function(*numbers) for numbers in zip(*rows)] for rows in zip(*tensors_)]


def plus(*tensors_):
    return combined(lambda *numbers: math.fsum(numbers), *tensors_)


def over_rows(a):
    return [math.fsum(column) for column in zip(*a)]


class Net:
    """Loss and gradients in doubles. A tensor is a list of rows; rows of a batch stand one after the other. `points`: the
    rounding points that are kept."""

    def __init__(self, weights, points, sizes, shape, numerics):
        self.weights, self.points, self.sizes, self.places, self.gradients = weights, points, sizes, shape[-2], {}
        (self.rounded, self.scale), self.is_split = SHORT[numerics], True  # split: weights of f32 lie in two halves

    def at(self, point, a):
        return [[self.rounded(x) for x in row] for row in a] if point in self.points else a

    def product(self, a, b):
        return product(self.at("factors", a), self.at("factors", b))

    def factor(self, name):
        rounds = self.is_split and self.rounded is to_bf16 and {"factors", "ties of weights"} <= set(self.points)
        return [[away(x) for x in row] for row in self.weights[name]] if rounds else self.weights[name]

    def linear(self, name, x, saved=False):
        """`saved`: a stack keeps the contraction's result for the backward pass, so it is rounded before the bias is added."""
        y = self.product(x, self.factor(name + ".weight"))
        y = self.at("saved sums", y) if saved else y
        return [[a + b for a, b in zip(row, self.weights[name + ".bias"][0])]
                for row in y] if name + ".bias" in self.weights else y

    def linear_back(self, name, dy, x):
        """What sums the rows of dy reads the numbers that the contractions beside it read."""
        if name + ".bias" in self.weights:
            self.gradients[name + ".bias"] = [over_rows(self.at("sums over rows", dy))]
        self.gradients[name + ".weight"] = self.product(turned(dy), turned(x))
        return self.product(dy, turned(self.factor(name + ".weight")))

    def norm(self, name, x):
        mean = [math.fsum(row) / len(row) for row in x]
        scale = [1 / math.sqrt(math.fsum((a - m) ** 2 for a in row) / len(row) + 1e-5) for row, m in zip(x, mean)]
        y = [[(a - m) * s for a in row] for row, m, s in zip(x, mean, scale)]
        weight, bias = self.weights[name + ".weight"][0], self.weights[name + ".bias"][0]
        return [[a * w + b for a, w, b in zip(row, weight, bias)] for row in y], (x, y, mean, scale)

    def norm_back(self, name, dz, kept, stack=True):
        """Statistics are those of the forward pass; a stack keeps input and result rounded."""
        x, y, mean, scale = kept
        if stack:
            x, y = self.at("saved normalizers", x), self.at("saved normalizers", y)
        self.gradients[name + ".weight"] = [over_rows(combined(lambda a, b: a * b, dz, y))]
        self.gradients[name + ".bias"] = [over_rows(dz)]
        found = []
        for row, at, m, s in zip(dz, x, mean, scale):
            dy, hat = [a * w for a, w in zip(row, self.weights[name + ".weight"][0])], [(a - m) * s for a in at]
            first, second = math.fsum(dy) / len(dy), math.fsum(a * b for a, b in zip(dy, hat)) / len(dy)
            found.append([s * (a - first - b * second) for a, b in zip(dy, hat)])
        return found

    def loss(self, logits, labels):
        total, back = 0.0, []
        for row, label in zip(logits, labels):
            most = max(row)
            parts = [math.exp(a - most) for a in row]
            total -= row[label] - most - math.log(math.fsum(parts))
            back.append([(part / math.fsum(parts) - (place == label)) / len(labels) for place, part in enumerate(parts)])
        return total / len(labels), back

    # ---- the two blocks: the sum to add to x, and what the backward pass needs

    def mlp(self, name, z):
        h = self.linear(name + ".up", z, saved=True)
        g = [[a / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a ** 3))) for a in row] for row in h]
        return self.linear(name + ".down", g), (h, g)

    def mlp_back(self, name, dy, z, kept):
        h, g = kept

        def derivative(a):
            c = math.sqrt(2 / math.pi)
            t = math.tanh(c * (a + 0.044715 * a ** 3))
            return (1 + t) / 2 + a / 2 * (1 - t * t) * c * (1 + 3 * 0.044715 * a * a)
        dh = combined(lambda a, d: derivative(a) * d, h, self.linear_back(name + ".down", dy, g))
        return self.linear_back(name + ".up", dh, z)

    def attention(self, name, z):
        q, k, v = (self.at("attention's operands", self.linear(f"{name}.{part}", z, saved=True))
                   for part in ("query", "key", "value"))
        y, shares = [], []
        for place, query in enumerate(q):
            seen = range(max(place - place % self.places, place + 1 - self.sizes["W"]), place + 1)
            scores = [math.fsum(a * b for a, b in zip(query, k[j])) / math.sqrt(len(query)) for j in seen]
            parts = [math.exp(score - max(scores)) for score in scores]
            shares.append(dict(zip(seen, self.at("softmax", [[part / math.fsum(parts) for part in parts]])[0])))
            y.append([math.fsum(p * v[j][e] for j, p in shares[-1].items()) for e in range(len(query))])
        y = self.at("attention's result", y)
        return self.linear(name + ".merge", y), (q, k, v, shares, y)

    def attention_back(self, name, dout, z, kept):
        q, k, v, shares, y = kept
        dy = self.at("attention's gradients", self.linear_back(name + ".merge", dout, y))
        dq, dk, dv = ([[0.0] * len(q[0]) for _ in q] for _ in range(3))
        for i, (d, of) in enumerate(zip(dy, shares)):
            dp = {j: math.fsum(a * b for a, b in zip(d, v[j])) for j in of}
            # The mean of dp is summed over the keys, and beyond a chunk of them had from y.
            of_keys, of_row = (p * dp[j] for j, p in of.items()), (a * b for a, b in zip(d, y[i]))
            mean = math.fsum(of_keys if self.places <= CHUNK else of_row)
            for j, p in of.items():
                ds = p * (dp[j] - mean) / math.sqrt(len(d))
                for e in range(len(d)):
                    dq[i][e] += ds * k[j][e]
                    dk[j][e] += ds * q[i][e]
                    dv[j][e] += p * d[e]
        return plus(*(self.linear_back(f"{name}.{part}", self.at("attention's gradients", d), z)
                      for part, d in (("query", dq), ("key", dk), ("value", dv))))

    def run(self, x, labels, forward, backward):
        carry, kept = self.linear("first", x), []
        for depth in range(BLOCKS):
            z, norm = self.norm(f"blocks.{depth}.norm", carry)
            added, inside = forward(self, f"blocks.{depth}", z)
            kept.append((z, norm, inside))
            carry = self.at("residual stream", plus(carry, added))
        z, norm = self.norm("last", carry)
        loss, d = self.loss(self.linear("head", z), labels)
        d = [[x * self.scale for x in row] for row in d]
        d = self.norm_back("last", self.linear_back("head", d, z), norm, stack=False)
        for depth in reversed(range(BLOCKS)):
            z_of, norm_of, inside = kept[depth]
            d = plus(d, self.norm_back(f"blocks.{depth}.norm", backward(self, f"blocks.{depth}", d, z_of, inside), norm_of))
        self.linear_back("first", d, x)
        gradients = {name: [[x / self.scale for x in row] for row in rows] for name, rows in self.gradients.items()}
        return {"loss.loss": [[loss]], "loss.nll": [[loss]], **gradients}


# ---- the cases

def drawn(seed, shapes):
    """Numbers of f32 (as tensors), and their rows. Biases and weights of norms are no zeros and ones."""
    draw = random.Random(seed)
    made = {}
    for name, shape in shapes.items():
        scale, middle = (1.2 / math.sqrt(shape[-1]), 0) if len(shape) == 2 else (0.4, 1 if "norm.weight" in name
                                                                                 or name == "last.weight" else 0)
        made[name] = tensors.Tensor("f32", shape, [middle + scale * draw.uniform(-1.7, 1.7) for _ in range(tensors.count(shape))])
    return made


def rows_of(value):
    width = value.shape[-1] if value.shape else 1
    return [list(value.values[at:at + width]) for at in range(0, len(value.values), width)]


def linears(name, inner, outer):
    return {f"{name}.weight": (outer, inner), f"{name}.bias": (outer,)}


class Case:
    """A specification with its sizes, weights, inputs and the functions of a block."""

    def __init__(self, text, sizes, batch, seeds, forward, backward):
        self.text, self.sizes, self.batch, self.seeds, self.functions = text, sizes, batch, seeds, (forward, backward)

    def draw(self, numerics):
        self.ties = numerics == "bf16"
        self.seed, batch, sizes = self.seeds[numerics], self.batch, self.sizes
        D, draw = sizes["D"], random.Random(self.seed + 100)
        self.x = tensors.Tensor("f32", batch + (D,), [draw.uniform(-2, 2) for _ in range(tensors.count(batch) * D)])
        self.labels = tensors.Tensor("i32", batch, [draw.randrange(CLASSES) for _ in range(tensors.count(batch))])

    def weights(self):
        D, parts = self.sizes["D"], ("query", "key", "value", "merge")
        shapes = linears("first", D, D) | {"last.weight": (D,), "last.bias": (D,)} | linears("head", D, CLASSES)
        for block in (f"blocks.{depth}" for depth in range(BLOCKS)):
            shapes |= {f"{block}.norm.weight": (D,), f"{block}.norm.bias": (D,)}
            mlp = [("up", D, self.sizes["F"]), ("down", self.sizes["F"], D)] if "F" in self.sizes else []
            for name, inner, outer in mlp or [(part, D, D) for part in parts]:
                shapes |= linears(f"{block}.{name}", inner, outer)
            shapes.pop(block + ".key.bias", None)
        made = drawn(self.seed, shapes)
        for value in made.values():
            if self.ties and len(value.shape) == 2:
                value.values[::2] = array.array("f", [tie(x) for x in value.values[::2]])
        return made

    def expected(self, points, numerics):
        net = Net({name: rows_of(value) for name, value in self.weights().items()}, points, self.sizes, self.x.shape, numerics)
        return net.run(rows_of(self.x), list(self.labels.values), *self.functions)

    def compiled(self, folder, numerics, tier):
        spec, file = driver.specification(self.text, "net"), os.path.join(folder, "weights.safetensors")
        tensors.save_safetensors(file, self.weights())
        _, gradients = driver.gradients(folder, spec, {"x": self.x, "label": self.labels}, *driver.settings(self.sizes),
                                        "--weights", file, "--numerics", numerics,
                                        environment=driver.code_of(tier))
        return {name: rows_of(value) for name, value in gradients.items()}


CASES = {
    "mlp": Case(MLP, {"D": 13, "F": 29}, (19,), {"bf16": 5, "f16": 8}, Net.mlp, Net.mlp_back),
    "attention": Case(ATTENTION, {"D": 11, "W": 7}, (3, 7), {"bf16": 6, "f16": 9}, Net.attention, Net.attention_back),
    "attention to many keys": Case(ATTENTION, {"D": 5, "W": 3}, (1, CHUNK + 3), {"bf16": 7, "f16": 7}, Net.attention,
                                   Net.attention_back),
}
# What can be left out of a case and is not seen there: of many keys only what is different.
UNSEEN = {"mlp": [point for point in POINTS if "attention" in point], "attention": ["attention's result"],
          "attention to many keys": [point for point in POINTS if point != "attention's result"]}


def distance(got, want):
    """Relative L2; 1 where nothing can be compared."""
    pairs = [(a, b) for left, right in zip(got, want, strict=True) for a, b in zip(left, right, strict=True)]
    far = math.sqrt(math.fsum((a - b) ** 2 for a, b in pairs)) / (math.sqrt(math.fsum(b * b for _, b in pairs)) or 1)
    return far if far == far else 1.0


def worst(got, want):
    """Name and distance of the tensor that differs most."""
    if got.keys() != want.keys():
        raise SystemExit(f"other tensors: {sorted(got.keys() ^ want.keys())}")
    return max(((name, distance(got[name], want[name])) for name in want), key=lambda pair: pair[1])


def compare(folder, kind, chosen, short):
    wrong, found, which = [], {}, CASES[kind]
    for numerics, points in ((short, POINTS), ("f32", ())):
        want = which.expected(points, short)
        here = [tier for tier in chosen if numerics == "bf16" or tier not in tiers.ONLY_OF_BF16]
        for tier in here:
            found[numerics, tier] = which.compiled(folder, numerics, tier)
            name, far = worst(found[numerics, tier], want)
            print(f"{kind}, {numerics}, {tier}: {len(want)} tensors, worst {far:.1e} ({name})")
            if not far <= TOLERANCE:
                wrong.append(f"{kind}, {numerics}, {tier}: {name} differs by {far:.2g}")
        for tier in here[1:]:
            name, far = worst(found[numerics, tier], found[numerics, here[0]])
            if not far <= BETWEEN_TIERS:
                wrong.append(f"{kind}, {numerics}: {here[0]} and {tier} differ by {far:.2g} in {name}")
    return wrong


def controls(folder, kind, tier, short):
    """What is not noticed though it is left out or added."""
    got, wrong = CASES[kind].compiled(folder, short, tier), []
    seen = [point for point in POINTS if point not in UNSEEN[kind] and (short == "bf16" or "ties" not in point)]
    changed = {f"without {point}": set(POINTS) - {point} for point in seen} | {"without all": set()}
    if kind == "attention":
        changed |= {f"with rounded {point}": {*POINTS, point} for point in F32}
    for what, points in changed.items():
        name, far = worst(got, CASES[kind].expected(points, short))
        print(f"{kind} {what}: {name} differs by {far:.1e}")
        if not far > NOTICED[short]:
            wrong.append(f"{kind} {what}: the difference is {far:.2g}, not noticed")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--numerics", choices=SHORT, default="bf16")
    parser.add_argument("--tiers", type=lambda text: text.split(","))
    parser.add_argument("--controls", action="store_true")
    options = parser.parse_args()
    wrong, short = [], options.numerics
    chosen = options.tiers or (tiers.of_bf16() if short == "bf16" else tiers.runnable())
    with tempfile.TemporaryDirectory() as folder:
        for kind, which in CASES.items():
            which.draw(short)
            wrong += controls(folder, kind, chosen[0], short) if options.controls else compare(folder, kind, chosen, short)
    for text in wrong:
        print("WRONG:", text)
    print(f"{len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
