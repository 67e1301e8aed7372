"""For which tiers the commands compile a specification: code_of_tiers.py FOLDER [--spoil]

The manifest of what they compiled says it. --spoil expects all tiers where only the machine's best is compiled.
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tiers  # noqa: E402

folder = sys.argv[1]
spec, text = os.path.join(folder, "small.tn"), os.path.join(folder, "text.txt")
environment = {key: value for key, value in os.environ.items() if key not in ("TENON_TIER", "TENON_TEST_TIER")}
os.environ.pop("TENON_TEST_TIER", None)
BEST, OF_BF16 = tiers.best(), tiers.of_bf16()[0]
ALL = ["portable", "x86-64-v3", "x86-64-v4"]
ALL_OF_BF16 = ALL + ["x86-64-v4-bf16", "x86-64-v4-amx"]


def tenon(*words, tier=None):
    done = subprocess.run(["tenon", *words], env={**environment, **({"TENON_TIER": tier} if tier else {})}, capture_output=True,
                          text=True, check=False)
    if done.returncode:
        sys.exit(f"{words}: {done.stderr}")
    return done.stdout


def inspected(*words, tier=None):
    return json.loads(tenon("inspect", spec, "--json", *words, tier=tier))["target"]["tiers"]


def compiled(*words):
    out = os.path.join(folder, f"made-{len(os.listdir(folder))}")
    tenon("compile", spec, "-o", out, *words)
    with open(os.path.join(out, "small.json"), encoding="utf-8") as file:
        return json.load(file)["target"]["tiers"]


def trained(*words, tier=None):
    run = os.path.join(folder, f"run-{len(os.listdir(folder))}")
    tenon("train", spec, "--text", text, "--out", run, "--steps", "1", "--quiet", *words, tier=tier)
    with open(os.path.join(run, "model", "small.json"), encoding="utf-8") as file:
        return json.load(file)["target"]["tiers"]


with open(text, "w", encoding="utf-8") as file:
    file.write("some text, " * 50)
ROWS = [
    ("for itself", inspected(), ALL if "--spoil" in sys.argv else [BEST]),
    ("for itself, bf16", inspected("--numerics", "bf16"), [OF_BF16]),
    ("--tier portable", inspected("--tier", "portable"), ["portable"]),
    ("TENON_TIER=portable", inspected(tier="portable"), ["portable"]),
    ("--tier best with TENON_TIER=portable", inspected("--tier", "best", tier="portable"), [BEST]),
    ("an artifact", compiled(), ALL),
    ("an artifact, bf16", compiled("--numerics", "bf16"), ALL_OF_BF16),
    ("an artifact, --tier best", compiled("--tier", "best"), [BEST]),
    ("an artifact, --tier best, bf16", compiled("--numerics", "bf16", "--tier", "best"), [OF_BF16]),
    ("an artifact, --tier best --tier portable", compiled("--tier", "best", "--tier", "portable"),
     list(dict.fromkeys(["portable", BEST]))),
    ("a run", trained(), ALL),
    ("a run, --tier best", trained("--tier", "best"), [BEST]),
    ("a run, TENON_TIER=portable", trained(tier="portable"), ["portable"]),
]
wrong = [f"{what}: {', '.join(found)}, expected {', '.join(wanted)}" for what, found, wanted in ROWS if found != wanted]
for message in wrong:
    print("WRONG:", message)
print(f"{len(ROWS)} ways, {len(wrong)} wrong")
sys.exit(1 if wrong else 0)
