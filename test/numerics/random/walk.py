"""Random causal models with an entry `out step(T)`: fed in windows it must give what the decomposed model gives on the whole."""
import random

import generate

LENGTHS, HEADS = (67, 131, 197, 300), (24, 40, 41, 64)
# What maps place by place and keeps values within some units.
MAPS = [text for text in generate.UNARY if not any(word in text for word in ("stop_gradient", "half", "+ 3"))]


class Walk:
    """A model whose layers attend to all places so far; `window` places are fed at a time."""

    def __init__(self, seed):
        draw = random.Random(1000 + seed)
        self.seed, self.length, self.window = seed, LENGTHS[seed % 4], draw.choice([1, 3, 17])
        self.length -= self.length % self.window
        self.heads = HEADS[seed // 4 % 4]
        self.rows, self.sets = 2, {"H": draw.choice([1, 2]), "E": self.heads}
        scores, layers, masks = ["score content = dot[E](wq(x) + u, wk(key))"], [], ["mask j <= i"]
        if seed % 2:
            layers += ["param near: [P, H] ~ normal(1)"]
            place = "clip(i - j, 0, P - 1)" if seed % 4 == 3 else "clip(i div 3 - j div 3, 0, 3) * 4 + j mod 4"
            scores += [f"score bias = near[P: {place}]"]
        else:
            layers += ["use wr = Linear[D -> H * E]", "param v: [H, E] ~ normal(1)", "let r = wr(sinusoid[R, D](start = 1 - R))"]
            scores += ["score place = dot[E](wq(x) + v, r[R: j + R - 1 - i])"]
        if seed % 4 == 3:
            layers += ["param asked: [P, H, E] ~ normal(1)"]
            scores += ["score asks = dot[E](wk(key), asked[P: clip(i - j, 0, P - 1)])"]
        masks += draw.sample(["mask i - j <= 40", "mask doc == doc[T -> S]"], draw.choice([0, 1]))
        items = " ".join([*scores, "scale 1 / sqrt(E)", *masks, "value wv(key)"])
        change = draw.choice(MAPS).replace("$", "y")
        more = [*self.recurrent(random.Random(5000 + seed)), *self.fixed(random.Random(6000 + seed))]
        again = draw.choice(["stack[2]", "loop[2]"])
        lines = ["param u: [H, E] ~ normal(1)", "use wq, wk, wv = Linear[D -> H * E]", "use wo = Linear[H * E -> D]", *layers,
                 "let key = x[T -> S]", f"let a = attend(i: T, j: S) {{ {items} }}", *more,
                 f"return norm({change} + y)"]
        self.text = "\n".join([
            "model Walk {", f"  config V = 37, H = {self.sets['H']}, E = {self.heads}, D = H * E, P = 16, W = 3", "  dim B, T",
            f"  dim S = T, R = S, F = {1 + 2 * (seed % 2)}, Z = F + T", "  in ids: index(256)[B, T]", "  let doc = ids div 64",
            "  param table: [V, D] ~ normal(1)",
            "  layer Block(x: [B, T, D]) -> [B, T, D] {", "    use norm = LayerNorm[D]", *("    " + line for line in lines),
            "  }", f"  use blocks = {again} Block", "  let logits = dot[D](blocks(table[V: ids mod V]), table)", "  out logits",
            "  out step(T) = logits", "}", ""])

    @staticmethod
    def recurrent(draw):
        """From `a` and `x` to `y`: by what a window leaves, and by what a scan carries."""
        lines, value = [], "x + tanh(wo(a))"
        if draw.randrange(2):
            gap = draw.choice([1, 2, 5])
            lines += ["param taps: [D, W] ~ normal(0.5)", f"let seen = {value}"]
            value = f"seen + tanh(dot[W](window[T -> T * W](seen, pad = ({2 * gap}, 0), dilation = {gap}), taps))"
        if draw.randrange(2):
            lines += [f"let read = {value}", "let carried = scan(t: T) { carry h: [B, D] = full[B, D](0.25) carry n: i32[B] = "
                      "full[B](2) let new = tanh(0.5 * h + read[T: t] + real(n + t mod 3) / 8) next h = new next n = "
                      "(n + ids[T: t]) mod 5 yield new }"]
            value = "read + carried"
        return [*lines, f"let found = {value}"]

    @staticmethod
    def fixed(draw):
        """From `found` to `y`, in one model of two by an attend whose first keys are there before all places."""
        if draw.randrange(2):
            return ["let y = found"]
        mask = draw.choice(["j <= i + F", "j < F or (j <= i + F and j > i + F - 9)",
                            "j <= i + F and (j + i) mod 3 != 1 or j == 0"])
        keys = draw.choice(["fk(joined)", "concat[F + T -> Z](full[B, F, H, E](0.0), fk(found))"])
        scores = [f"score content = dot[E](fq(found), {keys})",
                  *draw.choice([[], ["score sinks = sink * expand[H](real(j < F))"]])]
        return ["param front: [F, D] ~ normal(1)", "param sink: [H] ~ normal(1)", "use fq, fk, fv = Linear[D -> H * E]",
                "let joined = concat[F + T -> Z](expand[B, F, D](front), found)",
                f"let shown = attend(i: T, j: Z) {{ {' '.join(scores)} scale 1 / sqrt(E) mask {mask} value fv(joined) }}",
                "let y = found + tanh(wo(shown))"]

    def specification(self):
        return self.text
