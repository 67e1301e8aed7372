"""Parameters with a written type: typed_parameters.py [--controls]

Whatever reads a `param w: bf16[..]` (or f16) reads its f32 rounded, under every policy; what is trained, saved and loaded is the
f32. So values are the roundings written out, and gradients and trained parameters have the bits of a specification with a param
of f32 and `let w: bf16[..] = param`, which policy.py holds against doubles.
--controls leaves the word out: each must be noticed.
"""
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
import driver  # noqa: E402
import library  # noqa: E402
import tensors  # noqa: E402
import tiers  # noqa: E402
from rounding import to_bf16, to_f16, to_f32  # noqa: E402

# PARAMS, SCALE and OWN: declarations with words, or with a `let` of the same name behind each. `loan`, which becomes `own`, has
# no word of its own: what is tied is rounded by the word of who takes it.
TEXT = """model Typed {
  config D = 9, E = 5, N = 2
  dim    B
  in     x: [B, D]
  PARAMS
  param  loan: [E, D] ~ normal(1)
  layer Block(a: [B, D]) -> [B, D] {
    SCALE
    return a + tanh(a * scale) * 0.5
  }
  layer Taken(a: [B, E]) -> [B, D] {
    OWN
    return dot[E](a, own)
  }
  use    blocks = stack[N] Block
  use    taken = Taken(TAKEN = loan)
  let    whole = w * 1
  let    half = gain * 1
  let    tied = taken(full[B, E](1))
  let    y = dot[D](blocks(x), w) + gain
  out    whole, half, tied, y
  loss   size = mean(y ^ 2) + mean(tied ^ 2)
}
train Typed as small {
  bind       B = 3
  data       = caller
  optimizer  = sgd(lr = 1e-4)
  numerics   = POLICY
}
"""
PARAMS = (("w", "bf16", "[E, D]"), ("gain", "f16", "[E]"), ("scale", "bf16", "[D]"), ("own", "f16", "[E, D]"))
POLICIES = ("policy(compute = f32)", "policy(compute = bf16)", "policy(compute = f16, scale = fixed(1))",
            "policy(params = bf16, compute = bf16)")
B, D, E, N = 3, 9, 5, 2
SHAPES = {"w": (E, D), "loan": (E, D), "gain": (E,), **{f"blocks.{k}.scale": (D,) for k in range(N)}}
STEPS = 3


def specification(form, policy):
    """`form`: "word" on the param, "let" behind it, or neither."""
    lines = {}
    for name, kind, axes in PARAMS:
        word = kind if form == "word" else ""
        lines[name] = f"param  {name}{'0' if form == 'let' else ''}: {word}{axes} ~ normal(1)"
        lines[name] += f"\n  let    {name}: {kind}{axes} = {name}0" if form == "let" else ""
    text = TEXT.replace("PARAMS", f"{lines['w']}\n  {lines['gain']}").replace("SCALE", lines["scale"])
    text = text.replace("OWN", lines["own"]).replace("TAKEN", "own0" if form == "let" else "own")
    return driver.specification(text.replace("POLICY", policy), "typed")


def weights(folder, form, drawn):
    path = os.path.join(folder, f"{form}.safetensors")
    tensors.save_safetensors(path, {name + ("0" if form == "let" and name != "loan" else ""): value
                                    for name, value in drawn.items()})
    return path


def gaussian(draw, shape):
    return tensors.Tensor("f32", shape, [to_f32(draw.gauss(0, 1)) for _ in range(tensors.count(shape))])


def values_of(found):
    """By the name of the parameter itself."""
    return {name.removesuffix("0"): value.values.tobytes() for name, value in found.items()}


def trained(spec, path, x, tier):
    model = library.Model(driver.compiled(spec, "--recipe", "small", "--entry", "train", "--tier", tier), "train", {})
    model.load(path)
    model.set_input("x", x)
    for step in range(STEPS):
        model.run(step)
    found = {name: model.parameter(name) for name in model.parameters()}
    model.close()
    return found


class Judge:
    def __init__(self):
        self.wrong, self.controls = 0, "--controls" in sys.argv

    def same(self, what, is_same):
        if self.controls:
            print(what, "overlooked" if is_same else "noticed")
        elif not is_same:
            print(what, "differs")
        self.wrong += is_same == self.controls


def check(judge, folder, policy, tier):
    draw = random.Random(7)
    form, drawn = "" if judge.controls else "word", {name: gaussian(draw, shape) for name, shape in SHAPES.items()}
    x = gaussian(draw, (B, D))
    spec, path = specification(form, policy), weights(folder, form, drawn)
    found = driver.run(folder, spec, {"x": x}, ("whole", "half", "tied"), "--recipe", "small", "--weights", path, "--tier", tier)
    stored = to_bf16 if "params" in policy else float
    rounded = [to_bf16(stored(value)) for value in drawn["w"].values]
    judge.same(f"values, {policy}, {tier}", list(found["whole"].values) == rounded and
               list(found["half"].values) == [to_f16(stored(value)) for value in drawn["gain"].values])
    computed = to_bf16 if "compute = bf16" in policy else float
    taken = [computed(to_f16(stored(value))) for value in drawn["loan"].values]
    again = [sum(taken[column::D]) for column in range(D)] * B
    judge.same(f"a tied value, {policy}, {tier}", len(found["tied"].values) == len(again) and
               all(abs(a - b) < 1e-5 for a, b in zip(found["tied"].values, again)))
    if tier != driver.best_tier():
        return
    other, others = specification("let", policy), weights(folder, "let", drawn)
    got, wanted = (driver.gradients(folder, each, {"x": x}, "--recipe", "small", "--weights", file)
                   for each, file in ((spec, path), (other, others)))
    judge.same(f"losses, {policy}", got[0] == wanted[0])
    judge.same(f"gradients, {policy}", values_of(got[1]) == values_of(wanted[1]))
    got, wanted = trained(spec, path, x, tier), trained(other, others, x, tier)
    judge.same(f"training, {policy}", values_of(got) == values_of(wanted))
    if not judge.controls and "params" not in policy and any(to_bf16(value) == value for value in got["w"].values):
        judge.same(f"the f32 of what is trained, {policy}", False)


def main():
    judge = Judge()
    with tempfile.TemporaryDirectory() as folder:
        for tier in tiers.runnable()[:1 if judge.controls else None]:
            for policy in POLICIES[:1] if judge.controls else POLICIES:
                check(judge, folder, policy, tier)
    return judge.wrong > 0


sys.exit(main())
