#!/usr/bin/env python3
"""Makes values/CASE.json: what public implementations give in float64. Needs torch and transformers; no test runs it.

usage: make.py CASE..|all

The values here: torch 2.13, transformers 4.40.2. Some of the public code computes tables and sums in float32 by name, whatever
the model has; `float` is made to mean float64 before it is imported, so that its numbers have all digits. Transformer-XL of
that release calls `type_as(dtype=..)`, which does not exist.
"""
import json
import os
import sys

import numpy
import torch

torch.float32 = torch.float = torch.float64
torch.Tensor.float = torch.Tensor.double
type_as = torch.Tensor.type_as
torch.Tensor.type_as = lambda self, other=None, dtype=None: self.to(dtype) if other is None else type_as(self, other)
torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import families  # noqa: E402
import formulas  # noqa: E402
import make_decoders  # noqa: E402
import make_encoders  # noqa: E402
import make_modern  # noqa: E402
import make_pictures  # noqa: E402
import make_sequences  # noqa: E402
import make_universal  # noqa: E402

MODELS = (make_decoders.MODELS | make_encoders.MODELS | make_sequences.MODELS | make_modern.MODELS | make_pictures.MODELS
          | make_universal.MODELS)
STEPS = 10


def weights(name, shape, one):
    k = numpy.arange(int(numpy.prod(shape, dtype=numpy.int64)))
    values = formulas.AMPLITUDE * numpy.sin(0.37 * k + 0.61 * (k * k % 1009) + formulas.phase(name)) + one
    return torch.from_numpy(values.reshape(shape))


def scales(module):
    """Names of the weights of norms, which are 1 and a little."""
    return {f"{path}.weight".lstrip(".") for path, part in module.named_modules() if "norm" in type(part).__name__.lower()}


def given(case, step):
    """Inputs of a step as tensors."""
    return {name: torch.tensor(values) for name, values in case.inputs(step).items()}


def optimizer(case, module):
    if case.adam:
        return torch.optim.Adam(module.parameters(), lr=case.rate)
    return torch.optim.SGD(module.parameters(), lr=case.rate, momentum=0.9)


def make(name):
    """`MODELS[name](case)`: a module, and the function that computes loss and outputs from it, the inputs and what it kept in the
    step before."""
    case = families.CASES[name]
    module, compute = MODELS[name](case)
    module = module.to(torch.float64).train()
    for part in module.modules():
        if isinstance(part, torch.nn.Embedding):
            part.padding_idx = None  # else PyTorch leaves out a part of that row's gradient, which the papers' code does not
    ones, told = scales(module), {}
    with torch.no_grad():
        for path, value in module.named_parameters():
            one = int(path in ones)
            value.copy_(weights(path, tuple(value.shape), one))
            told[path] = {"shape": list(value.shape), "one": one}
        for path, value in module.named_buffers():
            if path.endswith(("running_mean", "running_var")):
                one = int(path.endswith("var"))
                value.copy_(weights(path, tuple(value.shape), one))
                told[path] = {"shape": list(value.shape), "one": one}
    loss, outputs, _ = compute(module, given(case, 0), None)
    loss.backward()
    for path, value in module.named_parameters():
        if value.grad is not None:
            told[path]["gradient"] = list(formulas.probe(path, value.grad.flatten().tolist()))
    result = {"outputs": {}, "losses": [], "parameters": told}
    for path, value in outputs.items():
        values = value.detach().flatten().tolist()
        total, norm = formulas.probe(path, values)
        result["outputs"][path] = {"sum": total, "norm": norm, "first": values[:4]}
    kept, rule = None, optimizer(case, module)
    for step in range(STEPS):
        rule.zero_grad()
        loss, _, kept = compute(module, given(case, step), kept)
        loss.backward()
        rule.step()
        result["losses"].append(loss.item())
    print(name, " ".join(f"{x:.4f}" for x in result["losses"]))
    with open(os.path.join(HERE, "values", name + ".json"), "w", encoding="utf-8") as file:
        file.write(written(result))


def written(result):
    """A line for each parameter."""
    rows = ",\n".join(f"  {json.dumps(path)}: {json.dumps(each)}" for path, each in result["parameters"].items())
    head = json.dumps({key: value for key, value in result.items() if key != "parameters"})
    return f'{head[:-1]},\n "parameters": {{\n{rows}\n}}}}\n'


if __name__ == "__main__":
    for word in sys.argv[1:] if sys.argv[1:] != ["all"] else MODELS:
        make(word)
