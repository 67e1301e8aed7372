"""Random well-typed specifications: each is a chain of constructs, every one a function below that adds statements with known
axes.

A specification is drawn from a deck of all constructs, so that some tens of them cover each several times. Values stay within
some units: what grows goes through tanh.
"""
import random

import blocks
import loops
import recurrences
import scores
import tokens
import windows
from words import BINARY, CLIPS, LARGE, LAYERS, OPTIMIZERS, SCHEDULES, UNARY


class Specification:
    """Statements of one model; `reals` maps names to sets of axes."""

    def __init__(self, seed, picked):
        self.draw = draw = random.Random(seed)
        self.seed, self.picked, self.lines, self.params, self.reals, self.count = seed, picked, [], [], {}, 0
        h, e = draw.choice([1, 2, 3]), draw.choice([1, 4, 5, 8, 17])
        self.sizes = {"H": h, "E": e, "C": draw.choice([2, 5, 9, 16, 19]), "K": draw.choice([1, 3, 4]),
                      "M": draw.choice([1, 3, 7]), "V": draw.choice([11, 33]), "W": draw.choice([1, 4, 40])}
        self.dims = {"B": draw.choice([1, 2, 3]), "T": draw.choice([1, 2, 5, 17, 19])}
        if seed % 2 == 0:
            length, h, e, memory = LARGE[seed // 2 % len(LARGE)]
            self.sizes |= {"H": h, "E": e, "M": memory, "C": draw.choice([16, 33, 67])}
            self.dims = {"B": draw.choice([2, 3]), "T": length}
        self.trains = seed % 5 == 2
        self.losses, self.integers = [], []
        self.text("let x0: [B, T, D] = table[V: word]")
        self.reals["x0"] = ("B", "T", "D")
        self.reals["x"] = ("B", "T", "D")
        for construct in picked:
            construct(self)

    # ---- parts
    def text(self, line):
        self.lines.append(line)

    def name(self, prefix="v"):
        self.count += 1
        return f"{prefix}{self.count}"

    def keep(self, expression, axes, order=False):
        """A new real value, which the loss reads unless something later does."""
        name = self.name()
        self.text(f"let {name}{': [' + ', '.join(axes) + ']' if order else ''} = {expression}")
        self.reals[name] = tuple(axes)
        return name

    def param(self, *axes):
        name = self.name("p")
        self.params.append(f"param {name}: [{', '.join(axes)}] ~ normal(1)")
        self.reals[name] = axes
        return name

    def real(self, *axes):
        """Some value with exactly these axes."""
        found = [name for name, have in self.reals.items() if sorted(have) == sorted(axes)]
        if found and self.draw.random() < 0.85:
            return self.draw.choice(found[-6:])
        dynamic = [axis for axis in axes if axis in ("B", "T")]
        if not dynamic:
            return self.param(*axes)
        if sorted(dynamic) == ["B", "T"] and len(axes) > 2:
            rest = [axis for axis in axes if axis not in dynamic]
            return self.keep(f"{self.param('V', *rest)}[V: word]", ("B", "T", *rest))
        rest = [axis for axis in axes if axis not in dynamic]
        inner = self.param(*rest) if rest else "0.5"
        return self.keep(f"expand[{', '.join(dynamic)}]({inner}) * real(1 + iota[{dynamic[0]}]() mod 3)" if rest
                         else f"full[{', '.join(dynamic)}](0.5) * real(1 + iota[{dynamic[0]}]() mod 3)", (*dynamic, *rest))

    def common(self):
        """The axes that values usually have."""
        return self.draw.choice([("B", "T", "D"), ("B", "T", "D"), ("B", "T", "H", "E"), ("B", "T", "C"), ("C", "D"), ("H", "E"),
                                 ("B", "D")])

    def specification(self):
        s = self.sizes
        # Every value is seen through a loss of its own that weighs its elements unequally. Angles stay small: beyond a few turns
        # f32 rounds them by more than the losses' bound, where thousands of large terms cancel.
        losses = list(self.losses)
        for name, axes in [(name, axes) for name, axes in self.reals.items() if name[0] == "v"] + self.integers:
            places = " + ".join(f"{factor} * iota[{axis}]()" for axis, factor in zip(axes, (13, 7, 29, 3, 5)))
            total = (f"{self.draw.choice(['sum', 'mean'])}(real({name}) * sin(0.1 * real(({places} + 5) mod 67)))" if axes
                     else f"sin(real({name}))")
            losses.append(f"of_{name}")
            self.text(f"loss of_{name} = {total}")
        if not losses:
            losses.append("of_x0")
            self.text("loss of_x0 = mean(x0)")
        whole = " + ".join(f"{self.draw.choice([0.5, 1, 2])} * {name}" for name in losses)
        lines = [f"config H = {s['H']}, E = {s['E']}, D = H * E, C = {s['C']}, K = {s['K']}, M = {s['M']}, V = {s['V']}, A = C + "
                 f"K, C1 = C - 1, W = {s['W']}, R = 2 * W + 1, G = 2, Z = 3, Y = 2",
                 "dim B, T", "dim TT = 2 * T, BT = B * T, BT2 = BT, B2 = B",
                 "dim T2 = T, S = M + T, P = S, P2 = 2 * S - 1, P3 = 2 * T - 1, D4 = (D - 1) div 2 + 1",
                 "in ids, target: index(256)[B, T]",
                 *INTEGERS, "param table, other: [V, D] ~ normal(1)", "let x: [B, T, D] = other[V: target mod V]", *self.params,
                 *self.lines]
        way = "optimizer = sgd(lr = 1.0)\n  steps = 1"
        if self.trains:
            optimizer = self.draw.choice(OPTIMIZERS)
            clips = CLIPS[:2] if "clip_each" in optimizer else CLIPS  # beside value(..) it is not supported
            way = (f"optimizer = {optimizer}\n  schedule = {self.draw.choice(SCHEDULES)}\n  clip = {self.draw.choice(clips)}\n"
                   "  steps = 20")
        recipe = f'train Random as whole {{\n  data = byte_stream(text = "none.txt")\n  loss = {whole}\n  {way}\n}}\n'
        return LAYERS + "model Random {\n" + "\n".join("  " + line for line in lines) + "\n}\n" + recipe


# What constructs read besides reals: everything follows from the bytes, so that a recipe can be had.
INTEGERS = ["let word = ids mod V", "let n = ids mod 8 - 3", "let keep = target mod 3 != 0", "let label = target mod C",
            "let seg = ids div 8 mod 3", "let len = min(ids[T: 0] mod 20 * (size[T]() div 16 + 1) + 1, T)",
            "let back = ids[T: 0] mod 2 == 1", "let rank = target mod 50", "let soft = real(ids mod 5) / 5",
            "let place = min((iota[K]() * 5 + ids[T: 0]) mod 7, T - 1)",
            "let column = (iota[K]() + ids[T: 0]) mod C"]
CONSTRUCTS = []


def construct(function):
    CONSTRUCTS.append(function)
    return function


def each(texts, build):
    """One construct per text."""
    for text in texts:
        def function(g, text=text):
            build(g, text)
        function.__name__ = text
        CONSTRUCTS.append(function)


def elementwise(g, text):
    axes = g.common()
    parts = text.split("$")
    g.keep(parts[0] + "".join(g.real(*axes) + part for part in parts[1:]), axes)


each(UNARY + BINARY, elementwise)


def chosen(g, condition):
    """A condition over [B, T] or less chooses between values."""
    y, z = g.real("B", "T", "D"), g.real("B", "T", "D")
    g.keep(f"where({condition}, {y}, {z})", ("B", "T", "D"))


each(["keep and not (n < 0)", "n == 2 or n != 3 and keep", "n div 3 >= n mod 3", "abs(n - 1) > min(n, 2)", "iota[T]() < len",
      "n - ids * 2 <= max(n, -1)", "clip(n, -1, 2) == n", "sees(n, seg)", "all[D](x > -3)", "any[D](x > 0.9)", "any[T](keep)",
      "all[B, T](n > -9)", "argmax[D](x) mod 2 == 0", "sample[D](2 * x) mod 2 == 0",
      "cumsum[T](n) > 1", "sum[T](n) > 0", "max[T](n) > seg", "flip[T](n) > 0", "put[T: place](n, 7) > 1",
      "put[T: place](n, 1, where = column > 1) == n"], chosen)


def reduced(g, text):
    g.keep(text.replace("$", g.real("B", "T", "D")), {"D": ("B", "T"), "T": ("B", "D"), "B, T": ("D",),
                                                      "B": ("T", "D")}[text[text.index("[") + 1:text.index("]")]])


# The same symbol at two places gives equal values; which of them is the largest must not hang on rounding.
APART = " + real(7 * iota[B]() + 3 * iota[T]()) / 64"
each([f"{f}[{axes}]($" + (APART if f in ("max", "min") else "") + ")"
      for f, axes in zip(["sum", "mean", "max", "min"] * 2, ["D", "T", "B, T", "B", "T", "D", "D", "T"])], reduced)


def rowwise(g, text):
    g.keep(text.replace("$", g.real("B", "T", "D")), ("B", "T", "D"))


each(["softmax[D]($)", "softmax[T]($)", "softmax[T, D]($)", "log_softmax[D]($) / 4", "log_softmax[T]($) / 4",
      "normalize[D]($, eps = 1e-2)", "normalize[T, D]($, eps = 0.1)",
      "normalize[T]($, eps = 0.1)", "tanh(cumsum[T]($))", "tanh(cumsum[D]($))", "flip[T]($)", "flip[D]($)",
      "dropout($, 0.3) + gumbel[B, T, D](0.1)",
      "dropout[T]($, 0.4)", "(if training then sin($) else $)", "$ * size[T, D]() / 40", "$[T -> T2][T2 -> T]",
      "$[D -> H * E][H * E -> D]", "$[D -> H * E][E: 0][H: 0] * $",
      "expand[B](mean[B]($)) * $"], rowwise)


@construct
def split(g):
    g.keep(f"{g.real('B', 'T', 'D')}[D -> H * E]", ("B", "T", "H", "E"))


@construct
def merge(g):
    g.keep(f"{g.real('B', 'T', 'H', 'E')}[H * E -> D]", ("B", "T", "D"))


@construct
def pick(g):
    g.keep(f"{g.real('B', 'T', 'D')}[T: 0]", ("B", "D"))
    g.keep(f"{g.real('B', 'T', 'D')}[D: D - 1]", ("B", "T"))


@construct
def gather(g):
    g.keep(f"{g.param('V', 'C')}[V: word]", ("B", "T", "C"))
    g.keep(f"{g.real('C', 'D')}[C: label]", ("B", "T", "D"))


@construct
def gather_in_rows(g):
    g.keep(f"{g.real('B', 'T', 'D')}[T: place]", ("B", "K", "D"))
    g.keep(f"{g.real('B', 'T', 'C')}[C: label]", ("B", "T"))


@construct
def slice_(g):
    g.keep(f"{g.real('C', 'D')}[C: 1 .. C -> C1]", ("C1", "D"))
    name = g.keep(f"concat[M + T -> S](expand[B]({g.real('M', 'D')}), {g.real('B', 'T', 'D')})", ("B", "S", "D"))
    g.keep(f"{name}[S: T .. S -> M]", ("B", "M", "D"))
    g.keep(f"{name}[S: M .. S -> T]", ("B", "T", "D"))


@construct
def concat(g):
    g.keep(f"concat[C + K -> A]({g.real('C', 'D')}, {g.real('K', 'D')})", ("A", "D"))
    g.keep(f"concat[K + C -> A]({g.real('K', 'D')}, real(iota[C]()) * {g.real('C', 'D')})", ("A", "D"))


@construct
def put(g):
    g.keep(f"put[T: place]({g.real('B', 'T', 'D')}, {g.real('B', 'K', 'D')})", ("B", "T", "D"))
    g.keep(f"put[T: place]({g.real('B', 'T', 'D')}, {g.real('B', 'K', 'D')}, where = column > 0)", ("B", "T", "D"))


@construct
def full_and_real(g):
    g.keep(f"full[B, T](0.5) * real(n) / 4 + {g.real('B', 'T')}", ("B", "T"))


@construct
def sinusoid(g):
    g.keep(f"expand[B](sinusoid[T, D](start = {g.draw.choice([0, 3, -2])})) * {g.real('B', 'T', 'D')}", ("B", "T", "D"))
    g.keep(f'sinusoid[P, D](clamp = 3, layout = "interleaved", steps = "t2t") * {g.param("D")}', ("P", "D"))


@construct
def expert(g):
    """Contractions and a pass over rows between them, of which only the places of a condition are read."""
    weights = g.real("C", "D"), g.real("C", "D")
    g.keep(f"where(keep, dot[C](softmax[C](dot[D]({g.real('B', 'T', 'D')}, {weights[0]})), {weights[1]}), 0)", ("B", "T", "D"))


@construct
def dot_over_features(g):
    g.keep(f"tanh(dot[D]({g.real('B', 'T', 'D')}, {g.real('C', 'D')}))", ("B", "T", "C"))


@construct
def dot_over_places(g):
    g.keep(f"tanh(dot[T]({g.real('B', 'T', 'D')}, {g.real('B', 'T', 'C')}))", ("B", "D", "C"))


@construct
def dot_of_pairs(g):
    x = g.real("B", "T", "D")
    name = g.keep(f"tanh(dot[D]({x}, {g.real('B', 'T', 'D')}[T -> T2]) / 4)", ("B", "T", "T2"))
    g.keep(f"tanh(dot[T2]({name}, {x}[T -> T2]))", ("B", "T", "D"))


@construct
def dot_over_two(g):
    g.keep(f"tanh(dot[H, E]({g.real('B', 'T', 'H', 'E')}, {g.real('C', 'H', 'E')}))", ("B", "T", "C"))


@construct
def dot_with_shared(g):
    g.keep(f"tanh(dot[E]({g.real('B', 'T', 'H', 'E')}, {g.real('H', 'E')}))", ("B", "T", "H"))
    g.keep(f"tanh(dot[B, T]({g.real('B', 'T', 'D')}, {g.real('B', 'T', 'C')}))", ("D", "C"))


@construct
def cross_entropy(g):
    z = g.real("B", "T", "C")
    options = g.draw.choice(["", ", spread = 0.1 / C", ", spread = 0.1 / C, skip = 1", ", smoothing = 0.2",
                             ", smoothing = 0.1, form = \"t2t\"", ", where = iota[T]() < len",
                             ", spread = 0.05 / C, where = keep"])
    g.keep(f"cross_entropy[C]({z}, label{options})", ("B", "T"))
    name = g.name("l")
    g.text(f"loss {name} = mean(cross_entropy[C](2 * {z}, label, smoothing = 0.1, skip = 0))")
    g.losses.append(name)


@construct
def binary_cross_entropy(g):
    g.keep(f"binary_cross_entropy({g.real('B', 'T')} * 3, keep) + binary_cross_entropy({g.real('B', 'T')}, soft)", ("B", "T"))


@construct
def top(g):
    values, places = g.name("v"), g.name("i")
    g.text(f"let ({values}, {places}) = top[A -> K]({g.real('B', 'T', 'A')})")
    g.reals[values] = ("B", "T", "K")
    g.integers.append((places, ["B", "T", "K"]))


@construct
def several_draws(g):
    name = g.name("i")
    g.text(f"let {name} = sample[D -> K](3 * {g.real('B', 'T', 'D')}, temperature = 2)")
    g.integers.append((name, ["B", "T", "K"]))


def layered(g, text):
    name = g.name("u")
    use, call = text.split(" | ")
    g.text(f"use {name} = {use}")
    x = g.real("B", "T", "D")
    axes = ("B", "T", "C") if "-> C]" in use else ("B", "T", "H", "E") if "-> H * E]" in use else ("B", "T", "D")
    for part in call.split(" & "):
        history = "[HISTORY]" in part
        part = part.replace("[HISTORY]", "[K]").replace("$t", g.real("D") if "$t" in part else "").replace("$", x)
        g.keep(part.replace("use", name), ("K", *axes) if history else axes)


each(["Linear[D -> C] | tanh(use($))", "Linear[D -> H * E](bias = false) | tanh(use($))",
      "Linear[D -> D](weight = normal(0.5)) | tanh(use($)) & tanh(use(sin($)))",
      "LayerNorm[D] | use($)", "LayerNorm[D](eps = 0.1) | use($)", "Plain[D -> C](act = gelu, factor = 0.5) | use($)",
      "Plain[D -> D](Inner = Linear, gain = 0.5) | use($)",
      "stack[K] Step[D] | use($, $t)", "stack[K] Step[D] | use($, $t) & use[HISTORY](cos($), $t)", "loop[3] Step[D] | use($, $t)",
      "stack[3] Nested[D] | use($)", "stack[4] Differs[D] | use($)", "stack[K] Nested[D] | use[HISTORY]($) & use($)"], layered)


@construct
def pair(g):
    name = g.name("u")
    g.text(f"use {name} = stack[2] Two[D]")
    x, y = g.real("B", "T", "D"), g.real("B", "T", "D")
    a, b = g.name(), g.name()
    g.text(f"let ({a}, {b}) = {name}({x}, {y})")
    g.reals[a] = g.reals[b] = ("B", "T", "D")


@construct
def tied(g):
    a, b = g.name("u"), g.name("u")
    g.text(f"use {a} = Linear[D -> D]")
    g.text(f"use {b} = Linear[D -> D](weight = {a}.weight, bias = false)")
    x = g.real("B", "T", "D")
    g.keep(f"tanh({a}({x})) * {b}({x}) / 4", ("B", "T", "D"))


@construct
def state(g):
    name = g.name("s")
    g.text(f"state {name}: [B, M, D] = 0")
    x = g.real("B", "T", "D")
    c = g.keep(f"concat[M + T -> S]({name}, {x})", ("B", "S", "D"))
    g.text(f"next {name} = stop_gradient({c}[S: T .. S -> M])")
    g.keep(f"{name} * {g.real('M', 'D')}", ("B", "M", "D"))


each(scores.SCORES, scores.build)
each(blocks.BLOCKS, blocks.build)
each(recurrences.SCANS, recurrences.build)
each(windows.WINDOWS + tokens.TOKENS, windows.build)
each(loops.LOOPS, loops.build)


@construct
def pooled(g):
    x = g.real("B", "T", "D")
    g.keep(f"attend(j: T) {{ score dot[D]({x}, {g.real('D')}) mask j < len value {x} }}", ("B", "D"))


@construct
def whole(g):
    for text, axes in (("n * 2 - ids", "B T"), ("argmax[T](n)", "B"), ("iota[T]() + size[T]()", "T"),
                       ("concat[M + T -> S](iota[M](), n)", "B S")):
        name = g.name("i")
        g.text(f"let {name} = {text}")
        g.integers.append((name, axes.split()))


def specifications(first, number, length):
    """`number` specifications of `length` constructs; every construct occurs before any occurs twice more often than another."""
    result, deck = [], []
    for seed in range(first, first + number):
        picked = []
        while len(picked) < length:
            if not deck:
                deck = list(CONSTRUCTS)
                random.Random(seed).shuffle(deck)
            picked.append(deck.pop())
        result.append((seed, picked))
    return result
