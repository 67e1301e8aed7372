"""Optimizers and schedules written out, in doubles: OPTIMIZERS and SCHEDULES have what a recipe says and what it means."""
import math


def rate(schedule, s):
    """Factor of the rate after s updates (docs/recipes.md)."""
    defaults = {"kind": "constant", "warmup": 0, "total": 1, "floor": 0.0, "power": 1}
    kind, w, total, floor, power = (schedule.get(key, default) for key, default in defaults.items())
    t, done = s + 1, min(s / total, 1)
    if kind == "noam":
        return schedule.get("factor", 1) * schedule["size"] ** -0.5 * min(t ** -0.5, t * w ** -1.5)
    if kind == "paddle_noam":
        return w ** 0.5 * min(t ** -0.5, t * w ** -1.5)
    if kind == "txl_inverse_sqrt":
        return min(s ** -0.5, s * w ** -1.5) if s else 0.0
    if kind in ("electra_linear", "gpt1_linear"):
        return (min(1, s / w) if w else 1) * (1 - done)
    if kind == "gpt1_cosine":
        return s / w if s <= w else 0.5 * (1 + math.cos(math.pi * done))
    if kind == "fairseq_polynomial" and s <= w:
        return max(s, 1) / w
    if kind == "txl_cosine" and s == 0:
        return 1.0
    if kind == "steps":
        return schedule["factor"] ** (max(s - schedule.get("after", 0), 0) // schedule["every"])
    if kind == "rsqrt":
        return max(s, schedule["constant"]) ** -0.5
    if s < w:
        return s / w
    if kind == "milestones":
        return math.prod(schedule["factor"] for at in schedule["at"] if s >= at)
    if kind == "cosine_restarts":
        return restarted(s - w, floor, **{key: schedule[key] for key in ("periods", "end") if key in schedule})
    if kind == "inverse_sqrt":
        return math.sqrt(w / s)
    if kind == "bert_linear":
        return (1 - done) ** power
    if kind == "txl_cosine":
        return floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * done))
    p = min((s - w) / (total - w), 1) if kind != "constant" else 0
    return floor + (1 - floor) * (0.5 * (1 + math.cos(math.pi * p)) if kind == "cosine" else (1 - p) ** power)


def restarted(s, floor, periods, end=math.inf):
    """Cosines of these lengths, one after the other; behind `end` the floor."""
    if s >= end:
        return floor
    for period in periods:
        if s < period:
            return floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * s / period))
        s -= period
    raise ValueError(s)


def norm(values):
    return math.sqrt(math.fsum(x * x for x in values))


