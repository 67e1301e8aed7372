"""Files of copied-names.test, and what weights have after loading, training and export. Without the runtime."""
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tensors import Tensor, load_safetensors, save_npy, save_safetensors, tensor  # noqa: E402

# Rafailov et al. 2023, without texts: a policy and its frozen reference start from one file, which has two matrices packed into
# one, one transposed, one whose first axes are one and one as a list of slices, and running statistics.
SPEC = """layer Feed[D](x: [.., D]) -> [.., D] {
  dim    O = D
  param  up: [O, D] ~ normal(1)
  param  down: [O, D] ~ normal(1)
  return x + dot[D](relu(dot[D](x, up)[O -> D]), down)[O -> D]
}
layer Net[D](x: [.., D]) -> [..] {
  dim    K = 2, H = 4
  param  last: [H] ~ normal(1)
  param  turned: [H, D] ~ normal(1)
  param  experts: [K, D] ~ normal(1)
  param  gates: [K, H, D] ~ normal(1)
  use    blocks = stack[2] Feed[D]
  use    norm = BatchNorm[D]
  let    h = norm(blocks(x))
  return dot[H](dot[D](h, turned), last) + sum[K](dot[D](h, experts) + dot[H](dot[D](h, gates), last))
}
model Preferences {
  config D = 3
  dim    B, R = 2                       # the chosen and the rejected one
  in     pair: [B, R, D]
  use    policy, reference = Net[D]
  let    p = policy(pair)
  let    q = stop_gradient(reference(pair))
  let    said = p[R: 0] - p[R: 1]
  let    was = q[R: 0] - q[R: 1]
  out    said, was
  loss   dpo = mean(softplus(was - said))
}
names Feed as pub { "up" = part("packed", 0, 2)  "down" = part("packed", 1, 2) }
names Net as pub {
  "blocks.*" = "h.*"  "turned" = transpose("turned")  "gates" = flatten("gates")  "experts" = stacked("experts.#")
}
names Preferences as pub { "policy" = ""  "reference" = copy("") }
train Preferences as small {
  bind       B = 4
  data       = arrays(pair = "pair.npy")
  loss       = dpo
  optimizer  = sgd(lr = 0.1)
  freeze     = ("reference.*")
}
"""
# What writes a tensor and what copies it may have it in other forms: whole and in parts, one of a list and all of them.
FORMS = """model Forms {
  config D = 3
  dim    B, O = D, P = 2 * D, K = 2
  in     x: [B, D]
  param  up: [O, D] ~ normal(1)
  param  down: [O, D] ~ normal(1)
  param  both: [P, D] ~ normal(1)
  param  experts: [K, D] ~ normal(1)
  param  second: [D] ~ normal(1)
  state  seen: [D] = 0
  state  shown: [D] = 0
  next   seen = if training then seen + mean[B](x) else seen
  next   shown = if training then shown + mean[B](x) else shown
  let    y = sum[O](dot[D](x, up) + dot[D](x, down)) + sum[P](dot[D](x, both)) + sum[K](dot[D](x, experts)) + dot[D](x, second)
  out    y
  loss   size = mean((y + dot[D](x, seen + shown)) ^ 2)
}
names Forms as pub {
  "up" = part("packed", 0, 2)
  "down" = part("packed", 1, 2)
  "both" = copy("packed")
  "experts" = stacked("experts.#")
  "second" = copy("experts.1")
  "shown" = copy("seen")
}
"""
FILES = {"public": {"last": (4,), "turned": (3, 4), "experts.0": (3,), "experts.1": (3,), "h.0.packed": (6, 3),
                    "h.1.packed": (6, 3), "gates": (8, 3), "norm.weight": (3,), "norm.bias": (3,), "norm.running_mean": (3,),
                    "norm.running_var": (3,)},
         "forms": {"packed": (6, 3), "experts.0": (3,), "experts.1": (3,), "seen": (3,)}}


def make(folder):
    draw = random.Random(3)
    for name, text in (("dpo", SPEC), ("forms", FORMS)):
        with open(os.path.join(folder, name + ".tn"), "w", encoding="utf-8") as file:
            file.write(text)
    save_npy(os.path.join(folder, "pair.npy"),
             tensor("f32", [[[draw.uniform(-1, 1) for _ in range(3)] for _ in range(2)] for _ in range(8)]))
    for name, shapes in FILES.items():
        save_safetensors(os.path.join(folder, name + ".safetensors"), {
            each: Tensor("f32", shape, [draw.uniform(0.5, 2) for _ in range(shape[0] * (shape[1] if len(shape) > 1 else 1))])
            for each, shape in shapes.items()})


def load(folder, name):
    return {each: (value.shape, list(value.values)) for each, value in load_safetensors(os.path.join(folder, name)).items()}


def public_of(part, own):
    """The tensors of the public file, from those of one part under own names."""
    mine = {name[len(part) + 1:]: value for name, value in own.items() if name.startswith(part + ".")}
    rows = mine["turned"][1]
    public = {"last": mine["last"], "gates": ((8, 3), mine["gates"][1]),
              "turned": ((3, 4), [rows[column * 3 + row] for row in range(3) for column in range(4)])}
    for i in range(2):
        public[f"experts.{i}"] = ((3,), mine["experts"][1][3 * i:3 * i + 3])
        public[f"h.{i}.packed"] = ((6, 3), mine[f"blocks.{i}.up"][1] + mine[f"blocks.{i}.down"][1])
    return {**public, **{name: value for name, value in mine.items() if name.startswith("norm.")}}


def said(checks):
    print("\n".join(f"{'yes' if good else 'WRONG'}: {what}" for what, good in checks.items()))
    return all(checks.values())


def compare(folder, spoil):
    start, own, written = (load(folder, name + ".safetensors") for name in ("public", "own", "written"))
    if spoil:
        own["reference.blocks.1.up"][1][0] += 1e-3
    policy, reference = public_of("policy", own), public_of("reference", own)
    weights = [name for name in start if "running" not in name]
    return said({"the reference has the parameters of the file": all(reference[name] == start[name] for name in weights),
                 "the policy has moved": all(policy[name] != start[name] for name in weights if name != "norm.bias"),
                 "own names have both": len(own) == 2 * (len(FILES["public"]) - 1 + 2),
                 "the export is the policy": written == policy})


def same(folder, name, spoil):
    """A file that was read and written again."""
    before, after = load(folder, name + ".safetensors"), load(folder, name + "-again.safetensors")
    if spoil:
        after[sorted(after)[-1]][1][0] += 1e-3
    return said({f"{name}: {len(before)} tensors as they were": before == after})


if __name__ == "__main__":
    command, place, *rest = sys.argv[1:]
    if command == "make":
        make(place)
    else:
        faulty = "--spoil" in rest
        sys.exit(0 if (compare(place, faulty) if command == "compare" else same(place, rest[0], faulty)) else 1)
