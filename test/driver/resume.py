"""Training that is interrupted, against training that is not: the checkpoints must have the same bytes.

resume.py MODEL TEXT FOLDER kill [SEED]     kill -9 at random moments, ten of them and at least three inside a save, then on to the end
resume.py MODEL TEXT FOLDER signal          SIGTERM: exit 75, then on to the end
resume.py MODEL TEXT FOLDER tier TIER       SIGTERM, then on to the end with the code of another tier
resume.py MODEL TEXT FOLDER spoil           one bit of the final checkpoint is changed: the comparison must fail
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

STEPS = 120


def command(model, text, run, *more):
    return ["tenon", "train", model, "--text", text, "--out", run, "--steps", str(STEPS), "--checkpoint-every", "3", "--keep", "2",
            "--threads", "1", "--quiet", *more]


def contents(run):
    """Every file of the last checkpoint but its manifest, whose wall-clock time differs; and the losses."""
    folder = os.path.join(run, "checkpoints", f"step-{STEPS}")
    files = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".safetensors"):
            with open(os.path.join(folder, name), "rb") as file:
                files[name] = file.read()
    with open(os.path.join(run, "metrics.jsonl"), encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    steps = [(line["step"], line["loss"]) for line in lines if "loss" in line]
    if [step for step, _ in steps] != list(range(1, STEPS + 1)):
        raise SystemExit(f"WRONG: metrics.jsonl has the steps {[step for step, _ in steps]}")
    return files, steps


def saving(run):
    """Whether a checkpoint is being written at this moment."""
    try:
        return any(name.endswith(".tmp") for name in os.listdir(os.path.join(run, "checkpoints")))
    except FileNotFoundError:
        return False


def kill_often(model, text, run, seed):
    draw, kills, inside = random.Random(seed), 0, 0
    for _ in range(200):
        process = subprocess.Popen(command(model, text, run))
        want_save = inside < 3 and kills % 2 == 0
        until = time.monotonic() + draw.uniform(0.02, 0.25)
        while process.poll() is None and not (saving(run) if want_save else time.monotonic() > until):
            time.sleep(0 if want_save else 0.002)
        if process.poll() is None:
            process.kill()
            process.wait()
            kills += 1
            inside += saving(run)
        elif process.returncode != 0:
            raise SystemExit(f"WRONG: exit status {process.returncode} after {kills} kills")
        elif kills >= 10 and inside >= 3:
            return kills, inside
        else:
            shutil.rmtree(run)  # finished too early: once more from the start
    raise SystemExit(f"WRONG: only {kills} kills, {inside} inside a save")


def stop_once(model, text, run, environment=None):
    for _ in range(50):
        process = subprocess.Popen(command(model, text, run))
        # The number of the newest checkpoint is not waited for: on a loaded machine all of them may have come and gone between two looks.
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


def main():
    model, text, folder, how = sys.argv[1:5]
    shutil.rmtree(folder, ignore_errors=True)
    whole, parts = os.path.join(folder, "whole"), os.path.join(folder, "parts")
    os.makedirs(folder)
    subprocess.run(command(model, text, whole), check=True)
    if how == "kill":
        print("%d kills, %d inside a save" % kill_often(model, text, parts, int(sys.argv[5]) if len(sys.argv) > 5 else 1))
    elif how in ("signal", "tier"):
        stop_once(model, text, parts, {"TENON_TIER": sys.argv[5]} if how == "tier" else None)
    else:
        shutil.copytree(whole, parts)
        path = os.path.join(parts, "checkpoints", f"step-{STEPS}", "moment1.safetensors")
        with open(path, "r+b") as file:
            file.seek(-1, os.SEEK_END)
            last = file.read(1)[0]
            file.seek(-1, os.SEEK_END)
            file.write(bytes([last ^ 1]))
    (files, steps), (other_files, other_steps) = contents(whole), contents(parts)
    for name, value in files.items():
        if other_files.get(name) != value:
            raise SystemExit(f"WRONG: {name} differs")
    if steps != other_steps or len(files) != 4:
        raise SystemExit("WRONG: the losses differ")
    print("same bytes:", ", ".join(files))


main()