class Rule:
    """One optimizer over named tensors with factors of their own."""

    def __init__(self, kind, lr, decay=0.0, momentum=0.0, nesterov=False, betas=(0.9, 0.999), eps=1e-8, dampening=0.0, form="",
                 each=0.0, scaled=True, threshold=1.0, least=1):
        self.scaled, self.threshold, self.least, self.means = scaled, threshold, least, {}
        self.shapes = {}  # of what is no vector
        self.kind, self.lr, self.decay, self.momentum, self.form = kind, lr, decay, momentum, form
        self.nesterov, self.betas, self.eps, self.dampening, self.each = nesterov, betas, eps, dampening, each
        self.first, self.second, self.updates = {}, {}, 0

    def update(self, values, gradients, factor, own):
        """own[name]: rate, gradient and decay of the tensor."""
        self.updates += 1
        for name, p in values.items():
            times, share, decay = own.get(name, (1, 1, None))
            if decay is None:
                decay = 0.0 if self.kind == "gpt1_adam" and name != "m" else self.decay
            g = [x * share for x in gradients[name]]
            if self.each:
                clip = min(1.0, self.each / (norm(g) + 1e-6))
                g = [x * clip for x in g]
            m, v = self.first.setdefault(name, [0.0] * len(p)), self.second.setdefault(name, [0.0] * len(p))
            if self.kind == "sgd":
                self.sgd(p, g, m, self.lr * factor * times, decay)
            elif self.kind == "lion":
                self.lion(p, g, m, self.lr * factor * times, decay)
            elif self.kind == "adafactor":
                self.adafactor(name, p, g, m, self.lr * factor * times, decay)
            elif self.kind == "lamb":
                self.lamb(p, g, m, v, self.lr * factor * times, decay)
            else:
                self.adam(p, g, m, v, self.lr * factor * times, decay)

    def sgd(self, p, g, m, lr, decay):
        for k, x in enumerate(g):
            x += decay * p[k]
            if self.momentum:
                m[k] = x if self.updates == 1 else self.momentum * m[k] + (1 - self.dampening) * x
                x = x + self.momentum * m[k] if self.nesterov else m[k]
            p[k] -= lr * x

    def adam(self, p, g, m, v, lr, decay):
        (b1, b2), eps = self.betas, self.eps
        c1, c2 = 1 - b1 ** self.updates, 1 - b2 ** self.updates
        for k, x in enumerate(g):
            if self.kind in ("adam", "adam_tf", "adamax") or self.kind == "radam" and self.form != "decoupled":
                x += decay * p[k]
            m[k] = b1 * m[k] + (1 - b1) * x
            if self.kind in ("adamax", "adamaxw"):
                v[k] = max(b2 * v[k], abs(x) + eps)
                if self.kind == "adamaxw":
                    p[k] *= 1 - lr * decay
                p[k] -= lr / c1 * m[k] / v[k]
                continue
            v[k] = b2 * v[k] + (1 - b2) * x * x
            torch, hat = m[k] / c1 / (math.sqrt(v[k] / c2) + eps), math.sqrt(c2) / c1 * m[k] / (math.sqrt(v[k]) + eps)
            if self.kind == "bert_adam":
                p[k] -= lr * (m[k] / (math.sqrt(v[k]) + eps) + decay * p[k])
            elif self.kind == "gpt1_adam":
                p[k] -= lr * (hat + math.sqrt(c2) / c1 * decay * p[k])
            elif self.kind == "adam_paddle" or self.form == "fairseq":
                p[k] -= lr * hat + lr * decay * p[k]
            elif self.kind == "radam":
                if self.form == "decoupled":
                    p[k] *= 1 - lr * decay
                longest = 2 / (1 - b2) - 1
                n = longest - 2 * self.updates * b2 ** self.updates / c2
                if n > 5:
                    p[k] -= lr * hat * math.sqrt((n - 4) * (n - 2) * longest / (longest - 4) / (longest - 2) / n)
                else:
                    p[k] -= lr * m[k] / c1
            elif self.form in ("hf", "uncorrected"):
                p[k] -= lr * (hat if self.form == "hf" else m[k] / (math.sqrt(v[k]) + eps))
                p[k] -= lr * decay * p[k]
            elif self.kind == "adamw":
                p[k] = p[k] * (1 - lr * decay) - lr * torch
            else:
                p[k] -= lr * (torch if self.kind == "adam" else hat)

    def lion(self, p, g, m, lr, decay):
        b1, b2 = self.betas
        for k, x in enumerate(g):
            c = b1 * m[k] + (1 - b1) * x
            p[k] = p[k] * (1 - lr * decay) - lr * ((c > 0) - (c < 0))
            m[k] = b2 * m[k] + (1 - b2) * x

    def adafactor(self, name, p, g, m, lr, decay):
        torch, rest = self.form == "torch", self.updates ** -0.8
        eps = 2.0 ** -52 if torch else 1e-30
        added = 0 if torch else eps

        def faded(which, now):
            before = self.means.get((name, which), [0.0] * len(now))
            self.means[name, which] = [(1 - rest) * a + rest * (b + added) for a, b in zip(before, now)]
            return self.means[name, which]

        shape = self.shapes.get(name, (len(p),))
        cuts = [(math.prod(shape[:k]), math.prod(shape[k:])) for k in range(1, len(shape))]
        cuts = [cut for cut in cuts if min(cut) >= self.least]
        if cuts:
            rows, columns = min(cuts, key=sum)
            row = faded("rows", [math.fsum(x * x for x in g[k * columns:(k + 1) * columns]) / columns for k in range(rows)])
            column = faded("columns", [math.fsum(x * x for x in g[k::columns]) / rows for k in range(columns)])
            mean = math.fsum(row) / rows
            v = [a * b / (max(mean, eps) if torch else mean) for a in row for b in column]
        else:
            v = faded("", [x * x for x in g])
        u = [x / math.sqrt(max(y, eps * eps) if torch else y) for x, y in zip(g, v)]
        scale = max(1e-3, norm(p) / math.sqrt(len(p))) if self.scaled else 1.0
        far = scale / max(1.0, norm(u) / math.sqrt(len(u)) / self.threshold) * (min(lr, self.updates ** -0.5) if torch else lr)
        for k, x in enumerate(u):
            x *= far
            if self.momentum:
                x = m[k] = self.momentum * m[k] + (1 - self.momentum) * x
            p[k] = p[k] * (1 - lr * decay * (1 if torch else scale)) - x

    def lamb(self, p, g, m, v, lr, decay):
        (b1, b2), eps = self.betas, self.eps
        corrected = self.form in ("nvidia_tf", "nvlamb", "huawei")
        c1, c2 = (1 - b1 ** self.updates, 1 - b2 ** self.updates) if corrected else (1, 1)
        for k, x in enumerate(g):
            m[k], v[k] = b1 * m[k] + (1 - b1) * x, b2 * v[k] + (1 - b2) * x * x
        r = [a / c1 / (math.sqrt(b / c2) + eps) + decay * x for a, b, x in zip(m, v, p)]
        of_p, of_r = norm(p), norm(r)
        ratio = of_p / of_r if of_p and of_r else 1.0
        if self.form == "pytorch" and of_p and of_r:
            ratio = min(of_p, 10) / of_r
        elif self.form in ("albert", "nvlamb") and decay == 0:
            ratio = 1.0
        elif self.form == "huawei":
            other = norm(a / c1 / math.sqrt(b / c2 + eps) + self.decay * x for a, b, x in zip(m, v, p))
            ratio = min(of_p / other, 10) if of_p and norm(g) else 1.0
        for k, x in enumerate(r):
            p[k] -= lr * ratio * x


