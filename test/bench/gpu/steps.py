"""Training steps of whole models: losses from the same weights first, then steps of both sides in turns, then where ours go."""
import contextlib
import ctypes
import importlib
import json
import os
import statistics
import subprocess
import sys
import time

from library import Model

HERE = os.path.dirname(os.path.abspath(__file__))
LOSS_BOUND = 1e-2  # relative, of the first steps; both sides round to bf16, at different points
COMPARED = 3
# Whose peer calls PyTorch's fused attention: with the back end that PyTorch chooses, and with cuDNN's.
FUSED_ATTENTION = ("gpt2",)
RECIPES = {"gpt2": ({"lr": 1e-4, "betas": (0.9, 0.95)}, 0.1, 1.0), "transformer_xl": ({"lr": 1e-4}, 0.0, 0.25)}


class Peer:
    """PyTorch: master weights of f32, the forward pass under autocast, fused AdamW."""

    def __init__(self, torch, module, size, weights, batch, compiled=False, cudnn=False):
        self.torch, self.cudnn = torch, cudnn
        with torch.device("cuda"):
            self.model = module.Model(size)
        self.model.load_state_dict(read_safetensors(torch, weights))
        keywords, decay, self.bound = RECIPES[module.__name__]
        groups = [[], []]
        for name, parameter in self.model.named_parameters():
            groups[0 if self.model.decayed(name) else 1].append(parameter)
        self.optimizer = torch.optim.AdamW([{"params": groups[0], "weight_decay": decay},
                                            {"params": groups[1], "weight_decay": 0.0}][not groups[0]:], fused=True, **keywords)
        self.batch = {name: value.cuda() for name, value in batch.items()}
        self.forward = torch.compile(self.model) if compiled else self.model

    def attention(self):
        from torch.nn.attention import SDPBackend, sdpa_kernel
        return sdpa_kernel(SDPBackend.CUDNN_ATTENTION) if self.cudnn else contextlib.nullcontext()

    def step(self):
        with self.attention():
            with self.torch.autocast("cuda", dtype=self.torch.bfloat16):
                loss = sum(self.forward(**self.batch).values())
            loss.backward()
        self.torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.bound)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        if hasattr(self.model, "after_step"):
            self.model.after_step()
        return float(loss.detach())


def read_safetensors(torch, path):
    with open(path, "rb") as file:
        head = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        begin, result = file.tell(), {}
        for name, tensor in head.items():
            if name == "__metadata__":
                continue
            first, last = tensor["data_offsets"]
            file.seek(begin + first)
            values = torch.frombuffer(bytearray(file.read(last - first)), dtype=torch.float32)
            result[name] = values.reshape(tensor["shape"]).cuda()
    return result


class Ours:
    def __init__(self, library, path, batch, loss, profile, weights=None):
        self.model = Model(library, path, profile)
        if weights:
            self.model.load(weights, "hf")
        else:
            self.model.initialize(1)
        self.context, self.loss, self.batch, self.number = self.model.context("train"), loss, batch, 0
        self.feed()

    def feed(self):
        for name, values in self.batch.items():
            self.context.set_input(name, values)

    def step(self):
        self.context.run(self.number)
        self.number += 1
        self.feed()  # of the next step, while the GPU works: as `tenon train` does
        return self.context.scalar(self.loss)


def seconds(side, count):
    side.step()  # the first of a turn is left out
    result = []
    for _ in range(count):
        begin = time.perf_counter()
        side.step()
        result.append(time.perf_counter() - begin)
    return result


def timed_of(steps, count):
    """Those of `steps` that `seconds` has timed: of each turn all but the first."""
    return [step for number, step in enumerate(steps) if number % (count + 1)]


def loss_of(name):
    return {"gpt2": "lm", "transformer_xl": "nll"}[name]


def measure(found, library, row, folder, tenon, compiled):
    import torch
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), "peer"))
    module, artifact = importlib.import_module(row.name), row.artifacts[0]
    size, path = artifact.sizes(False), os.path.join(folder, artifact.name)
    weights = os.path.join("/tmp", f"tenon-bench-{os.getpid()}.safetensors")
    subprocess.run([tenon, "init", path, "-o", weights, "--names", "hf", "--seed", "1"], check=True)
    try:
        batch = module.inputs(size, torch.Generator().manual_seed(1))
        arrays = {name: (ctypes.c_int32 * value.numel())(*value.flatten().tolist()) for name, value in batch.items()}
        begin = time.perf_counter()
        ours = Ours(library, path, arrays, loss_of(row.name), "runs", weights)
        ours_losses = [ours.step() for _ in range(COMPARED)]
        found.note("start", seconds=time.perf_counter() - begin)  # the driver compiles
        theirs = {"eager": Peer(torch, module, size, weights, batch)}
        if row.name in FUSED_ATTENTION:
            theirs["cudnn"] = Peer(torch, module, size, weights, batch, cudnn=True)
        for form, peer in theirs.items():
            losses = [peer.step() for _ in range(COMPARED)]
            found.note(f"losses, {form}", ours=ours_losses, theirs=losses)
            for a, b in zip(ours_losses, losses):
                if not abs(a - b) <= LOSS_BOUND * abs(b):
                    raise RuntimeError(f"losses of the first steps are {ours_losses}, PyTorch's {losses}")
        times, own, turns, timed = {form: [] for form in theirs}, [], 3, 4
        for _ in range(turns):
            for form, peer in theirs.items():
                times[form] += seconds(peer, timed)
            own += seconds(ours, timed)
        tokens = size["B"] * size["T"]
        report(found, row, own, times, tokens, module.flops(size))
        profile = ours.model.close()
        entry = next(entry for entry in profile["entries"] if entry["name"] == "train")
        wall, device = [step * 1e6 for step in own], timed_of(entry["each"][COMPARED:], timed)
        found.note("host", wall_us=statistics.median(wall), gpu_us=statistics.median(device), floor=200, goal=50,
                   outside_us=statistics.median(step - busy for step, busy in zip(wall, device, strict=True)),
                   **{f"{part}_us": entry[part]["median"] for part in ("describe", "start", "launch")})
        fastest = min(times, key=lambda form: statistics.median(times[form]))
        del theirs, peer
        torch.cuda.empty_cache()
        ours = Ours(library, path, arrays, loss_of(row.name), "kernels", weights)
        for _ in range(4):
            ours.step()
        found.note("kernels", kernels=ours.model.close()["kernels"])
        if compiled:  # takes minutes to compile, and is last
            peer = Peer(torch, module, size, weights, batch, compiled=True, cudnn=fastest == "cudnn")
            times["compiled"] = [peer.step() for _ in range(2)] and seconds(peer, 8)
            report(found, row, own, times, tokens, module.flops(size))
    finally:
        os.remove(weights)


def report(found, row, own, times, tokens, flops):
    ours = statistics.median(own)
    found.compare("step", ours, {name: statistics.median(each) for name, each in times.items()}, row.floor, row.goal,
                  tokens_per_second=tokens / ours, tflops=flops / ours / 1e12)
