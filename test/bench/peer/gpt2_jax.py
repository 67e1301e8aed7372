"""GPT-2 in JAX: one jitted training step (forward, backward, clipping, AdamW, donated buffers), layers as a scan over stacked
parameters. Same numbers, names and commands as worker.py with the module gpt2.

usage: gpt2_jax.py gpt2 --size JSON --threads N [--seed N]
"""
import argparse
import json
import os
import resource
import sys
import time

import jax
import numpy
from jax import numpy as jnp
from safetensors.numpy import load_file, save_file

LAYER = {"ln_1.weight": "D", "ln_1.bias": "D", "attn.c_attn.weight": "DA", "attn.c_attn.bias": "A", "attn.c_proj.weight": "DD",
         "attn.c_proj.bias": "D", "ln_2.weight": "D", "ln_2.bias": "D", "mlp.c_fc.weight": "DF", "mlp.c_fc.bias": "F",
         "mlp.c_proj.weight": "FD", "mlp.c_proj.bias": "D"}
RATE, BETAS, EPS, DECAY, BOUND = 1e-4, (0.9, 0.95), 1e-8, 0.1, 1.0


def initial(size, seed):
    """Parameters by name; those of a layer are stacked along the first axis."""
    draw = numpy.random.default_rng(seed)
    sizes = {"D": size["D"], "F": size["F"], "A": 3 * size["D"]}

    def value(name, shape):
        if name.endswith("bias"):
            return numpy.zeros(shape, numpy.float32)
        if "ln_" in name:
            return numpy.ones(shape, numpy.float32)
        return (0.02 * draw.standard_normal(shape)).astype(numpy.float32)

    layers = {name: value(name, (size["N"], *[sizes[a] for a in axes])) for name, axes in LAYER.items()}
    rest = {name: value(name, shape) for name, shape in {"wte.weight": (size["V"], size["D"]),
                                                         "wpe.weight": (size["L"], size["D"]),
                                                         "ln_f.weight": (size["D"],), "ln_f.bias": (size["D"],)}.items()}
    return jax.tree.map(jnp.asarray, {"layers": layers, "rest": rest})


def public(parameters):
    """The public checkpoint's names."""
    found = {f"transformer.{name}": numpy.asarray(value) for name, value in parameters["rest"].items()}
    for name, value in parameters["layers"].items():
        found |= {f"transformer.h.{k}.{name}": numpy.ascontiguousarray(value[k]) for k in range(value.shape[0])}
    return found


def stacked(tensors, count):
    layers = {name: jnp.stack([tensors[f"transformer.h.{k}.{name}"] for k in range(count)]) for name in LAYER}
    return {"layers": layers, "rest": {name: jnp.asarray(tensors[f"transformer.{name}"])
                                       for name in ("wte.weight", "wpe.weight", "ln_f.weight", "ln_f.bias")}}


def norm(x, weight, bias):
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * weight + bias


def dropout(x, rate, key):
    return x if rate == 0 or key is None else jnp.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0)


def loss(parameters, ids, size, key):
    heads, rate = size["D"] // size["E"], size["rate"]
    batch, length = ids.shape
    rest = parameters["rest"]
    keys = [None, None] if key is None or rate == 0 else list(jax.random.split(key))
    x = dropout(rest["wte.weight"][ids] + rest["wpe.weight"][:length], rate, keys[0])
    causal = jnp.tril(jnp.ones((length, length), bool))

    def layer(x, inputs):
        p, key = inputs
        keys = [None] * 3 if key is None else list(jax.random.split(key, 3))
        q, k, v = jnp.split(norm(x, p["ln_1.weight"], p["ln_1.bias"]) @ p["attn.c_attn.weight"] + p["attn.c_attn.bias"], 3, -1)
        q, k, v = (t.reshape(batch, length, heads, -1) for t in (q, k, v))
        scores = jnp.einsum("bihe,bjhe->bhij", q, k) / size["E"] ** 0.5
        weights = dropout(jax.nn.softmax(jnp.where(causal, scores, -jnp.inf)), rate, keys[0])
        a = jnp.einsum("bhij,bjhe->bihe", weights, v).reshape(x.shape)
        x = x + dropout(a @ p["attn.c_proj.weight"] + p["attn.c_proj.bias"], rate, keys[1])
        y = jax.nn.gelu(norm(x, p["ln_2.weight"], p["ln_2.bias"]) @ p["mlp.c_fc.weight"] + p["mlp.c_fc.bias"], approximate=True)
        return x + dropout(y @ p["mlp.c_proj.weight"] + p["mlp.c_proj.bias"], rate, keys[2]), None

    layer_keys = None if keys[1] is None else jax.random.split(keys[1], size["N"])
    x, _ = jax.lax.scan(layer, x, (parameters["layers"], layer_keys))
    logits = norm(x[:, :-1], rest["ln_f.weight"], rest["ln_f.bias"]) @ rest["wte.weight"].T  # the last place predicts nothing
    picked = jnp.take_along_axis(jax.nn.log_softmax(logits), ids[:, 1:, None], -1)
    return -picked.mean()


