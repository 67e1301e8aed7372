"""Rows of products and of attention: numbers first, then times of both sides in turns. `found` takes what a row says."""
import math
import os
import re
import statistics

import rows as table
from library import Model

BOUND = 2e-2  # relative L2 of results in bf16
TURNS, PER_TURN = 3, 8


def difference(ours, theirs):
    """Relative L2, of iterables of numbers."""
    squares = total = 0.0
    for a, b in zip(ours, theirs, strict=True):
        squares += (a - b) ** 2
        total += b * b
    return math.sqrt(squares / max(total, 1e-30))


class Side:
    """PyTorch on the GPU."""

    def __init__(self):
        import torch
        self.torch = torch
        self.scrub = torch.empty(32 << 20, dtype=torch.uint8, device="cuda")

    def times(self, call, count=PER_TURN):
        """Seconds by events. What goes before hides the start of the call, as in the runtime's profile."""
        events = []
        for _ in range(count):
            pair = [self.torch.cuda.Event(enable_timing=True) for _ in range(2)]
            self.scrub.zero_()
            pair[0].record()
            call()
            pair[1].record()
            events.append(pair)
            self.torch.cuda.synchronize()
        return [begin.elapsed_time(end) * 1e-3 for begin, end in events]

    def values(self, model, seed):
        """Values for all parameters, the same on both sides; of bf16, so that nothing is rounded."""
        torch, generator = self.torch, self.torch.Generator(device="cuda").manual_seed(seed)
        result = {}
        for name, (shape, _) in model.parameters.items():
            result[name] = torch.randn(shape, generator=generator, device="cuda").bfloat16()
            host = result[name].float().cpu().contiguous()
            model.set(name, host.data_ptr())
        return result

    def error(self, ours, theirs):
        ours = self.torch.frombuffer(ours, dtype=self.torch.float32).cuda().double()
        theirs = theirs.double().reshape(-1)
        return ((ours - theirs).norm() / theirs.norm()).item()


def check(found, case, error):
    found.note(case, error=error)
    if not error <= BOUND:
        raise RuntimeError(f"{case}: differs by {error:.3g}, more than {BOUND}")


def gemm(found, library, row, folder):
    side = Side()
    torch = side.torch
    for artifact in row.artifacts:
        size = artifact.sizes(False)
        model = Model(library, os.path.join(folder, artifact.name), "kernels")
        value = side.values(model, 1)
        x, w, g, probe, short = (value.get(name) for name in ("x", "w", "g", "probe", "short"))  # as far as its entries read
        if artifact.model == "Linear":
            calls = {"forward": (lambda: x @ w.t(), probe), "input_gradient": (lambda: g @ w, short),
                     "weight_gradient": (lambda: g.t() @ x, short)}
        else:
            calls = {"forward": (lambda: x @ w, probe), "input_gradient": (lambda: g @ w.t(), short),
                     "weight_gradient": (lambda: x.t() @ g, probe)}
        entries = [entry for entry in table.PRODUCTS if f"--entry {entry}" in " ".join(artifact.words)]
        theirs = {entry: [] for entry in entries}
        for entry in entries:
            call, factor = calls[entry]
            context = model.context(entry)
            context.run()
            check(found, f"{artifact.name} {entry}", side.error(context.output(model.output_of(entry)), call() @ factor))
        for _ in range(TURNS):
            for entry in entries:
                theirs[entry] += side.times(calls[entry][0])
                for _ in range(PER_TURN):
                    model.context(entry).run()
        kernels = model.close()["kernels"]
        for entry in entries:
            ours = sum(kernel["median"] for kernel in kernels_of(kernels, entry)[:-1])  # the last reads the result
            flops = 2 * size["R"] * size["D"] * size["F"]
            found.compare(f"{artifact.name} {entry}", ours * 1e-6, {"cuBLASLt": statistics.median(theirs[entry])}, row.floor,
                          row.goal, tflops=flops / ours / 1e6,
                          kernel=", ".join(kernel["name"] for kernel in kernels_of(kernels, entry)[:-1]))
        del value, x, w, g, probe, short, calls
        torch.cuda.empty_cache()


def kernels_of(kernels, entry):
    return [kernel for kernel in kernels if re.match(rf"{entry}_[a-z]", kernel["name"])]


def causal_times(profile):
    """(forward, backward) in seconds: medians of the kernels of attention."""
    sums = [0.0, 0.0]
    for kernel in profile["kernels"]:
        if "attention" in kernel["name"]:
            sums[bool(re.search("queries|keys|tables|backward", kernel["name"]))] += kernel["median"] * 1e-6
    return sums


def relative_time(profile):
    """Seconds of the kernels of attention, of the biases added to its queries, and of their gradients: not of the loss, nor of
    gradients made f32 for the host."""
    with open(table.ATTENTION, encoding="utf-8") as file:
        lines = file.read().split("\n")
    total = 0.0
    for kernel in profile["kernels"]:
        line, column = (int(part) for part in (kernel["place"] or ":1:1").split(":")[-2:])
        text = lines[line - 1]
        own = "attention" in kernel["name"] or text.strip().startswith("score") or text[column - 1:][:1] == "q"
        total += kernel["median"] * kernel["count"] / profile["entries"][0]["device"]["count"] * 1e-6 if own else 0
    return total


