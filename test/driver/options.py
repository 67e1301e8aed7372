"""Every option of the commands over models has an effect in each way to name a model, or is refused there with a sentence.

    options.py FOLDER

Ways: `spec` a specification, `model` what is compiled, `run` a run directory, `bare` and `bare-run` the same without the
specification. A row is (command, ways, arguments, expectation): a
text is a piece of the refusal; CHANGES means that what the command prints or writes is not that of the same call without them;
SAME that it is accepted and all stays (threads, tiers).
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tensors import save_npy, tensor  # noqa: E402

SPEC = """model Other {
  config D = 2 dim B, T in ids: index(256)[B, T] param w: [] ~ normal(1)
  let y = expand[B, T](w) + real(ids) out logits = y loss l = mean(y ^ 2)
}
model Small {
  config V = 256, D = 4, scale = 1.0
  dim    B, T <= 64
  in     ids: index(V)[B, T], target: index(V)[B, T]
  param  emb, head: [V, D] ~ normal(1)
  let    x = cumsum[T](emb[V: ids]) * scale
  let    logits = dot[D](dropout(x, 0.1), head)
  out    logits
  out step(T) = logits
  loss   nll = mean(cross_entropy[V](logits, target))
}
train Small as small {
  bind B = 2, T = 8  data = byte_stream(text = "text.txt", held_out = 0.2)  optimizer = adam(lr = 0.01)  steps = 3
  checkpoint = every(2)
}
train Small as scaled {
  bind B = 2, T = 8, scale = 2.0  data = byte_stream(text = "text.txt")  optimizer = adam(lr = 0.01)  steps = 3
}
generate Small as drawn { entry = step  method = sample(limit = 12)  start = "a"  seed = 1 }
generate Small as likely { entry = step  method = greedy(limit = 12)  start = "a" }
generate Small as searched { entry = step  method = beam(size = 3, limit = 12)  start = "a" }
names Small as hf { "emb" = "wte"  "head" = "lm_head" }
"""
CHANGES, SAME = "\0changes", "\0same"
ALL, COMPILED, SPECIFICATION = "spec model run", "model run", "spec"
NEEDS = "needs a specification (.tn)"

# What each command is called with besides its source; weights only where the source has none.
BASE = {
    "run": ["--input", "ids=@ids.npy", "--output", "logits=@OUT"], "eval": [], "generate": ["--prompt", "the"],
    "grad": ["--input", "ids=@ids.npy", "--input", "target=@ids.npy", "--output", "OUT.safetensors"],
    "export": ["--output", "OUT.safetensors"], "init": ["--output", "OUT.safetensors"],
    "train": ["--out", "NEW", "--quiet", "--threads", "1"], "inspect": [],
    "plot": ["--output", "OUT.svg"], "runs": [],
}
WEIGHTS = ["--weights", "w.safetensors"]

# Options of the model itself, which all these commands have.
MODEL = [(ALL, ["--model", "Other"], None), (COMPILED, ["--model", "Small"], "--model " + NEEDS),
         (COMPILED, ["--set", "nothing=4"], "nothing"), ("bare", ["--set", "D=4"], "--set " + NEEDS),
         ("bare-run", ["--set", "D=4"], "keeps no specification"),
         (COMPILED, ["--recipe", "small"], "--recipe " + NEEDS), (COMPILED, ["--target", "cpu"], SAME),
         ("bare", ["--target", "cpu"], "--target " + NEEDS), ("bare-run", ["--target", "cpu"], "keeps no specification"),
         (COMPILED, ["--f64"], CHANGES), ("bare", ["--f64"], "--f64 " + NEEDS), ("bare-run", ["--f64"], "keeps no specification"),
         (COMPILED, ["--numerics", "bf16"], CHANGES), ("bare", ["--numerics", "bf16"], "--numerics " + NEEDS),
         ("bare-run", ["--numerics", "bf16"], "keeps no specification"),
         (SPECIFICATION, ["--numerics", "f8"], "not in {f32,f16,bf16,tf32}"),
         (SPECIFICATION, ["--numerics", "bf16", "--f64"], "excludes"),
         (SPECIFICATION, ["--set", "nothing=4"], "nothing"), (SPECIFICATION, ["--recipe", "nothing"], "nothing"),
         (SPECIFICATION, ["--model", "Nothing"], "Nothing"),
         (SPECIFICATION, ["--target", "abacus"], "abacus"), (ALL, ["--bind", "Q=2"], "Q")]
TIER = [("model", ["--tier", "portable"], SAME), ("model", ["--tier", "fast"], "fast")]
THREADS = [("model", ["--threads", "2"], SAME), ("model", ["--threads", "0"], "must be a whole number")]
SOURCES = [("run", ["--checkpoint", "2"], CHANGES),
           ("model", ["--checkpoint", "2"], "--checkpoint chooses one of a run, and this is none"),
           ("run", ["--checkpoint", "2", *WEIGHTS], "--weights or --init give other values"),
           ("run", ["--checkpoint", "9"], "no checkpoint of step 9"),
           ("run", WEIGHTS, CHANGES)]
NAMES = [("run", ["--names", "hf"], "--names says whose names a weights file has; it needs --weights"),
         ("run", ["--weights", "hf.safetensors", "--names", "hf"], CHANGES)]
DRAWN = [("run", ["--init"], CHANGES), ("run", ["--partial"], "it needs --weights"),
         ("run", ["--init", "--partial", *WEIGHTS], "leave out --init"),
         ("run", ["--partial", "--weights", "part.safetensors"], CHANGES)]
STEP = [("run", ["--step", "2"], CHANGES), ("model", ["--step", "2"], "--checkpoint chooses one of a run"),
        ("run", ["--step", "2", "--checkpoint", "2"], "excludes")]

ROWS = {
    "run": MODEL + TIER + THREADS + SOURCES + NAMES + DRAWN + [
        ("run", ["--seed", "3"], "the entry infer draws nothing else"), ("run", ["--init", "--seed", "3"], CHANGES),
        ("run", ["--step", "3"], "--step numbers random choices, and the entry infer makes none"),
        (COMPILED, ["--bind", "T=5"], "T = 5"), ("run", ["--entry", "nothing"], "no entry 'nothing'"),
        ("run", ["--input", "idx=@ids.npy"], "idx"),
        ("run", ["--output", "nothing=@x.npy"], "no output 'nothing'"), ("run", ["--json"], CHANGES),
        ("run", ["--states", "w.safetensors"], "keeps no states"),
        ("run", ["--save-states", "s.safetensors"], "keeps no states"), ("run", ["--state", "s=@ids.npy"], "no state 's'"),
        ("run", ["--save-state", "s=@s.npy"], "no state 's'")],
    "grad": [("spec", ["--tier", "portable"], SAME), ("spec", ["--threads", "2"], SAME),
        ("spec", ["--recipe", "scaled", "--bind", "T=4"], CHANGES),
        ("spec", ["--set", "scale=3"], CHANGES), ("spec", ["--step", "7"], "the entry grad makes none"),
        ("spec", ["--seed", "7"], "the entry grad draws nothing else"), ("spec", ["--output-names", "hf"], CHANGES),
        ("spec", ["--json"], CHANGES), ("spec", ["--states", "w.safetensors"], "keeps no states"),
        ("spec", ["--entry", "nothing"], "no entry 'nothing'"), ("spec", ["--f64"], CHANGES),
        ("spec", ["--task", "nothing"], "the recipe has no `tasks`"),
        ("spec", ["--numerics", "bf16"], CHANGES), ("spec", ["--numerics", "f32"], SAME),
        ("spec", ["--model", "Nothing"], "Nothing"), ("spec", ["--recipe", "nothing"], "nothing"),
        ("spec", ["--target", "abacus"], "abacus"), ("spec", ["--bind", "Q=2"], "Q"),
        ("spec", ["--checkpoint", "2"], "--checkpoint chooses one of a run"), ("spec", ["--init"], CHANGES),
        ("spec", ["--init", "--seed", "7"], CHANGES), ("spec", ["--partial"], SAME), ("spec", ["--names", "nothing"], "nothing"),
        ("run", [], "compiled without gradients")],
    "eval": MODEL + TIER + THREADS + SOURCES + NAMES + DRAWN + STEP + [
        ("run", ["--seed", "3"], "eval draws nothing else"), ("run", ["--init", "--seed", "3"], CHANGES),
        ("run", ["--text", "other.txt"], CHANGES), ("run", ["--data", "."], CHANGES),
        ("run", ["--text", "other.txt", "--data", "."], "excludes"), ("run", ["--data", "ids=ids.npy"], "has no file for 'ids'"),
        ("run", ["--vocab", "text.txt"], "has its vocabulary already"),
        ("model", ["--vocab", "words.txt", "--text", "words.txt"], CHANGES), ("run", ["--batches", "1"], CHANGES),
        ("run", ["--predictions", "none.json"], "rows with labels and for questions (squad)"),
        ("run", ["--predictions", "none.json", "--predicted", "h"], "rows with labels and for questions (squad)"),
        ("run", ["--measure", "spearman"], "which no loss or metric reads"),
        ("run", ["--measure", "f1"], "which no loss or metric reads"),
        ("run", ["--task", "nothing"], "the recipe has no `tasks`"),
        ("run", ["--no-answer-above", "1"], "recipes with the data task squad"),
        ("run", ["--stride", "3"], CHANGES), ("run", ["--json"], CHANGES)],
    # Text of f64 may be that of f32.
    "generate": [(*row[:2], None) if row[1:] == (["--f64"], CHANGES) else row for row in MODEL] + TIER + THREADS + SOURCES +
    NAMES + DRAWN + STEP + [
        ("run", ["--seed", "3"], CHANGES), ("run", ["--greedy", "--seed", "3"], "the most probable symbol needs none"),
        ("run", ["--block", "likely", "--seed", "3"], "the method of the block is greedy"),
        ("run", ["--block", "likely", "--temperature", "3"], CHANGES),
        ("run", ["--block", "nothing"], "no generate block 'nothing'"), ("run", ["--greedy"], CHANGES),
        ("run", ["--greedy", "--top-k", "3"], "are for sampling"), ("run", ["--temperature", "9"], CHANGES),
        ("run", ["--top-k", "1"], CHANGES), ("run", ["--top-p", "0.01"], CHANGES),
        ("run", ["--beam", "2"], CHANGES), ("run", ["--beam", "2", "--greedy"], "--beam draws nothing"),
        ("run", ["--block", "searched", "--alpha", "9"], CHANGES), ("run", ["--alpha", "1"], "of a beam search; pass --beam"),
        ("run", ["--beam", "9223372036854775807"], "goes on with 1 to 1000000 texts"),
        ("run", ["--beam", "2", "--alpha", "nan"], "alpha"), ("run", ["--beam", "2", "--alpha", "1e308"], "from -10 to 10"),
        ("run", ["--length", "9223372036854775807"], "symbols from 0 to"),
        ("run", ["--threads", "1025"], "from 1 to 1024"),
        ("run", ["--block", "searched", "--json"], CHANGES), ("run", ["--block", "searched", "--batch", "2"], CHANGES),
        ("run", ["--input", "x=@ids.npy"], "x"),
        ("run", ["--block", "searched", "--sources", "text.txt"], "reads neither src"),
        ("run", ["--length", "3"], CHANGES), ("run", ["--stop", ""], "is neither"), ("run", ["--stop", "e"], None),
        ("run", ["--stop-symbol", "101"], None), ("run", ["--stop", "e", "--stop-symbol", "101"], "excludes"),
        ("run", ["--start-symbol", "101"], "excludes"), ("run", ["--stop-symbol", "-1"], "must be a whole number"),
        ("run", ["--entry", "nothing"], "no entry 'nothing'"),
        ("run", ["--prompt-file", "text.txt"], "both give the prompt"), ("run", ["--vocab", "words.txt"], None),
        (COMPILED, ["--bind", "T=5"], "--bind is for a specification")],
    "export": [row for row in MODEL if row[1][0] not in ("--bind", "--set", "--target", "--f64", "--numerics")] +
    SOURCES + STEP + [
        ("run", ["--names", "hf"], CHANGES), ("run", ["--weight-names", "hf"], "--weight-names says whose names"),
        ("run", ["--names", "nothing"], "nothing"),
        ("run", ["--shard-size", "1kB"], "writes several files"),
        (COMPILED, ["--bind", "T=5"], "parameters do not depend on sizes of a call"), ("run", ["--set", "D=5"], "do not fit"),
        ("run", ["--f64"], CHANGES), ("bare-run", ["--f64"], "keeps no specification"), ("run", ["--target", "cpu"], None),
        ("run", ["--threads", "2"], "unknown option --threads"), ("run", ["--tier", "portable"], "unknown option --tier")],
    "init": [row for row in MODEL if row[1][0] not in ("--bind", "--numerics")] + [
        ("model", ["--seed", "3"], CHANGES), ("model", ["--names", "hf"], CHANGES),
        (COMPILED, ["--bind", "T=5"], "parameters do not depend on sizes of a call"),
        ("model", ["--tier", "portable"], "unknown option --tier")],
    "inspect": MODEL + [("model", ["--tier", "portable"], CHANGES), ("model", ["--bind", "T=5"], CHANGES),
                        ("model", ["--entry", "eval"], CHANGES), ("model", ["--entry", "nothing"], "no entry 'nothing'"),
                        ("model", ["--json"], CHANGES), ("model", ["--graph"], "--graph draws a specification"),
                        ("run", ["--graph"], "--graph draws a specification"),
                        ("model", ["--ptx"], "--ptx is for the kernels of an artifact for a GPU"),
                        ("model", ["--chip", "sm_90"], "--chip is for the kernels of an artifact for a GPU")],
    # What the options of --attention change is in attention.test: this model attends to nothing.
    "plot": [("run", ["--log"], CHANGES), ("run", ["--smooth", "2"], CHANGES),
             ("run", ["--smooth", "0"], "must be a whole number"), ("bare-run", ["--attention"], "keeps no specification"),
             ("run", ["--attention", "--log"], "excludes"), ("run", ["--attention", "--length", "1"], "must be a whole number"),
             ("run", ["--attention", "--task", "nothing"], "the recipe has no `tasks`"),
             ("run", ["--attention", "--prompt", "a", "--text", "text.txt"], "excludes"),
             *(("run", [option, "2"], "requires --attention") for option in ("--prompt", "--text", "--window", "--length",
                                                                             "--checkpoint"))],
    "runs": [("run", ["--json"], CHANGES)],
    "train": [row for row in MODEL if row[0] != COMPILED] + TIER[1:] + [
        ("model", [option, value], f"{option} {NEEDS}")
        for option, value in (("--model", "Small"), ("--recipe", "small"))] + [
        ("model", ["--set", "D=4"], CHANGES),
        ("model", ["--f64"], CHANGES), ("model", ["--numerics", "bf16"], CHANGES), ("model", ["--target", "cpu"], None),
        ("model", ["--threads", "0"], "must be a whole number"), ("model", ["--text", "other.txt"], CHANGES),
        ("model", ["--data", "nowhere"], "nowhere/text.txt"),
        ("model", ["--held-out", "0.3", "--valid-text", "other.txt"], "excludes"), ("model", ["--valid-every", "1"], CHANGES),
        ("model", ["--held-out", "0", "--valid-every", "1"], "there is no text to evaluate on"),
        ("model", ["--vocab", "words.txt", "--text", "words.txt", "--held-out", "0"], CHANGES),
        ("model", ["--vocab", "words.txt", "--unit", "bytes"], "excludes"), ("model", ["--unit", "characters"], CHANGES),
        ("model", ["--steps", "1"], CHANGES), ("model", ["--minutes", "0"], "must be a number above 0"),
        ("model", ["--seconds", "0"], "must be a number above 0"),
        ("model", ["--seconds", "9", "--minutes", "9"], "excludes"), ("model", ["--seed", "4"], CHANGES),
        ("model", ["--checkpoint-every", "1"], CHANGES), ("model", ["--keep", "1"], CHANGES),
        ("model", WEIGHTS, CHANGES), ("model", ["--names", "hf"], "it needs --weights"),
        ("model", ["--partial"], "it needs --weights"), ("model", ["--from", "2"], "there is no run in"),
        ("model", ["--from", "2", "--fresh"], "excludes"), ("model", ["--from", "2", *WEIGHTS], "excludes"),
        ("model", ["--tensorboard"], CHANGES), ("model", ["--out", "run", "--fresh", "--from", "2"], "excludes")],
}
FLAGS_OF_ALL = {"--help"}
INSIDE = {"train": {"--out", "--quiet"}, "run": {"--output"}, "grad": {"--output", "--input", "--weights"},
          "generate": {"--prompt"}, "export": {"--output"}, "init": {"--output"},
          "eval": set(), "inspect": set(), "plot": {"--output"}, "runs": set()}  # what every call has, or shows in others


class Calls:
    def __init__(self):
        self.known, self.number = {}, 0

    def call(self, command, way, more):
        """Exit status, stderr, and all that the command has said and written. A call is made once."""
        key = (command, way, *more)
        if key not in self.known:
            self.known[key] = self.make(command, way, more)
        return self.known[key]

    def make(self, command, way, more):
        self.number += 1
        out = f"out{self.number}"
        source = "small.tn" if way == "spec" else way
        base = [word.replace("OUT", out).replace("NEW", out) for word in BASE[command]
                if not (command == "train" and "--out" in more and word in ("--out", "NEW"))]
        if command in ("run", "eval", "generate", "grad", "export") and not way.endswith("run") and "--init" not in more:
            base += WEIGHTS
        if command in ("eval", "train") and way == "spec" and "--recipe" not in more:
            base += ["--recipe", "small"]
        if command == "eval" and not way.endswith("run") and "--text" not in more:
            base += ["--text", "text.txt"]
        if command == "inspect" and way == "model" and "--bind" not in more:
            base += ["--bind", "T=8"]
        done = subprocess.run(["tenon", command, source, *base, *more], capture_output=True, text=True, check=False,
                              errors="replace")
        # Which tiers of those that a model has the processor lacks; what is compiled anew has one alone.
        shown = re.sub(r"^(tier in use: \S+) \(.*\)$", r"\1", done.stdout, flags=re.M)
        return done.returncode, done.stderr, (shown, *sorted(contents(out)))


def contents(name):
    """What a command has written under a name: files with their bytes, of runs those that times do not change."""
    for root, folders, files in os.walk(name):
        for file in files + folders:
            path = os.path.join(root, file)
            data = b""
            if os.path.isfile(path) and file.endswith((".safetensors", ".json")) and file != "manifest.json":
                with open(path, "rb") as opened:
                    data = opened.read()
            yield os.path.relpath(path, name), data
    for path in (name, name + ".safetensors", name + ".svg"):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                yield "", file.read()


def wrong(calls, command, way, more, expected):
    status, said, found = calls.call(command, way, more)
    if expected is None:
        return None if status in (0, 3) or "Other" in more else f"status {status}: {said}"
    if expected in (CHANGES, SAME):
        before = calls.call(command, way, [])
        if before[0] or status:
            return f"status {before[0]} and {status}: {before[1]}{said}"
        if (found == before[2]) == (expected == CHANGES):
            return f"what it gives is {'the same' if expected == CHANGES else 'another'}"
        return None
    return None if status in (1, 2, 3) and expected in said else f"status {status}, expected a refusal with {expected!r}: {said}"


def options_of(command):
    text = subprocess.run(["tenon", command, "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^ +(?:-\w, )?(--[a-z0-9-]+)", text, re.M)) - FLAGS_OF_ALL


def main():
    os.makedirs(sys.argv[1], exist_ok=True)
    os.chdir(sys.argv[1])
    text = "the cat sat on the mat and the dog ate the rat in the hat.\n" * 8
    for name, content in (("small.tn", SPEC), ("text.txt", text), ("other.txt", text[::-1]),
                          ("words.txt", "\n".join(["<pad>", "<unk>", "t", "h", "e", "</s>"] +
                                                  [chr(c) for c in range(97, 123) if chr(c) not in "the"]) + "\n")):
        with open(name, "w", encoding="utf-8") as file:
            file.write(content)
    save_npy("ids.npy", tensor("i32", [[1, 2, 3, 4], [5, 6, 7, 8]]))
    for call in (["compile", "small.tn", "--recipe", "small", "-o", "model"],
                 ["compile", "small.tn", "--recipe", "small", "--name", "bare", "--without-sources", "-o", "bare"],
                 ["train", "model", "--out", "run", "--quiet", "--threads", "1"],
                 ["train", "bare", "--out", "bare-run", "--quiet", "--threads", "1"],
                 ["init", "model", "--seed", "9", "-o", "w.safetensors"],
                 ["init", "model", "--seed", "9", "--names", "hf", "-o", "hf.safetensors"]):
        subprocess.run(["tenon", *call], check=True, capture_output=True)
    with open("w.safetensors", "rb") as file, open("part.safetensors", "wb") as part:
        part.write(file.read().replace(b'"emb"', b'"bme"'))
    calls, findings = Calls(), 0
    for command, rows in ROWS.items():
        for ways, more, expected in rows:
            for way in ways.split():
                if mistake := wrong(calls, command, way, more, expected):
                    findings += 1
                    print(f"WRONG: {command} {way} {' '.join(more)}: {mistake}")
        tried = {word for _, more, _ in rows for word in more if word.startswith("--")} | INSIDE[command]
        for option in sorted(options_of(command) - tried):
            findings += 1
            print(f"WRONG: {command} {option}: no row tries it")
    print(f"{calls.number} calls, {findings} findings")
    return 1 if findings else 0


sys.exit(main())
