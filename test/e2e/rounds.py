#!/usr/bin/env python3
"""Stacks whose `if depth` repeats: one body per layer of a round, whatever the number of rounds.

usage: rounds.py numbers|sizes|names [--spoil]

  numbers  outputs, losses, gradients and kept states are those of the same model with the choice as data (`where(depth .., a,
           b)`), in f64
           --spoil: one condition differs, which must be noticed
  sizes    4, 24 and 48 layers of alternating kinds give the same code but for constants, in the same compile time; so do 19 and
           49 that repeat after three layers and start with another one        --spoil: a choice that does not repeat, whose code
           grows
  names    parameters that only some layers have keep their names, places and presence
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import driver  # noqa: E402
import tensors  # noqa: E402


class Wrong(Exception):
    pass


def choice(condition, then, otherwise, by_data):
    return f"where({condition}, {then}, {otherwise})" if by_data else f"(if {condition} then {then} else {otherwise})"


# One stack each: condition, number of layers. Rounds from the first layer on, with rests; behind other layers; longer rounds;
# none.
CONDITIONS = [("depth mod 2 == 0", 7), ("depth mod 3 < 2", 9), ("depth == 0 or depth mod 2 == 1", 8),
              ("depth > 2 and depth div 2 mod 2 == 0", 12),
              ("depth == 1 or depth == 4", 6)]


def numbers_model(by_data, spoil):
    lines = ["model Chosen {", "  config D = 5, N = 6, M = 4", "  dim    B, T", "  dim    S = T",
             "  in     x: [B, T, D], y: [B, D]"]
    for number, (condition, count) in enumerate(CONDITIONS):
        if spoil and by_data and number == 2:
            condition = "depth mod 2 == 1"
        lines += [f"  layer Plain{number}(x: [B, D]) -> [B, D] {{", "    param g, h: [D] ~ normal(1)",
                  f"    return x + {choice(condition, 'sin(x * h) * (1 + depth)', 'tanh(x * h + g)', by_data)} * g", "  }",
                  f"  use    plain{number} = stack[{count}] Plain{number}", f"  let    r{number} = plain{number}(y)",
                  f"  out    r{number}", f"  loss   l{number} = mean(r{number} * r{number})"]
    lines += ["""  layer Block(x: [B, T, D]) -> [B, T, D] {
    param g: [D] ~ normal(1)
    let   key = x[T -> S]
    let   near = attend(i: T, j: S) { score c = dot[D](x, g * key) mask j <= i and j > i - 3 value key }
    let   far = attend(i: T, j: S) { score c = dot[D](x, g * key) mask j <= i value key }
    return tanh(x + g * %s)
  }
  use    blocks = stack[N] Block
  let    every = blocks[N](x)
  out    every
  loss   la = mean(every * every * every)""" % choice("depth mod 2 == 1", "near", "far", by_data),
              """  layer Outer(x: [B, D], first: i32[]) -> [B, D] {
    use   inner = stack[M] Inner
    let   h = inner(x, depth)
    return %s
  }
  layer Inner(x: [B, D], k: i32[]) -> [B, D] {
    param w: [D] ~ normal(1)
    return %s
  }
  use    outer = stack[N] Outer
  let    n = outer(outer(y, 3), 2)
  out    n
  loss   ln = mean(n * n)""" % (choice("(depth + first) mod 2 == 1", "tanh(h)", "h + x", by_data),
                                choice("(depth + k) mod 2 == 0", "x * w", "sin(x + w)", by_data)),
              """  layer Round(x: [B, D]) -> [B, D] {
    param u: [D] ~ normal(1)
    return %s
  }
  use    rounds = loop[5] Round
  let    o = rounds(y)
  out    o
  loss   lo = mean(o * o)""" % choice("depth mod 2 == 0", "tanh(x * u)", "x - u", by_data),
              # Writes of one parameter in rounds of two and of three layers.
              """  layer Split(x: [B, D], each: i32[], from: i32[]) -> [B, D] {
    param w: [D] ~ normal(1)
    return %s
  }
  use    splits = stack[N + 1] Split
  let    p = splits(splits(y, 2, 0), 3, 1)
  out    p
  loss   lp = mean(p * p)""" % choice("(depth + from) mod each == 0", "sin(x * w)", "x + 0.5 * w", by_data)]
    losses = [f"l{number}" for number in range(len(CONDITIONS))] + ["la", "ln", "lo", "lp"]
    recipe = (f'train Chosen as t {{ bind B = 2, T = 4  data = byte_stream(text = "none.txt")  optimizer = sgd(lr = 1.0)  steps '
              f'= 1  loss = {" + ".join(losses)} }}')
    return "\n".join(lines) + "\n}\n" + recipe + "\n"


def states_model(by_data):
    """Only every other layer keeps something; with the choice as data all do, and the others never change it."""
    layers = """  layer Keeps(y: [B, D]) -> [B, D] {
    state  k: [B, D] = 0.5
    next   k = stop_gradient(tanh(y)) + k
    return y * 0.5 + k
  }
  layer Either(y: [B, D]) -> [B, D] {
    use    keeps = Keeps
    return if depth mod 2 == 1 then keeps(y) else sin(y)
  }
