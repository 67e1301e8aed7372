"""What nothing may destroy in a run directory, seen from outside: runs.py MODEL TEXT FOLDER."""
import json
import os
import shutil
import subprocess
import sys
import time

model, text, folder = sys.argv[1:]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
run = os.path.join(folder, "run")
metrics = os.path.join(run, "metrics.jsonl")
source = os.path.join(folder, "text.txt")
shutil.copy(text, source)


def tenon(*arguments, status=0, **more):
    done = subprocess.run(["tenon", *arguments], stderr=subprocess.PIPE, stdout=subprocess.PIPE, check=False, **more)
    message = done.stderr.decode(errors="replace")
    if done.returncode != status:
        raise SystemExit(f"WRONG: {arguments} gave {done.returncode}, not {status}: {message}")
    return message


def steps():
    """Of training; evaluations have lines of their own."""
    with open(metrics, encoding="utf-8") as file:
        return [line["step"] for line in map(json.loads, file) if "loss" in line]


def require(truth, what):
    if not truth:
        raise SystemExit("WRONG: " + what)


# Two trainings: the second is refused and changes nothing; readers go on beside the first.
train = ["train", model, "--text", source, "--out", run, "--quiet", "--held-out", "0.1234567890123456", "--checkpoint-every", "5",
         "--keep", "1"]
first = subprocess.Popen(["tenon", *train, "--steps", "1000000000"])
checkpoints = os.path.join(run, "checkpoints")
while not (os.path.isdir(checkpoints) and os.listdir(checkpoints) and os.path.getsize(metrics) > 5000):
    require(first.poll() is None, "the first training ended by itself")
    time.sleep(0.001)
message = tenon(*train, "--steps", "20", status=2)
print(message.replace(str(first.pid), "PID"), end="")
message = tenon("train", run, "--fresh", "--quiet", "--steps", "20", status=2)
require(f"process {first.pid} " in message, "a fresh start beside a training: " + message)
for _ in range(5):  # with one checkpoint that is replaced all the time
    tenon("eval", run, "--batches", "1")
require(first.poll() is None, "the first training ended by itself")
first.kill()
first.wait()
tenon(*train, "--steps", "1")  # it has more already: reads only
require(steps() == list(range(1, len(steps()) + 1)), "steps are lost or interleaved")
done = len(steps())
print("one training at a time")

# The share that is held out, to the last digit.
with open(os.path.join(run, "run.json"), encoding="utf-8") as file:
    require(json.load(file)["held_out"] == 0.1234567890123456, "held_out is not what was given")

# One damaged line costs one line.
with open(metrics, encoding="utf-8") as file:
    lines = file.readlines()
lines[1] = lines[1][: len(lines[1]) // 2] + "\n"
with open(metrics, "w", encoding="utf-8") as file:
    file.writelines(lines)
message = tenon("train", run, "--quiet", "--steps", str(done + 5))
require("1 damaged line is left out, line 2" in message and "metrics.jsonl.1" in message, message)
require(steps() == [1, *range(3, done + 6)], "more than the damaged line is gone")
print("one damaged line costs one line")

# Another text under the same path is said, once.
with open(source, "a", encoding="utf-8") as file:
    file.write("more of it\n" * 20)
message = tenon("eval", run, "--batches", "1")
require(f"{source} has {os.path.getsize(source)} bytes, before {os.path.getsize(text)}" in message, message)
message = tenon("train", run, "--quiet", "--steps", str(done + 6))
require(f"{source} has {os.path.getsize(source)} bytes, before {os.path.getsize(text)}" in message, message)
message = tenon("train", run, "--quiet", "--steps", str(done + 7))
require("the data are not" not in message, message)
print("a changed text is said")

# A path of any bytes.
strange = os.path.join(os.fsencode(folder), b"caf\xe9.txt")
shutil.copy(os.fsencode(text), strange)
other = os.path.join(folder, "other")
tenon("train", model, "--text", strange, "--out", other, "--quiet", "--steps", "3")
tenon("train", other, "--quiet", "--steps", "5")
tenon("eval", other, "--batches", "1")
print("a path that is not UTF-8 comes back")
