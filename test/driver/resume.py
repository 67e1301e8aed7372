"""Training that is interrupted, against training that is not: the checkpoints must have the same bytes, the lines of metrics the
same numbers, and the best evaluation and what counts for patience must be the same.

resume.py MODEL TEXT FOLDER kill [SEED]     twelve kills of one run: four inside saves, four in the middle of a line of metrics,
                                            four in the middle of a step; then on to the end. Every kill must happen, and the run
                                            they happen in is compared
resume.py MODEL TEXT FOLDER back [SEED]     a run that goes back (--from) and is killed at each system call of doing so, and at
                                            random places of the steps that follow; then on to the end. It ends as one that goes
                                            back undisturbed, and what it had stays
resume.py MODEL TEXT FOLDER signal          SIGTERM: exit 75, then on to the end
resume.py MODEL TEXT FOLDER tier TIER       SIGTERM, then on to the end with the code of another tier
resume.py MODEL TEXT FOLDER spoil WHAT      one bit of the final checkpoint, a number of an evaluation or the best evaluation is
                                            changed: the comparison must fail
Needs TENON_CRASH_LIBRARY (crash_at.c) to kill.
"""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

EVERY = 3
# A process that is killed in its sixth line or before has done six steps at most: twelve of them cannot come to the end.
KILLS, LINES = 12, 6
STEPS = KILLS * LINES + 9
BACK = STEPS - 12 # where a run goes back to
TIMES = ("tokens_per_second", "seconds", "peak_memory", "valid_seconds")


def command(model, text, run, *more, keep=2):
    return ["tenon", "train", model, "--text", text, "--out", run, "--steps", str(STEPS), "--checkpoint-every", str(EVERY),
            "--keep", str(keep), "--held-out", "0.1", "--valid-every", "4", "--threads", "2", "--quiet", *more]


def checkpoint(folder):
    """Every file of a checkpoint but its manifest, whose wall-clock time differs; of that what it says of the best evaluation."""
    files = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            if name.endswith(".safetensors"):
                files[name] = file.read()
            else:
                files["best evaluation"] = json.load(file)["body"]["metadata"].get("best")
    return files


def contents(run):
    """The last checkpoint, the best one by its step if the run keeps one, and the lines of metrics without times."""
    checkpoints = os.path.join(run, "checkpoints")
    files = checkpoint(os.path.join(checkpoints, f"step-{STEPS}"))
    best = os.path.join(checkpoints, "best")
    for step in sorted(os.listdir(best)) if os.path.isdir(best) else []:
        files.update({f"best/{step}/{name}": value for name, value in checkpoint(os.path.join(best, step)).items()})
    with open(os.path.join(run, "metrics.jsonl"), encoding="utf-8") as file:
        lines = [{key: value for key, value in json.loads(line).items() if key not in TIMES} for line in file]
    steps = [line["step"] for line in lines if "loss" in line]
    if steps != list(range(1, STEPS + 1)):
        raise SystemExit(f"WRONG: metrics.jsonl has the steps {steps}")
    evaluated = [line["step"] for line in lines if "loss" not in line]
    if evaluated != [*range(4, STEPS, 4), STEPS]:
        raise SystemExit(f"WRONG: metrics.jsonl has evaluations of the steps {evaluated}")
    return files, lines


def crash(model, text, run, plan, log, *more, **settings):
    """One process that is killed as planned. Returns where, in the words of the library."""
    environment = {**os.environ, "LD_PRELOAD": os.environ["TENON_CRASH_LIBRARY"], "TENON_CRASH": plan, "TENON_CRASH_LOG": log}
    status = subprocess.run(command(model, text, run, *more, **settings), env=environment, stderr=subprocess.DEVNULL,
                            check=False).returncode
    if status != -signal.SIGKILL:
        raise SystemExit(f"WRONG: {plan} did not kill; the exit status is {status}")
    with open(log, encoding="utf-8") as file:
        return file.read().splitlines()[-1]


def kill_often(model, text, run, seed):
    draw, log = random.Random(seed), run + ".log"
    calls = int(crash(model, text, run + ".count", "count", log).split()[1])
    plans = [f"save:{int(calls * (k + draw.random()) / 4)}" for k in range(4)]  # one in each quarter of a save
    plans += [f"line:{draw.randint(1, LINES)}" for _ in range(3)]
    plans += [f"step:{draw.randint(1, LINES - 1)}:{draw.randint(0, 1500)}" for _ in range(4)]
    draw.shuffle(plans)
    # The first comes behind a checkpoint, so that all others have one to lose.
    places = [crash(model, text, run, plan, log) for plan in [f"line:{LINES}", *plans]]
    subprocess.run(command(model, text, run), check=True)
    inside = [place for place in places if place.startswith("save")]
    print(f"seed {seed}: {len(places)} kills, {len(inside)} inside a save of {calls} calls: {', '.join(inside)}")


def kept(run):
    """Every checkpoint that a run has under any name, as its contents."""
    return [checkpoint(os.path.join(root, name)) for root, folders, _ in os.walk(run) for name in folders
            if name.startswith("step-") and not name.endswith(".tmp")]