OPTIMIZERS = {
    "sgd(lr = 0.05)": lambda: Rule("sgd", 0.05),
    "sgd(lr = 0.05, momentum = 0.8, nesterov = true, decay = 0.02)": lambda: Rule("sgd", 0.05, 0.02, 0.8, True),
    "sgd(lr = 0.05, momentum = 0.9, dampening = 0.3)": lambda: Rule("sgd", 0.05, 0.0, 0.9, dampening=0.3),
    "adam(lr = 0.02, betas = (0.8, 0.95), eps = 1e-6, decay = 0.03)": lambda: Rule("adam", 0.02, 0.03, betas=(0.8, 0.95),
                                                                                   eps=1e-6),
    "adam_tf(lr = 0.02, eps = 1e-3, decay = 0.03)": lambda: Rule("adam_tf", 0.02, 0.03, eps=1e-3),
    "adamw(lr = 0.02)": lambda: Rule("adamw", 0.02, 0.01),
    "adamw(lr = 0.02, betas = (0.9, 0.95), decay = 0.1)": lambda: Rule("adamw", 0.02, 0.1, betas=(0.9, 0.95)),
    "adamw(lr = 0.02, eps = 1e-3, decay = 0.1, form = hf)": lambda: Rule("adamw", 0.02, 0.1, eps=1e-3, form="hf"),
    "adamw(lr = 0.02, eps = 1e-3, decay = 0.1, form = fairseq)": lambda: Rule("adamw", 0.02, 0.1, eps=1e-3, form="fairseq"),
    "bert_adam(lr = 0.01, decay = 0.05)": lambda: Rule("bert_adam", 0.01, 0.05, eps=1e-6),
    "bert_adam(lr = 0.01, decay = 0.05, eps = 1e-2, clip_each = 0.5)": lambda: Rule("bert_adam", 0.01, 0.05, eps=1e-2, each=0.5),
    "gpt1_adam(lr = 0.01, l2 = 0.05)": lambda: Rule("gpt1_adam", 0.01, 0.05),
    "adamax(lr = 0.02, betas = (0.8, 0.95), eps = 1e-6, decay = 0.03)": lambda: Rule("adamax", 0.02, 0.03, betas=(0.8, 0.95),
                                                                                     eps=1e-6),
    "adamaxw(lr = 0.02, decay = 0.03)": lambda: Rule("adamaxw", 0.02, 0.03),
    "adam_paddle(lr = 0.02, decay = 0.03)": lambda: Rule("adam_paddle", 0.02, 0.03),
    **{f"lamb(lr = 0.01, decay = 0.04, eps = {eps}, form = {form})":
        (lambda form=form, eps=eps: Rule("lamb", 0.01, 0.04, eps=eps, form=form))
       for form, eps in (("v3", 1e-3), ("pytorch", 1e-3), ("albert", 1e-3), ("nvidia_tf", 1e-3), ("nvlamb", 1e-3),
                         ("huawei", 1e-3), ("huawei", 0.3))},  # a large eps makes ratios above 10
    "lion(lr = 0.02, betas = (0.9, 0.95), decay = 0.1)": lambda: Rule("lion", 0.02, 0.1, betas=(0.9, 0.95)),
    "radam(lr = 0.02, eps = 1e-3, decay = 0.03)": lambda: Rule("radam", 0.02, 0.03, eps=1e-3),
    "radam(lr = 0.02, betas = (0.9, 0.95), decay = 0.1, form = decoupled)": lambda: Rule("radam", 0.02, 0.1, betas=(0.9, 0.95),
                                                                                         form="decoupled"),
    "adafactor(lr = 0.02, decay = 0.1)": lambda: Rule("adafactor", 0.02, 0.1),
    "adafactor(lr = 0.02, decay = 0.1, momentum = 0.8, clip_threshold = 0.7, scale_parameter = false)": lambda: Rule(
        "adafactor", 0.02, 0.1, 0.8, threshold=0.7, scaled=False),
    "adafactor(lr = 0.4, decay = 0.1, form = torch)": lambda: Rule("adafactor", 0.4, 0.1, form="torch"),
    "adafactor(lr = 0.02, decay = 0.1, min_dim_size_to_factor = 25)": lambda: Rule("adafactor", 0.02, 0.1, least=25),
    "adamw(lr = 0.02, eps = 1e-3, decay = 0.1, form = uncorrected)": lambda: Rule("adamw", 0.02, 0.1, eps=1e-3,
                                                                                  form="uncorrected"),
}
SCHEDULES = {
    "constant()": {},
    "constant(warmup = 4)": {"warmup": 4},
    "linear(warmup = 3, total = 9)": {"kind": "linear", "warmup": 3, "total": 9},
    "cosine(warmup = 2, total = 11, floor = 0.1)": {"kind": "cosine", "warmup": 2, "total": 11, "floor": 0.1},
    "noam(size = 64, warmup = 5, factor = 3.0)": {"kind": "noam", "size": 64, "warmup": 5, "factor": 3.0},
    "bert_linear(warmup = 4, total = 10)": {"kind": "bert_linear", "warmup": 4, "total": 10},
    "xlnet_linear(warmup = 4, total = 10, floor = 0.02)": {"kind": "xlnet_linear", "warmup": 4, "total": 10, "floor": 0.02},
    "polynomial(warmup = 2, total = 10, end = 0, power = 2)": {"kind": "polynomial", "warmup": 2, "total": 10, "power": 2},
    "bert_linear(warmup = 3, total = 11, power = 0.5)": {"kind": "bert_linear", "warmup": 3, "total": 11, "power": 0.5},
    "nezha_linear(warmup = 3, total = 13)": {"kind": "nezha_linear", "warmup": 3, "total": 13},
    "bertadam_linear(warmup = 0.3, total = 11)": {"kind": "bertadam_linear", "warmup": 3.3, "total": 11},
    "electra_linear(warmup = 0.25, total = 11)": {"kind": "electra_linear", "warmup": 2.75, "total": 11},
    "gpt1_linear(total = 14)": {"kind": "gpt1_linear", "total": 14},
    "gpt1_cosine(warmup = 3, total = 12)": {"kind": "gpt1_cosine", "warmup": 3, "total": 12},
    "txl_cosine(warmup = 3, total = 10, floor = 0.1)": {"kind": "txl_cosine", "warmup": 3, "total": 10, "floor": 0.1},
    "txl_inverse_sqrt(warmup = 5)": {"kind": "txl_inverse_sqrt", "warmup": 5},
    "paddle_noam(warmup = 5)": {"kind": "paddle_noam", "warmup": 5},
    "inverse_sqrt(warmup = 5)": {"kind": "inverse_sqrt", "warmup": 5},
    "fairseq_polynomial(warmup = 3, total = 10, power = 2)": {"kind": "fairseq_polynomial", "warmup": 3, "total": 10, "power": 2},
    "plateau(warmup = 3)": {"warmup": 3},  # nobody counts evaluations here
    "steps(every = 4, factor = 0.1)": {"kind": "steps", "every": 4, "factor": 0.1},
    "steps(every = 2, factor = 0.8, after = 3)": {"kind": "steps", "every": 2, "factor": 0.8, "after": 3},
    "rsqrt(constant = 5)": {"kind": "rsqrt", "constant": 5},
    "milestones(at = (3, 4, 9), factor = 0.3, warmup = 5)": {"kind": "milestones", "at": (3, 4, 9), "factor": 0.3, "warmup": 5},
    "cosine_restarts(period = 3, growth = 1.5, warmup = 1, floor = 0.1)": {
        "kind": "cosine_restarts", "periods": (3, 4.5, 6.75), "warmup": 1, "floor": 0.1},
    "cosine_restarts(cycles = 2, growth = 2, total = 9)": {"kind": "cosine_restarts", "periods": (3, 6), "end": 9},
}
