"""Generation of a compiled model against `tenon run` with states, symbol by symbol.

symbols.py MODEL FOLDER greedy             the most probable symbol of each call of `run` is the next one of `generate`
symbols.py MODEL FOLDER top-p [--spoil]    every symbol of `generate --top-p` is one of the most probable that reach p together;
                                           --spoil: with a third of p, which must fail
symbols.py MODEL FOLDER stream             text comes while more of it is being made, and a reader who leaves ends the generation
"""
import math
import os
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tensors  # noqa: E402

model, folder, how = sys.argv[1:4]
WINDOW = 64  # of a prompt, as docs/training.md says
PROMPT = b"In the beginning was one window of sixty-four symbols, and some behind it."
COUNT, SHARE = 24, 0.3
weights, states = os.path.join(folder, "weights.safetensors"), os.path.join(folder, "states.safetensors")


def generate(*options):
    return ["tenon", "generate", model, "--weights", weights, "-p", PROMPT.decode(), *options]


def feed(symbols):
    """Logits behind the last of `symbols`; the states go on from the call before."""
    ids, logits = os.path.join(folder, "ids.npy"), os.path.join(folder, "logits.npy")
    tensors.save_npy(ids, tensors.tensor("i32", [list(symbols)]))
    before = ["--states", states] if os.path.exists(states) else []
    subprocess.run(["tenon", "run", model, "--weights", weights, "--input", f"ids=@{ids}", "--output", f"logits=@{logits}",
                    *before, "--save-states", states], check=True)
    return tensors.load_npy(logits).values[-256:]


def logits_before(text):
    """Of each symbol of `text` behind the prompt."""
    if os.path.exists(states):
        os.remove(states)
    logits = feed(PROMPT[:WINDOW])
    for symbol in PROMPT[WINDOW:]:
        logits = feed([symbol])
    for symbol in text:
        yield symbol, logits
        logits = feed([symbol])


def nucleus(logits, share):
    """The most probable symbols that reach `share` together."""
    top = max(logits)
    weight = [math.exp(x - top) for x in logits]
    chosen, reached = [], 0.0
    for symbol in sorted(range(len(weight)), key=lambda k: -weight[k]):
        if reached >= share * sum(weight):
            break
        chosen.append(symbol)
        reached += weight[symbol]
    return chosen


def generated(*options):
    text = subprocess.run(generate("-n", str(COUNT), *options), check=True, stdout=subprocess.PIPE).stdout
    if not text.startswith(PROMPT) or not text.endswith(b"\n") or len(text) != len(PROMPT) + COUNT + 1:
        sys.exit(f"WRONG: {text!r}")
    return text[len(PROMPT):-1]


shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
subprocess.run(["tenon", "init", model, "--seed", "3", "-o", weights], check=True)
if how == "greedy":
    for place, (symbol, logits) in enumerate(logits_before(generated("--greedy"))):
        best = max(range(256), key=lambda k: logits[k])
        if symbol != best:
            sys.exit(f"WRONG: symbol {place} is {symbol}, {best} is more probable")
    print(f"{COUNT} symbols, each the most probable")
elif how == "top-p":
    share = SHARE / 3 if sys.argv[4:] == ["--spoil"] else SHARE
    sizes = set()
    for place, (symbol, logits) in enumerate(logits_before(generated("--top-p", str(SHARE), "--seed", "5"))):
        allowed = nucleus(logits, share)
        sizes.add(len(allowed))
        if symbol not in allowed:
            sys.exit(f"WRONG: symbol {place} is {symbol}, which is none of the {len(allowed)} most probable")
    print(f"{COUNT} symbols, each one of the most probable {min(sizes)} to {max(sizes)}")
else:
    process = subprocess.Popen(generate("-n", "1000000000"), stdout=subprocess.PIPE)
    start = process.stdout.read(len(PROMPT) + 200)
    if not start.startswith(PROMPT) or process.poll() is not None:
        sys.exit("WRONG: no text while there is more to come")
    process.stdout.close()
    status = process.wait()
    if status not in (0, -signal.SIGPIPE):
        sys.exit(f"WRONG: a reader who leaves gives the exit status {status}")
    print("a stream")
