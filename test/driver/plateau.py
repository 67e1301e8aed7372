"""Learning rates of a run by schedule = plateau against its evaluations.

plateau.py RUN PATIENCE  each rate is 0.5^k of 8, k how often more than PATIENCE evaluations in a row were no better
plateau.py same RUN OTHER        both have the same rates and losses
plateau.py stop RUN COMMAND      a signal cuts off an evaluation of the command that trains RUN, and the same command goes on
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import time


def lines(run):
    with open(os.path.join(run, "metrics.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def check(run, patience):
    best, waits, lowered = float("inf"), 0, 0
    for line in lines(run):
        if "lr" in line and abs(line["lr"] - 8 * 0.5 ** lowered) > 1e-6:
            sys.exit(f"WRONG: step {line['step']} has a rate of {line['lr']}, lowered {lowered} times")
        if "valid_nll" not in line or line["step"] % 2:
            continue
        if line["valid_nll"] < best * (1 - 1e-4):
            best, waits = line["valid_nll"], 0
        elif waits + 1 > patience:
            waits, lowered = 0, lowered + 1
        else:
            waits += 1
    if lowered < 3:
        sys.exit(f"WRONG: lowered {lowered} times: nothing is shown")
    print(f"lowered {lowered} times")


def written(run):
    try:
        return lines(run)
    except (OSError, ValueError):  # not there yet, or half a line
        return []


def stop(run, command):
    for attempt in range(50):
        process, target = subprocess.Popen(command, stdin=subprocess.DEVNULL), 10 + 2 * (attempt % 20)
        while process.poll() is None and not any(line["step"] >= target for line in written(run)):
            time.sleep(0.0005)
        process.send_signal(signal.SIGTERM)
        process.wait()
        last = lines(run)[-1]
        if process.returncode == 75 and last["step"] % 2 == 0 and "valid_nll" not in last:
            subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
            return print(f"cut off the evaluation of step {last['step']}")
        shutil.rmtree(run)
    sys.exit("WRONG: no signal came in an evaluation")


def main():
    if sys.argv[1] == "stop":
        return stop(sys.argv[2], sys.argv[3:])
    if sys.argv[1] == "same":
        a, b = ([[line.get(key) for key in ("step", "loss", "lr", "valid_nll")] for line in lines(run) if "lr" in line]
                for run in sys.argv[2:])
        return print("same") if a == b else sys.exit("WRONG: they differ")
    return check(sys.argv[1], int(sys.argv[2]))


if __name__ == "__main__":
    main()