def decayed(name):
    return not (name.endswith("bias") or "ln_" in name)


def update(parameters, moments, count, ids, key, size):
    value, gradients = jax.value_and_grad(loss)(parameters, ids, size, key)
    total = jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(gradients)))
    factor = jnp.minimum(1.0, BOUND / (total + 1e-6))
    first = jax.tree.map(lambda m, g: BETAS[0] * m + (1 - BETAS[0]) * g * factor, moments[0], gradients)
    second = jax.tree.map(lambda m, g: BETAS[1] * m + (1 - BETAS[1]) * jnp.square(g * factor), moments[1], gradients)

    def moved(path, p, m, v):
        step = m / (1 - BETAS[0] ** count) / (jnp.sqrt(v / (1 - BETAS[1] ** count)) + EPS)
        return p - RATE * (step + (DECAY * p if decayed(path[-1].key) else 0))

    return jax.tree_util.tree_map_with_path(moved, parameters, first, second), (first, second), value


class Run:
    def __init__(self, options):
        self.size = json.loads(options.size)
        self.parameters = initial(self.size, options.seed)
        self.moments = tuple(jax.tree.map(jnp.zeros_like, self.parameters) for _ in range(2))
        shape = (self.size["B"], self.size["T"])
        self.ids = jnp.asarray(numpy.random.default_rng(options.seed).integers(0, min(self.size["V"], 256), shape,
                                                                               dtype=numpy.int32))
        self.key, self.count = jax.random.key(options.seed), 0
        self.update = jax.jit(lambda p, m, c, i, k: update(p, m, c, i, k, self.size), donate_argnums=(0, 1))

    def step(self):
        begin = time.perf_counter()
        self.count += 1
        key = jax.random.fold_in(self.key, self.count)
        self.parameters, self.moments, value = self.update(self.parameters, self.moments, jnp.float32(self.count), self.ids, key)
        float(value)
        jax.block_until_ready(self.parameters)
        return time.perf_counter() - begin

    def answer(self, command, argument):
        if command == "step":
            seconds = [self.step() for _ in range(int(argument))]
            return {"seconds": seconds, "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}
        if command == "load":  # the other side's weights and inputs
            self.parameters = stacked(load_file(argument), self.size["N"])
            self.ids = jnp.asarray(numpy.load(os.path.join(os.path.splitext(argument)[0], "ids.npy")))
            return {}
        if command == "grads":
            value, gradients = jax.jit(jax.value_and_grad(lambda p: loss(p, self.ids, self.size, None)))(self.parameters)
            save_file(public(gradients), argument)
            return {"gradients": argument, "losses": {"lm": float(value)}}
        raise ValueError(f"unknown command {command}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", choices=["gpt2"])
    parser.add_argument("--size", required=True)
    parser.add_argument("--threads", type=int, required=True)  # JAX takes the processors it may run on
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.threads])
    run = Run(options)
    print(json.dumps({"jax": jax.__version__}), flush=True)
    for line in sys.stdin:
        command, _, argument = line.strip().partition(" ")
        if command == "quit":
            break
        print(json.dumps(run.answer(command, argument)), flush=True)


main()
