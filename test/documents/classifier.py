"""Lines with labels for the classifier of the cookbook: speech in quotes, or prose. classifier.py DOCUMENT FOLDER writes its
specification and its data."""
import json
import os
import random
import re
import sys

WORDS = ("the door was open and she went out to see who had come but there was nobody in the long dark street so he sat down "
         "again".split())


def line(draw):
    text = " ".join(draw.choice(WORDS) for _ in range(draw.randint(4, 9)))
    return {"text": f'"{text}?" she said', "label": "dialogue"} if draw.random() < 0.5 else {"text": text, "label": "prose"}


def main(document, folder):
    with open(document, encoding="utf-8") as file:
        block = next(found for found in re.findall(r"^```tenon\n(.*?)^```", file.read(), re.M | re.S)
                     if found.startswith("model Classifier"))
    with open(os.path.join(folder, "labels.tn"), "w", encoding="utf-8") as file:
        file.write(block)
    draw = random.Random(1)
    with open(os.path.join(folder, "lines.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line(draw)) + "\n" for _ in range(400))


main(*sys.argv[1:])
