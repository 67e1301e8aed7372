"""One PyTorch training run that waits for commands on standard input and answers each with one line of JSON.

  save PATH      write the weights (safetensors, public names) and, beside them, every input as PATH-stem/NAME.npy
  grads PATH     losses (in the answer) and gradients (safetensors, public names) of the first batch, without an optimizer step
  step N         N training steps; answers {"seconds": [..], "peak_bytes": ..}
  quit

usage: worker.py MODULE --size JSON --threads N [--compile] [--numerics bf16] [--weights FILE] [--seed N]
"""
import argparse
import importlib
import json
import os
import resource
import sys
import time

import numpy
import torch
from safetensors.torch import load_file, save_file

RECIPES = {  # optimizer keywords, bound of the gradient norm; None: none
    "gpt2": ({"lr": 1e-4, "betas": (0.9, 0.95), "weight_decay": 0.1}, 1.0),
    "bert": ({"lr": 1e-4, "weight_decay": 0.01}, 1.0),
    "transformer_xl": ({"lr": 1e-4, "weight_decay": 0.0}, 0.25),
    "xlnet": ({"lr": 1e-4, "weight_decay": 0.01}, 1.0),
    "relative_attention": (None, None),
}


def optimizer_of(model, keywords):
    if keywords is None:
        return torch.optim.SGD(model.parameters(), lr=1e-6)
    groups = [[], []]
    for name, parameter in model.named_parameters():
        groups[0 if model.decayed(name) else 1].append(parameter)
    decay = keywords["weight_decay"]
    groups = [{"params": groups[0], "weight_decay": decay}, {"params": groups[1], "weight_decay": 0.0}]
    return torch.optim.AdamW([g for g in groups if g["params"]], fused=True, **keywords)


class Run:
    def __init__(self, options):
        self.module = importlib.import_module(options.module)
        self.size = json.loads(options.size)
        torch.manual_seed(options.seed)
        self.model = self.module.Model(self.size)
        if options.weights:
            self.model.load_state_dict(load_file(options.weights))
        keywords, self.bound = RECIPES[options.module]
        self.optimizer = optimizer_of(self.model, keywords)
        self.generator = torch.Generator().manual_seed(options.seed)
        self.batch = self.module.inputs(self.size, self.generator)
        self.forward = torch.compile(self.model) if options.compile else self.model
        self.mixed = options.numerics == "bf16"

    def losses(self, model):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.mixed):
            return model(**self.batch)

    def step(self):
        begin = time.perf_counter()
        losses = self.losses(self.forward)
        sum(losses.values()).backward()
        if self.bound:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.bound)
        self.optimizer.step()
        self.optimizer.zero_grad()
        if hasattr(self.model, "after_step"):
            self.model.after_step()
        sum(float(value.detach()) for value in losses.values())  # a progress line needs it; on the CPU it costs nothing
        return time.perf_counter() - begin

    def save(self, path):
        unread = self.module.unread(self.size) if hasattr(self.module, "unread") else {}
        save_file({k: v.contiguous() for k, v in self.model.state_dict().items()} | unread, path)
        folder = os.path.splitext(path)[0]
        os.makedirs(folder, exist_ok=True)
        for name, value in self.batch.items():
            numpy.save(os.path.join(folder, name + ".npy"), value.numpy())
        return {"weights": path, "inputs": folder}

    def gradients(self, path):
        self.model.eval()
        losses = self.losses(self.model)
        sum(losses.values()).backward()
        tensors = {name: p.grad.contiguous() for name, p in self.model.named_parameters() if p.grad is not None}
        save_file(tensors, path)
        self.optimizer.zero_grad()
        self.model.train()
        return {"gradients": path, "losses": {name: float(value.detach()) for name, value in losses.items()}}

    def answer(self, command, argument):
        if command == "step":
            seconds = [self.step() for _ in range(int(argument))]
            return {"seconds": seconds, "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}
        if command == "save":
            return self.save(argument)
        if command == "grads":
            return self.gradients(argument)
        raise ValueError(f"unknown command {command}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", choices=sorted(RECIPES))
    parser.add_argument("--size", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--numerics", choices=["f32", "bf16"], default="f32", help="bf16: the forward pass under autocast")
    parser.add_argument("--weights")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.set_num_interop_threads(1)
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    run = Run(options)
    size = run.size
    print(json.dumps({"tokens": run.module.tokens(size), "flops": run.module.flops(size), "torch": torch.__version__,
                      "parameters": sum(p.numel() for p in run.model.parameters())}), flush=True)
    for line in sys.stdin:
        command, _, argument = line.strip().partition(" ")
        if command == "quit":
            break
        print(json.dumps(run.answer(command, argument)), flush=True)


main()
