"""What `tenon run` is given and must not take silently: states, weights beside --init, numbers that do not fit.

    given.py FOLDER
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tensors import load_npy, save_npy, tensor  # noqa: E402

PLAIN = """model Plain {
  config D = 4
  dim    B
  in     x: [B, D]
  use    f = Linear[D -> D]
  let    y = f(x)
  out    y
}
"""
# A memory of symbols: an index, kept from call to call, in the order of the text.
MEMORY = """model Memory {
  config D = 3, M = 4, V = 5
  dim    B, T
  dim    S = M + T
  in     ids: index(V)[B, T]
  state  mem: index(V)[B, M] = 2
  let    all = concat[M + T -> S](mem, ids)
  next   mem = all[S: T .. S -> M]
  let    table = iota[V]() * 10
  let    seen = table[V: mem]
  out    seen
}
"""
# Which losses are nats per symbol, so that `bits_per_char` may be said of them.
LOSSES = """model Losses {
  config V = 5
  dim    B, T
  in     x: [B, T, V], y: index(V)[B, T], w: [B, T]
  let    each = cross_entropy[V](x, y)
  loss   plain = mean(each)
  loss   weighted = sum(w * each) / max(sum(w), 1)
  loss   square = mean(x * x)
  loss   total = sum(each)
  loss   smooth = mean(cross_entropy[V](x, y, spread = 0.02))
  loss   some = mean(cross_entropy[V](x, y, where = y != 0))
  loss   both = mean(each) + 0.1 * mean(x * x)
}
"""


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    for name, text in (("plain", PLAIN), ("memory", MEMORY), ("losses", LOSSES)):
        with open(name + ".tn", "w", encoding="utf-8") as spec:
            spec.write(text)
    save_npy("x.npy", tensor("f32", [[1.0, 2.0, 3.0, 4.0]]))
    save_npy("huge.npy", tensor("f64", [[1.0, 2.0, 3.0, 4.0], [1.0, -1e300, 3.0, 4.0]]))
    save_npy("infinite.npy", tensor("f64", [[1.0, float("inf"), 3.0, 4.0]]))
    save_npy("ids.npy", tensor("i32", [[4, 0, 1], [3, 3, 0]]))
    save_npy("bad.npy", tensor("i32", [[0, 1, 2, 3], [0, 5, 2, 3]]))
    save_npy("good.npy", tensor("i32", [[0, 1, 2, 3], [0, 4, 2, 3]]))

    def call(status, words, *command):
        done = subprocess.run(["tenon", *command], capture_output=True, text=True, check=False)
        if done.returncode != status or words not in done.stderr:
            sys.exit(f"WRONG: {' '.join(command)}: status {done.returncode} instead of {status}, or not {words!r} in\n"
                     f"{done.stderr}")

    plain = ["run", "plain.tn", "--input", "x=@x.npy"]
    call(0, "", "init", "plain.tn", "-o", "w.safetensors")
    call(0, "", *plain, "--weights", "w.safetensors")
    call(2, "--states w.safetensors: the entry infer keeps no states", *plain, "--init", "--states", "w.safetensors")
    call(2, "--save-states s.safetensors: the entry infer keeps no states", *plain, "--init", "--save-states", "s.safetensors")
    call(0, "", *plain, "--init", "--weights", "w.safetensors")
    call(3, "huge.npy: 'x': element [1, 1] is -1e+300", "run", "plain.tn", "--init", "--input", "x=@huge.npy")
    call(0, "", "run", "plain.tn", "--init", "--f64", "--input", "x=@huge.npy")
    call(0, "", "run", "plain.tn", "--init", "--input", "x=@infinite.npy")

    memory = ["run", "memory.tn", "--init", "--input", "ids=@ids.npy", "--output", "seen=@seen.npy"]
    wanted = ([[20, 20, 20, 20], [20, 20, 20, 20]], [[20, 40, 0, 10], [20, 30, 30, 0]], [[10, 40, 0, 10], [0, 30, 30, 0]])
    for number, rows in enumerate(wanted):
        call(0, "", *memory, "--save-states", "m.safetensors", *(["--states", "m.safetensors"] if number else []))
        if list(load_npy("seen.npy").values) != [value for row in rows for value in row]:
            sys.exit(f"WRONG: call {number}: {list(load_npy('seen.npy').values)} instead of {rows}")
    call(3, "lacks the state mem", *memory, "--states", "w.safetensors")
    call(0, "", *memory, "--state", "mem=@good.npy")
    call(3, "state 'mem' holds 5 at [1, 1], expected 0 .. 4", *memory, "--state", "mem=@bad.npy")
    call(0, "", "compile", "losses.tn", "-o", "losses")
    with open("losses/losses.json", encoding="utf-8") as manifest:
        losses = next(entry for entry in json.load(manifest)["entries"] if entry["name"] == "eval")["outputs"]
    if [loss["name"] for loss in losses if loss.get("nats")] != ["plain", "weighted"]:
        sys.exit(f"WRONG: nats: {losses}")
    print("nothing is taken silently")


if __name__ == "__main__":
    main()