"""
    if by_data:
        layers = """  layer Either(y: [B, D]) -> [B, D] {
    state  k: [B, D] = 0.5
    next   k = where(depth mod 2 == 1, stop_gradient(tanh(y)) + k, k)
    return where(depth mod 2 == 1, y * 0.5 + k, sin(y))
  }
"""
    return ("model Keeping {\n  config D = 3, N = 7\n  dim    B\n  in     y: [B, D]\n" + layers +
            "  use    stages = stack[N] Either\n  let    z = stages(y)\n  out    z\n}\n")


def compare(what, got, want):
    bound = 1e-11 * max(1.0, max(abs(v) for v in want))
    if len(got) != len(want):
        raise Wrong(f"{what} has {len(got)} values, expected {len(want)}")
    for place, (g, w) in enumerate(zip(got, want)):
        if not abs(g - w) <= bound:
            raise Wrong(f"{what}[{place}] is {g}, with the choice as data {w}")


def numbers(folder, spoil):
    inputs = {"x": tensors.Tensor("f64", [2, 4, 5], [0.05 * (k * 7 % 41) - 1 for k in range(40)]),
              "y": tensors.Tensor("f64", [2, 5], [0.1 * (k * 3 % 10) - 0.4 for k in range(10)])}
    outs = [f"r{number}" for number in range(len(CONDITIONS))] + ["every", "n", "o", "p"]
    options = ["--f64", "--init", "--seed", "4", "--tier", "x86-64-v3"]
    specs = [driver.specification(numbers_model(by_data, spoil), f"chosen{by_data}") for by_data in (False, True)]
    values, wanted = (driver.run(folder, spec, inputs, outs, *options, "--entry", "infer") for spec in specs)
    for name in outs:
        compare(f"output {name}", values[name].values, wanted[name].values)
    gradients, wanted_gradients = (driver.gradients(folder, spec, inputs, *options)[1] for spec in specs) # losses are among them
    if set(gradients) != set(wanted_gradients):
        raise Wrong(f"gradients of other parameters: {sorted(set(gradients) ^ set(wanted_gradients))[:4]}")
    for name in gradients:
        compare(f"gradient of {name}", gradients[name].values, wanted_gradients[name].values)
    states(folder)
    print(f"{len(outs)} outputs and {len(gradients)} gradients and losses are those of the choice as data")


def states(folder):
    """Three calls; a layer that keeps nothing leaves its place as it starts."""
    kept = []
    for by_data in (False, True):
        spec, path = driver.specification(states_model(by_data), f"keeping{by_data}"), os.path.join(folder, "states.safetensors")
        for call in range(3):
            inputs = {"y": tensors.Tensor("f64", [2, 3], [0.1 * k * (call + 1) for k in range(6)])}
            start = ["--states", path] if call else []
            z = driver.run(folder, spec, inputs, ["z"], "--f64", "--init", "--tier", "x86-64-v3", *start, "--save-states",
                           path)["z"].values
        kept.append((z, [tensor.values for tensor in tensors.load_safetensors(path).values()]))
    compare("the result of the third call", kept[0][0], kept[1][0])
    compare("the kept states", kept[0][1][0], kept[1][1][0])


BLOCK = """  layer Block(x: [B, T, D]) -> [B, T, D] {
    use   wq, wk, wv = Linear[D -> H * E]
    use   wo = Linear[H * E -> D]
    use   n1, n2 = LayerNorm[D]
    use   up = Linear[D -> F]
    use   gate = Linear[D -> F]
    use   down = Linear[F -> D]
    let   key = x[T -> S]
    let   near = attend(i: T, j: S) { score c = dot[E](wq(x), wk(key)) scale 0.25 mask j <= i and j > i - 7 value wv(key) }
    let   far = attend(i: T, j: S) { score c = dot[E](wq(x), wk(key)) scale 0.25 mask j <= i value wv(key) }
    let   h = n1(x + wo(if CONDITION then near else far))
    return n2(h + down(if CONDITION then gelu(up(h)) else relu(gate(h))))
  }
