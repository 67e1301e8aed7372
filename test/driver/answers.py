"""Questions about texts of small letters with one capital, which is the answer. answers.py FOLDER [--check PREDICTIONS]"""
import json
import os
import random
import string
import sys


def made(part, count):
    draw = random.Random(part)
    for number in range(count):
        letters = [draw.choice(string.ascii_lowercase + " ") for _ in range(draw.randrange(12, 50))]
        place = draw.randrange(len(letters))
        letters[place] = draw.choice("BCDEFGHIJKLMNOPQRSTUVWXYZ")  # no article
        yield {"id": f"{part} {number}", "context": "".join(letters), "question": "who",
               "answers": {"text": [letters[place]], "answer_start": [place]}}


def main(folder, *options):
    if options:
        with open(options[1], encoding="utf-8") as file:
            found = json.load(file)
        right = sum(found.get(each["id"]) == each["answers"]["text"][0] for each in made("held", 40))
        print(f"{right} of {len(found)} right")
        return
    for part, count in (("train", 400), ("held", 40)):
        with open(os.path.join(folder, part + ".jsonl"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(each) + "\n" for each in made(part, count))


main(*sys.argv[1:])
