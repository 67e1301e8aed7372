"""The rows of test/bench/gpu: what is compiled for each, at which sizes, what its artifacts are called. `dry`: sizes for the
emulator."""
import os

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.dirname(HERE)
GEMMS, ATTENTION = os.path.join(HERE, "specs", "gemms.tn"), os.path.join(HERE, "specs", "attention.tn")
PRODUCTS = ("forward", "input_gradient", "weight_gradient")


class Artifact:
    """One compiled model. `dims`: --bind, `sizes`: --set; `words`: further options of tenon compile; `dry` None: not emulated."""

    def __init__(self, name, spec, model, sizes, dry, dims=None, dry_dims=None, words=()):
        self.name, self.spec, self.model, self.words = name, spec, model, words
        self._sizes, self._dims = {True: dry, False: sizes}, {True: dry_dims or {}, False: dims or {}}

    def sizes(self, dry):
        return self._sizes[dry] | self._dims[dry]

    def is_dry(self):
        return self._sizes[True] is not None

    def command(self, dry):
        words = [self.spec, "--model", self.model, "--numerics", "bf16", *self.words]
        for option, sizes in (("--set", self._sizes[dry]), ("--bind", self._dims[dry])):
            for size, value in sizes.items():
                words += [option, f"{size}={value}"]
        return words


class Row:
    """`seconds`: the most that a row may take on the GPU; `floor`, `goal`: of the ratios (test/bench/gpu/README.md)."""

    def __init__(self, name, seconds, artifacts, floor=None, goal=None):
        self.name, self.seconds, self.artifacts, self.floor, self.goal = name, seconds, artifacts, floor, goal


def gemm(model, rows, inputs, outputs, entries=PRODUCTS, dry=None):
    words = [word for entry in entries for word in ("--entry", entry)]
    return Artifact(f"{'gpt2' if model == 'Conv1D' else 'bert'}_{rows}x{inputs}x{outputs}", GEMMS, model,
                    {"R": rows, "D": inputs, "F": outputs}, dry, words=words)


DRY = {"R": 40, "D": 24, "F": 72}
GPT2 = {"V": 50257, "D": 768, "E": 64, "F": 3072, "N": 12, "L": 1024, "rate": 0}
GPT2_DRY = {"V": 264, "D": 24, "E": 12, "F": 40, "N": 2, "L": 32, "rate": 0}
XL = {"V": 32000, "D": 512, "H": 8, "F": 2048, "N": 16, "M": 192, "rate": 0}
XL_DRY = {"V": 264, "D": 24, "H": 2, "F": 40, "N": 2, "M": 11, "rate": 0}
SPECS = os.path.join(BENCH, "specs")
ROWS = [
    Row("ceilings", 40, []),
    Row("gemm", 150,
        [gemm("Conv1D", 16384, 768, 2304, dry=DRY), gemm("Conv1D", 16384, 768, 768), gemm("Conv1D", 16384, 768, 3072),
         gemm("Conv1D", 16384, 3072, 768), gemm("Linear", 4096, 768, 768, dry=DRY), gemm("Linear", 4096, 768, 3072),
         gemm("Linear", 4096, 3072, 768), gemm("Linear", 4096, 1024, 4096), gemm("Linear", 4096, 4096, 1024),
         gemm("Linear", 16384, 768, 50257, ["forward"])], 0.6, 0.95),
    Row("attention", 90, [Artifact("causal", ATTENTION, "Causal", {"B": 16, "T": 1024, "H": 12, "E": 64},
                                   {"B": 1, "T": 40, "H": 2, "E": 16}, words=("--grad",))],
        {"forward": 0.5, "backward": 0.4}, {"forward": 0.9, "backward": 0.9}),
    Row("relative", 90, [Artifact("relative", ATTENTION, "Relative", {"B": 16, "T": 512, "M": 512, "H": 8, "E": 64},
                                  {"B": 1, "T": 21, "M": 13, "H": 2, "E": 16}, words=("--grad",))], 2, 5),
    Row("gpt2", 150, [Artifact("gpt2_step", os.path.join(SPECS, "gpt2.bench.tn"), "GPT2", GPT2, GPT2_DRY, {"B": 16, "T": 1024},
                               {"B": 2, "T": 19}, words=("--recipe", "bench", "--entry", "train"))], 0.6, 1.1),
    Row("transformer_xl", 150, [Artifact("transformer_xl_step", os.path.join(SPECS, "transformer_xl.bench.tn"), "TransformerXL",
                                         XL, XL_DRY, {"B": 32, "T": 192}, {"B": 2, "T": 13},
                                         words=("--recipe", "bench", "--entry", "train"))], 2, 5),
]


def chosen(text):
    """Rows by names with commas between; raises KeyError with the names there are."""
    known = {row.name: row for row in ROWS}
    names = text.split(",") if text else list(known)
    for name in names:
        if name not in known:
            raise KeyError(f"no row {name}; there are {', '.join(known)}")
    return [known[name] for name in names]