"""
SMALL = """  layer Block(x: [B, T, D]) -> [B, T, D] {
    param g: [D] ~ normal(1)
    return x + (if CONDITION then sin(x * g) else tanh(x + g))
  }
"""
SIZED = """model Sized {
  config V = 33, D = 48, H = 3, E = D / H, F = 80, N = 4
  dim    B, T
  dim    S = T
  in     ids: index(V)[B, T], target: index(V)[B, T]
  param  emb: [V, D] ~ normal(0.02)
BLOCK  use    blocks = stack[N] Block
  let    logits = dot[D](blocks(emb[V: ids]), emb)
  out step(T) = logits
  loss   nll = mean(cross_entropy[V](logits, target))
}
train Sized as t { bind B = 2, T = 16  data = byte_stream(text = "none.txt")  optimizer = adam(lr = 1e-3)  steps = 1  loss = nll }
"""


def compiled(folder, spec, count):
    """Bytes of code and CPU seconds of the compiler, for one tier: the others come from the same kernels."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    name = os.path.splitext(os.path.basename(spec))[0]
    target = os.path.join(folder, f"{name}-{count}")
    driver.tenon("compile", spec, "-o", target, "--recipe", "t", "--tier", "x86-64-v3", "--quick", "--set", f"N={count}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    table = subprocess.run(["llvm-size", "-A", os.path.join(target, f"lib{name}.so")], check=True, capture_output=True,
                           text=True).stdout
    size = next(int(line.split()[1]) for line in table.split("\n") if line.startswith(".text"))
    return size, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def sizes(folder, spoil):
    cases = [("alternating", "depth mod 2 == 0", BLOCK, (4, 24, 48)),
             ("three", "depth == 0 or depth mod 3 == 2", SMALL, (19, 49))]
    if spoil:
        cases = [("squares", "depth == 1 or depth == 4 or depth == 9 or depth == 16", SMALL, (4, 18))]
    for name, condition, block, counts in cases:
        spec = driver.specification(SIZED.replace("BLOCK", block).replace("CONDITION", condition), name)
        found = [compiled(folder, spec, count) for count in counts]
        print(f"{name}: " + ", ".join(f"{count} layers {size} bytes {seconds:.1f} s"
                                      for count, (size, seconds) in zip(counts, found)))
        for size, seconds in found[1:]:
            if abs(size - found[0][0]) > 0.02 * found[0][0]:
                raise Wrong(f"{name}: the code size depends on the number of layers: {found[0][0]} and {size} bytes")
            if seconds > 1.3 * found[0][1] + 0.5:
                raise Wrong(f"{name}: the compile time depends on the number of layers: {found[0][1]:.1f} and {seconds:.1f} s")


NAMES = """model Named {
  config D = 4, N = 7
  dim    B
  in     x: [B, D]
  layer Block(x: [B, D]) -> [B, D] {
    param g: [D] ~ normal(1)
    use   even, odd = Linear[D -> D]
    return g * (if depth mod 2 == 0 then even(x) else odd(x))
  }
  use    blocks = stack[N] Block
  let    y = blocks(x)
  out    y
  loss   l = mean(y * y)
}
"""


def names(folder, _spoil):
    spec, weights = driver.specification(NAMES, "named"), os.path.join(folder, "named.safetensors")
    driver.tenon("init", spec, "-o", weights)
    got = list(tensors.load_safetensors(weights))
    want = [f"blocks.{k}.{name}" for k in range(7)
            for name in ("g", *(f"{('even', 'odd')[k % 2]}.{part}" for part in ("bias", "weight")))]
    if sorted(got) != sorted(want):
        raise Wrong(f"names differ: {sorted(set(got) ^ set(want))}")
    target = os.path.join(folder, "named")
    driver.tenon("compile", spec, "-o", target, "--tier", "portable", "--quick")
    with open(os.path.join(target, "named.json"), encoding="utf-8") as file:
        params = {param["name"]: param for param in json.load(file)["params"]}
    for kind, odd in (("even", 0), ("odd", 1)):
        param = params[f"blocks.*.{kind}.weight"]
        if param["stack"] != [7] or param["present"] != [k % 2 == odd for k in range(7)]:
            raise Wrong(f"{kind}: {param}")
    print(f"{len(got)} names as they were")


def main():
    kinds = {"numbers": numbers, "sizes": sizes, "names": names}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("property", choices=kinds)
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            kinds[options.property](folder, options.spoil)
        except Wrong as error:
            print(f"WRONG: {error}")
            return 1
    return 0


sys.exit(main())
