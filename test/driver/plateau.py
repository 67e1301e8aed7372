"""Learning rates of a run by schedule = plateau against its evaluations.

plateau.py RUN PATIENCE  each rate is 0.5^k of 8, k how often more than PATIENCE evaluations in a row were no better
plateau.py same RUN OTHER        both have the same rates and losses
"""
import json
import os
import sys


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


def main():
    if sys.argv[1] == "same":
        a, b = ([[line.get(key) for key in ("step", "loss", "lr", "valid_nll")] for line in lines(run) if "lr" in line]
                for run in sys.argv[2:])
        return print("same") if a == b else sys.exit("WRONG: they differ")
    return check(sys.argv[1], int(sys.argv[2]))


if __name__ == "__main__":
    main()
