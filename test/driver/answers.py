"""Questions about texts of small letters with one capital, which is the answer. answers.py FOLDER [--check PREDICTIONS] [--some]

--some: every third text has no capital, and its question no answer."""
import json
import os
import random
import string
import sys

COUNTS = {"train": 400, "held": 40}


def made(part, some):
    draw = random.Random(part)
    for number in range(COUNTS[part]):
        letters = [draw.choice(string.ascii_lowercase + " ") for _ in range(draw.randrange(12, 50))]
        place, answers = draw.randrange(len(letters)), {"text": [], "answer_start": []}
        if not some or number % 3:
            letters[place] = draw.choice("BCDEFGHIJKLMNOPQRSTUVWXYZ")  # no article
            answers = {"text": [letters[place]], "answer_start": [place]}
        yield {"id": f"{part} {number}", "context": "".join(letters), "question": "who", "answers": answers}


def main(folder, *options):
    some = "--some" in options
    if "--check" in options:
        with open(options[options.index("--check") + 1], encoding="utf-8") as file:
            found = json.load(file)
        right = sum(found.get(each["id"]) == (each["answers"]["text"] or [""])[0] for each in made("held", some))
        print(f"{right} of {len(found)} right")
        return
    for part in COUNTS:
        with open(os.path.join(folder, part + ".jsonl"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(each) + "\n" for each in made(part, some))


main(*sys.argv[1:])