def causal(found, library, row, folder):
    side = Side()
    torch = side.torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    model = Model(library, os.path.join(folder, "causal"), "kernels")
    value = side.values(model, 2)
    context = model.context("grad")
    context.run()
    q, k, v, g = (value[name].transpose(1, 2).detach() for name in "qkvg")
    exact = [part.float().requires_grad_() for part in (q, k, v)]
    scores = exact[0] @ exact[1].transpose(2, 3) / q.size(3) ** 0.5
    hidden = torch.ones(q.size(2), q.size(2), dtype=torch.bool, device="cuda").triu(1)
    a = scores.masked_fill(hidden, float("-inf")).softmax(-1) @ exact[2]
    check(found, "forward", side.error(model.gradient("g"), a.transpose(1, 2)))  # the gradient of g is the result
    wanted = torch.autograd.grad(a, exact, g.float())
    for name, gradient in zip("qkv", wanted):
        check(found, f"gradient of {name}", side.error(model.gradient(name), gradient.transpose(1, 2)))
    del exact, scores, hidden, a, wanted
    torch.cuda.empty_cache()
    leaves = [part.requires_grad_() for part in (q, k, v)]
    times = {"forward": {}, "backward": {}}
    backends = [SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION]

    def forward(backend):
        with sdpa_kernel(backend):
            return torch.nn.functional.scaled_dot_product_attention(*leaves, is_causal=True)

    for _ in range(TURNS):
        for backend in backends:
            try:
                out = forward(backend)
            except RuntimeError as error:
                found.note(backend.name, error=str(error)[:200])
                continue
            times["forward"].setdefault(backend.name, []).extend(side.times(lambda: forward(backend)))
            call = lambda: torch.autograd.grad(out, leaves, g, retain_graph=True)  # noqa: E731
            call()
            times["backward"].setdefault(backend.name, []).extend(side.times(call))
        for _ in range(PER_TURN):
            context.run()
    size = row.artifacts[0].sizes(False)
    flops = 2 * 2 * size["B"] * size["H"] * size["E"] * size["T"] * (size["T"] + 1) / 2
    profile = model.close()
    for part, ours, count in zip(times, causal_times(profile), (flops, 2.5 * flops)):
        found.compare(part, ours, {name: statistics.median(each) for name, each in times[part].items()}, row.floor[part],
                      row.goal[part], tflops=count / ours / 1e12)
    found.note("kernels", kernels=profile["kernels"])


def relative(found, library, row, folder, compiled):
    import peers
    side = Side()
    torch = side.torch
    model = Model(library, os.path.join(folder, "relative"), "kernels")
    value = side.values(model, 3)
    context = model.context("grad")
    context.run()
    size = row.artifacts[0].sizes(False)
    leaves = {name: value[name].requires_grad_() for name in ("q", "k", "v", "r", "u", "w")}
    hidden = torch.ones(size["T"], size["T"] + size["M"], dtype=torch.bool, device="cuda").triu(1 + size["M"])
    exact = {name: part.detach().float().requires_grad_() for name, part in leaves.items()}
    a = peers.eager(*exact.values(), hidden)
    check(found, "forward", side.error(model.gradient("g"), a))
    for (name, _), gradient in zip(exact.items(), torch.autograd.grad(a, list(exact.values()), value["g"].float())):
        check(found, f"gradient of {name}", side.error(model.gradient(name), gradient))
    del exact, a
    torch.cuda.empty_cache()
    times = {}
    forms = peers.relative_forms(compiled)
    ours_runs = 0
    for name, form in forms.items():
        def call(form=form):
            torch.autograd.grad(form(*leaves.values(), hidden), list(leaves.values()), value["g"])
        try:
            for _ in range(3):
                call()
            times[name] = statistics.median(side.times(call, TURNS * PER_TURN))
        except Exception as error:  # a form that this torch does not have is no peer
            found.note(name, error=f"{type(error).__name__}: {str(error)[:300]}")
        while ours_runs < TURNS * PER_TURN * (1 + list(forms).index(name)) / len(forms):
            context.run()
            ours_runs += 1
    profile = model.close()
    found.compare("forward and backward", relative_time(profile), times, row.floor, row.goal)
    found.note("kernels", kernels=profile["kernels"])


def ceilings(found):
    side = Side()
    torch = side.torch
    a, b = (torch.empty(1 << 28, dtype=torch.float32, device="cuda").fill_(1) for _ in range(2))
    seconds = statistics.median(side.times(lambda: b.copy_(a), 20))
    found.note("copy", gigabytes_per_second=2 * a.numel() * 4 / seconds / 1e9)
    x, y = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    side.times(lambda: x @ y, 5)
    seconds = statistics.median(side.times(lambda: x @ y, 20))
    found.note("product of 8192 x 8192 x 8192 in bf16", tflops=2 * 8192 ** 3 / seconds / 1e12)