def go_back(model, text, folder, seed):
    """`whole` goes back undisturbed; of a copy of the same run for each call, one is killed at that call and another one later.
    Names of the pair that is compared."""
    draw = random.Random(seed)
    base, whole, parts, log = (os.path.join(folder, name) for name in ("base", "whole", "parts", "log"))

    def train(run, *more):
        subprocess.run(command(model, text, run, *more, keep=6), stderr=subprocess.DEVNULL, check=True)

    train(base)
    had = kept(base)
    shutil.copytree(base, whole)
    train(whole, "--from", str(BACK))
    shutil.copytree(base, parts)
    calls = int(crash(model, text, parts, "count-any", log, "--from", str(BACK), keep=6).split()[1])
    places = []
    for number in range(calls):
        shutil.rmtree(parts)
        shutil.copytree(base, parts)
        places.append(crash(model, text, parts, f"any:{number}", log, "--from", str(BACK), keep=6))
        gone = max(int(name[5:]) for name in os.listdir(os.path.join(parts, "checkpoints"))
                   if re.fullmatch("step-[0-9]+", name)) == BACK
        # Who sees that it has gone back may go on, everybody may say the same again.
        again = [] if gone and number % 2 else ["--from", str(BACK)]
        if number % 5 == 0:
            plan = draw.choice([f"line:{draw.randint(1, 6)}", f"step:{draw.randint(1, 6)}:{draw.randint(0, 1500)}"])
            crash(model, text, parts, plan, log, *again, keep=6)
            again = []
        train(parts, *again)
        compare(whole, parts)
        lost = [files for files in had if files not in kept(parts)]
        if lost:
            raise SystemExit(f"WRONG: killed at {places[-1]}, and {len(lost)} of {len(had)} checkpoints are gone")
    print(f"seed {seed}: {calls} kills on the way back, among them "
          f"{', '.join(place for place in places if 'exchange' in place or 'rename' in place)}")


def stop_once(model, text, run, environment=None):
    for _ in range(50):
        process = subprocess.Popen(command(model, text, run))
        # The number of the newest checkpoint is not waited for: on a loaded machine all of them may have come and gone between
        # two looks.
        while process.poll() is None and not os.path.isdir(os.path.join(run, "checkpoints")):
            time.sleep(0.001)
        process.send_signal(signal.SIGTERM)
        status = process.wait()
        if status == 75:
            subprocess.run(command(model, text, run), check=True, env={**os.environ, **(environment or {})})
            return
        if status != 0:
            raise SystemExit(f"WRONG: SIGTERM gave the exit status {status}")
        shutil.rmtree(run)  # it was faster: once more
    raise SystemExit("WRONG: training was never slow enough to be stopped")


def replace(path, old, new):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(old, new, text, count=1))


def spoil(run, what):
    last = os.path.join(run, "checkpoints", f"step-{STEPS}")
    if what == "evaluation":
        replace(os.path.join(run, "metrics.jsonl"), r'("valid_nll": )[0-9.]+', r"\g<1>1.5")
    elif what == "patience":
        replace(os.path.join(last, "manifest.json"), r'("since": )[0-9]+', r"\g<1>77")
    else:
        with open(os.path.join(last, "moment1.safetensors"), "r+b") as file:
            file.seek(-1, os.SEEK_END)
            byte = file.read(1)[0]
            file.seek(-1, os.SEEK_END)
            file.write(bytes([byte ^ 1]))


def compare(whole, parts):
    (files, lines), (other_files, other_lines) = contents(whole), contents(parts)
    for name, value in files.items():
        if other_files.get(name) != value:
            raise SystemExit(f"WRONG: {name} differs")
    if files.keys() != other_files.keys():
        raise SystemExit(f"WRONG: one has {', '.join(sorted(files.keys() ^ other_files.keys()))}")
    for line, other in zip(lines, other_lines, strict=True):
        if line != other:
            raise SystemExit(f"WRONG: the metrics differ: {line}, {other}")
    return files


def main():
    model, text, folder, how = sys.argv[1:5]
    shutil.rmtree(folder, ignore_errors=True)
    whole, parts = os.path.join(folder, "whole"), os.path.join(folder, "parts")
    os.makedirs(folder)
    if how == "back":
        go_back(model, text, folder, int(sys.argv[5]) if len(sys.argv) > 5 else random.SystemRandom().randrange(1 << 32))
        return
    subprocess.run(command(model, text, whole), check=True)
    if how == "kill":
        kill_often(model, text, parts, int(sys.argv[5]) if len(sys.argv) > 5 else random.SystemRandom().randrange(1 << 32))
    elif how in ("signal", "tier"):
        stop_once(model, text, parts, {"TENON_TIER": sys.argv[5]} if how == "tier" else None)
    else:
        shutil.copytree(whole, parts)
        spoil(parts, sys.argv[5])
    files = compare(whole, parts)
    print("same bytes:", ", ".join(name for name in files if name.endswith(".safetensors") and "/" not in name))
    if files["best evaluation"]:
        print("same best:", ", ".join(sorted({name.split("/")[1] for name in files if "/" in name})))


main()
