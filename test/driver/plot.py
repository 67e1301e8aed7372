"""Runs without models for plot.test, and whether the pictures show their numbers. plot.py make|check|short FOLDER, plot.py dots
PICTURE"""
import json
import os
import re
import sys
import xml.etree.ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"


def loss_at(step):
    return 1 + 4 / step


def make(folder):
    for name in "abc":
        os.makedirs(os.path.join(folder, "runs", name, "model"))
        os.makedirs(os.path.join(folder, "runs", name, "checkpoints"))
    for step in (5000, 1000):
        os.makedirs(os.path.join(folder, "runs", "a", "checkpoints", f"step-{step}"))
    with open(os.path.join(folder, "runs", "a", "metrics.jsonl"), "w", encoding="utf-8") as file:
        for step in range(1, 5001):
            loss = None if step == 2000 else loss_at(step)
            file.write(json.dumps({"step": step, "loss": loss, "lr": 1e-4 * step / 5000, "tokens_per_second": 2000,
                                   "seconds": step}) + "\n")
            if step % 1000 == 0:
                file.write(json.dumps({"step": step, "valid_nll": 1.25, "valid_seconds": 3}) + "\n")
    with open(os.path.join(folder, "runs", "b", "metrics.jsonl"), "w", encoding="utf-8") as file:
        file.write('{"step": 1, "loss": 2}\n{"step": 2, "lo\n[]\n{"step": 2, "loss": 1}\n{"step": 3, "loss": 3}\n{"step": '
                   '4, "loss": 3')
    open(os.path.join(folder, "runs", "c", "metrics.jsonl"), "w", encoding="utf-8").close()


def panels(picture):
    """Title of each panel and its curves: class of the run, and points."""
    found = {}
    for group in picture.findall(f"{SVG}g[@transform]"):
        title = next(text.text for text in group.findall(f"{SVG}text") if text.get("class") == "title")
        curves = [(curve.get("class"), [[tuple(map(float, point.split(","))) for point in line.get("points").split()]
                                        for line in curve.findall(f"{SVG}polyline")])
                  for curve in group.findall(f"{SVG}g")]
        labels = {text.text: float(text.get("y")) - 4 for text in group.findall(f"{SVG}text") if text.get("class") == "tick"
                  and text.get("text-anchor") == "end"}
        found[title] = curves, labels
    return found


def follows(curves, labels):
    """The raw curve of the loss goes through the pixels of its numbers; it has a gap at step 2000."""
    (low, low_y), (high, high_y) = sorted((float(text), y) for text, y in labels.items())[::len(labels) - 1]
    raw = next(lines for name, lines in curves if "faint" in name)
    if len(raw) != 2:
        return False
    left, right = raw[0][0][0], raw[1][-1][0]
    for line in raw:
        for x, y in line:
            step = 1 + (x - left) / (right - left) * 4999
            value = low + (y - low_y) / (high_y - low_y) * (high - low)
            if not loss_at(step + 8) - 0.03 <= value <= loss_at(max(1, step - 8)) + 0.03:
                return False
    return True


def short(folder):
    """Ten steps, two evaluations."""
    with open(os.path.join(folder, "metrics.jsonl"), "w", encoding="utf-8") as file:
        for step in range(1, 11):
            file.write(json.dumps({"step": step, "loss": loss_at(step)}) + "\n")
            if step % 5 == 0:
                file.write(json.dumps({"step": step, "valid_nll": loss_at(step) + 1}) + "\n")


def dots(path):
    """How many points of each curve are drawn as dots."""
    for group in xml.parse(path).getroot().findall(f"{SVG}g[@transform]"):
        title = next(text.text for text in group.findall(f"{SVG}text") if text.get("class") == "title")
        print(f"{title}: {[len(curve.findall(f'{SVG}circle')) for curve in group.findall(f'{SVG}g')]}")


def check(folder):
    one = panels(xml.parse(os.path.join(folder, "runs", "a", "plot.svg")).getroot())
    print("one run:", ", ".join(one))
    with open(os.path.join(folder, "all.html"), encoding="utf-8") as file:
        text = file.read()
    if re.search(r"(src|href)=|https?://(?!www\.w3\.org/2000/svg)", text):
        print("WRONG: the page needs something from outside")
    three = panels(xml.fromstring(text[text.index("<svg"):text.index("</svg>") + 6]))
    print("three runs:", ", ".join(three))
    curves, labels = one["training loss"]
    print("points follow the numbers" if follows(curves, labels) else "WRONG")
    spoiled = [(name, [[(x, y - 12) for x, y in line] for line in lines]) for name, lines in curves]
    print("WRONG" if follows(spoiled, labels) else "a number that is changed is noticed")


{"make": make, "check": check, "short": short, "dots": dots}[sys.argv[1]](sys.argv[2])
