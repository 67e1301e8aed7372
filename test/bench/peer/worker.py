"""One PyTorch training run that waits for commands on standard input and answers each with one line of JSON.

  save PATH      write the weights (safetensors, public names) and, beside them, every input as PATH-stem/NAME.npy
  grads PATH     losses (in the answer) and gradients (safetensors, public names) of the first batch, without an optimizer step
  exact PATH     the same in f64, from the same weights and inputs
  step N         N training steps; answers {"seconds": [..], "losses": [..], "peak_bytes": ..}
  quit

usage: worker.py MODULE --size JSON --threads N [--compile] [--numerics bf16] [--weights FILE] [--seed N]
"""
import argparse
import copy
import importlib
import json
import os
import resource
import sys
import time

import numpy
import torch
from safetensors.torch import load_file, save_file

ADAM = {"lr": 1e-4, "weight_decay": 0.0}
MASKED = ("adamw", {"lr": 1e-4, "weight_decay": 0.01}, 1.0)
DECODER = ("adamw", {"lr": 1e-4, "betas": (0.9, 0.95), "weight_decay": 0.1}, 1.0)
LANGUAGE = ("sgd", {"lr": 1.0, "weight_decay": 0.0}, 0.25)
RECIPES = {  # rule, its keywords, bound of the gradient norm; None: none
    "gpt2": DECODER, "llama": DECODER, "alibi": DECODER, "moe": DECODER, "mamba": DECODER,
    "encoders": MASKED, "electra": MASKED, "mtdnn": MASKED, "xlnet": MASKED,
    "transformer_xl": ("adamw", ADAM, 0.25), "transformer_xl_adaptive": ("adamw", ADAM, 0.25),
    "t5": ("adamw", ADAM, 1.0),
    "vit": ("adamw", {"lr": 1e-4, "weight_decay": 0.1}, 1.0),
    "transformer": ("adamw", {**ADAM, "betas": (0.9, 0.98), "eps": 1e-9}, None),
    "universal_transformer": ("adamw", {**ADAM, "betas": (0.9, 0.98), "eps": 1e-9}, None),
    "star_transformer": ("adamw", ADAM, None),
    "lstm": LANGUAGE, "recurrent": LANGUAGE,
    "resnet": ("sgd", {"lr": 1e-4, "momentum": 0.9, "weight_decay": 1e-4}, None),
    "relative_attention": ("sgd", {"lr": 1e-6, "weight_decay": 0.0}, None),
}


def optimizer_of(model, rule, keywords):
    groups = [[], []]
    for name, parameter in model.named_parameters():
        groups[0 if model.decayed(name) else 1].append(parameter)
    decay = keywords["weight_decay"]
    groups = [{"params": groups[0], "weight_decay": decay}, {"params": groups[1], "weight_decay": 0.0}]
    kind = {"adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}[rule]
    return kind([g for g in groups if g["params"]], fused=True, **keywords)


class Run:
    def __init__(self, options):
        self.module = importlib.import_module(options.module)
        self.size = json.loads(options.size)
        torch.manual_seed(options.seed)
        self.model = self.module.Model(self.size)
        if options.weights:
            self.model.load_state_dict(load_file(options.weights))
        rule, keywords, self.bound = RECIPES[options.module]
        self.optimizer = optimizer_of(self.model, rule, keywords)
        self.generator = torch.Generator().manual_seed(options.seed)
        self.batch = self.module.inputs(self.size, self.generator)
        self.forward = torch.compile(self.model) if options.compile else self.model
        self.mixed = options.numerics == "bf16"

    def losses(self, model, batch):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.mixed):
            return model(**batch)

    def whole(self, losses):
        weights = getattr(self.model, "weights", {})
        return sum(weights.get(name, 1) * value for name, value in losses.items())

    def step(self):
        begin = time.perf_counter()
        loss = self.whole(self.losses(self.forward, self.batch))
        loss.backward()
        if self.bound:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.bound)
        self.optimizer.step()
        self.optimizer.zero_grad()
        if hasattr(self.model, "after_step"):
            self.model.after_step()
        self.loss = float(loss.detach())  # a progress line needs it; on the CPU it costs nothing
        return time.perf_counter() - begin

    def save(self, path):
        unread = self.module.unread(self.size) if hasattr(self.module, "unread") else {}
        kept = {name: value for name, value in self.model.state_dict().items() if not name.endswith("num_batches_tracked")}
        save_file({name: value.contiguous() for name, value in kept.items()} | unread, path)
        folder = os.path.splitext(path)[0]
        os.makedirs(folder, exist_ok=True)
        for name, value in self.batch.items():
            numpy.save(os.path.join(folder, name + ".npy"), value.numpy())
        return {"weights": path, "inputs": folder}

    def gradients(self, path, model, batch):
        model.eval()
        norms = [module for module in model.modules() if isinstance(module, torch.nn.BatchNorm2d)]
        momenta = [norm.momentum for norm in norms]
        for norm in norms:  # statistics are the batch's, as in `tenon grad`; running ones stay
            norm.train()
            norm.momentum = 0
        losses = self.losses(model, batch)
        self.whole(losses).backward()
        save_file({name: p.grad.contiguous() for name, p in model.named_parameters() if p.grad is not None}, path)
        self.optimizer.zero_grad()
        model.train()
        for norm, momentum in zip(norms, momenta):
            norm.momentum = momentum
        return {"gradients": path, "losses": {name: float(value.detach()) for name, value in losses.items()}}

    def exact(self, path):
        batch = {name: value.double() if value.is_floating_point() else value for name, value in self.batch.items()}
        mixed, self.mixed = self.mixed, False
        found = self.gradients(path, copy.deepcopy(self.model).double(), batch)
        self.mixed = mixed
        return found

    def answer(self, command, argument):
        if command == "step":
            seconds, losses = [], []
            for _ in range(int(argument)):
                seconds.append(self.step())
                losses.append(self.loss)
            return {"seconds": seconds, "losses": losses, "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}
        if command == "save":
            return self.save(argument)
        if command == "grads":
            return self.gradients(argument, self.model, self.batch)
        if command == "exact":
            return self.exact(argument)
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
