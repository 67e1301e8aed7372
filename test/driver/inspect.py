"""What `tenon inspect` counts: memory against the compiled code, operations against a closed formula. `inspect` itself compares
the formulas of the manifest with what the code binds and ends with status 70 where they differ, so asking at many sizes is the
test.

inspect.py memory SPEC [--set ...]     arenas at odd sizes
inspect.py flops [--spoil]             GPT-2's training step; --spoil expects one layer more than there is
inspect.py pairs [--spoil]             attention whose masks leave all, a window, a strip; --spoil: another window
inspect.py places DIR [--spoil]        of GPT-2: each kernel and copy names a line; --spoil: of the optimizer the one behind"""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import driver  # noqa: E402


def report(spec, *words):
    return json.loads(driver.tenon("inspect", spec, "--json", *words))


def mistake(entry, found):
    """What is wrong with the parts of one entry's memory; None if nothing is."""
    parts = found["memory"]
    if sum(parts.values()) != found["memory_sum"]:
        return f"{entry['name']}: the parts do not give the sum {found['memory_sum']}"
    if parts.get("saved values", 0) + parts.get("temporaries", 0) != found["workspace"]:
        return f"{entry['name']}: saved values and temporaries do not give the workspace {found['workspace']}"
    if (entry["kind"] == "train") != ("saved values" in parts):
        return f"{entry['name']}: only a training step saves values"
    return None


def memory(spec, words):
    """Of one artifact at all sizes, and of a specification that is compiled for one of them."""
    with tempfile.TemporaryDirectory() as folder:
        driver.tenon("compile", spec, *words, "--tier", driver.best_tier(), "--quick", "-o", folder)
        manifest = report(folder)
        seen = 0
        for entry in manifest["entries"]:
            names = [dim["name"] for dim in entry["dims"]]
            largest = {dim["name"]: dim["max"] if dim["max"] > 0 else 1000 for dim in entry["dims"]}
            sums = []
            for sizes in ((1, 2, 1, 1), (2, 17, 3, 1), (3, 67, 8, 2), (4, 131, 31, 5), (7, 300, 50, 9)):
                bind = [f"--bind={name}={min(size, largest[name])}" for name, size in zip(names, sizes)]
                found = report(folder, "--entry", entry["name"], *bind)["report"][0]
                if wrong := mistake(entry, found):
                    return wrong
                sums.append(found["memory_sum"])
                seen += 1
                if not names:
                    break
            if len(sums) > 1 and sums != sorted(set(sums)):
                return f"{entry['name']}: the memory does not grow with the sizes: {sums}"
    bound = report(spec, *words, "--entry", "infer", "--bind", "B=3", "--bind", "T=67")
    print(f"{seen} sizes agree")
    return mistake(bound["entries"][0], bound["report"][0])


def flops(spoil):
    found = report(driver.model("gpt2.tn"), "--recipe", "small", "--entry", "train")["report"][0]
    batch, length, width, vocabulary, layers = 8, 128, 256, 256, 5 if spoil else 4
    tokens, pairs = batch * length, batch * length * (length + 1) // 2
    # Forward, and twice that backward: 12 D^2 weights of a layer, the output table, scores and values of the pairs that causal
    # attention sees.
    expected = 3 * (2 * tokens * (12 * layers * width**2 + vocabulary * width) + layers * 4 * width * pairs)
    by_kind = {}
    for kernel in found["kernels"]:
        by_kind[kernel["kind"]] = by_kind.get(kernel["kind"], 0) + kernel["flops"]
    print(f"{found['flops'] / expected:.4f} of the closed formula; {by_kind}")
    if abs(found["flops"] / expected - 1) > 0.03:
        return f"counted {found['flops']}, expected {expected}"
    if abs(sum(kernel["share"] for kernel in found["kernels"]) - 1) > 1e-3:
        return "the shares do not sum to 1"
    return None


def pairs(spoil):
    """What is counted per pair is the same whatever the masks leave."""
    text = """model M {
  config D = 8
  dim B = 1, T = 64, S = T
  in q: [B, T, D], k: [B, T, D]
  let a = attend(i: T, j: S) { score content = dot[D](q, k[T -> S])  MASKS  value k[T -> S] }
  out run = a
}
"""
    visible = {
        "": lambda i, j: True,
        "mask j <= i  mask i - j < 4": lambda i, j: j <= i and i - j < (5 if spoil else 4),
        "mask j > i + 2": lambda i, j: j > i + 2,
        "mask j <= i and 2 * j <= 40": lambda i, j: j <= i and 2 * j <= 40,
    }
    per_pair = None
    with tempfile.TemporaryDirectory() as folder:
        for masks, sees in visible.items():
            spec = os.path.join(folder, "masks.tn")
            with open(spec, "w", encoding="utf-8") as file:
                file.write(text.replace("MASKS", masks))
            kernels = report(spec)["report"][0]["kernels"]
            count = sum(kernel["flops"] for kernel in kernels if kernel["kind"] == "attention")
            seen = sum(sees(i, j) for i in range(64) for j in range(64))
            per_pair = per_pair or count / seen
            print(f"`{masks}`: {count} operations, {seen} pairs")
            if count != per_pair * seen:
                return f"`{masks}` counts {count}, expected {per_pair * seen}"
    return None


def places(artifact, spoil):
    with open(driver.model("gpt2.tn"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    kinds = set()
    for found in report(artifact)["report"]:
        for kernel in found["kernels"]:
            kinds.add(kernel["kind"])
            if not kernel["place"]:
                return f"{kernel['kind']} of {found['entry']} names no line"
            line = int(kernel["place"].split(":")[1]) - (0 if spoil else 1)
            if kernel["kind"] == "optimize" and "optimizer" not in lines[line]:
                return f"optimize names {kernel['place']}: {lines[line]}"
    return None if {"copy", "optimize"} <= kinds else f"there are {kinds} alone"


wrong = {"memory": lambda: memory(sys.argv[2], sys.argv[3:]), "flops": lambda: flops("--spoil" in sys.argv),
         "pairs": lambda: pairs("--spoil" in sys.argv),
         "places": lambda: places(sys.argv[2], "--spoil" in sys.argv)}[sys.argv[1]]()
print(f"WRONG: {wrong}" if wrong else "HOLDS")
sys.exit(1 if wrong else 0)
