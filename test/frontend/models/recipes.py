"""Holds the published recipes of models/*.tn to a table: what the checker makes of their optimizer, schedule, clipping and sizes,
and which parameters it leaves out of the decay, by a pattern of the source over their public names.

    recipes.py MODELS-FOLDER TABLE SCRATCH-FOLDER [--print]

The table has blocks, separated by empty lines; every train recipe that is not called `small` has one:

    FILE MODEL RECIPE: source
      dims ..
      optimizer ..
      schedule ..
      clip ..
      rates .. (factors of groups, one per depth; or none)
      excluded PATTERN (a regular expression, searched in names; or none)

--print prints what the checker says, for a person to compare with the source.
"""
import os
import re
import subprocess
import sys

LATER = r"dialogues\(|model = |vectors = |ernie_masks\(.*tokens = "
KEYS = ("dims", "optimizer", "schedule", "clip", "rates")


def recipes(folder):
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            for model, recipe in re.findall(r"^train (\w+) as (\w+) ", file.read(), re.M):
                if recipe != "small":
                    yield name, model, recipe


def whole(folder, scratch):
    """The models with `data = caller` where data is not supported yet, which has no say in what is compared here."""
    os.makedirs(scratch, exist_ok=True)
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            text = file.read()
        text = re.sub(r"^  data +=.*\n(?: {12,}\S.*\n)*",
                      lambda data: "  data = caller\n" if re.search(LATER, data[0]) else data[0], text, flags=re.M)
        with open(os.path.join(scratch, name), "w", encoding="utf-8") as file:
            file.write(text)
    return scratch


def found(folder, name, model, recipe):
    command = ["tenon-recipe-table", os.path.join(folder, name), model, recipe, folder]
    answer = subprocess.run(command, capture_output=True, text=True)
    if answer.returncode:
        return f"is refused: {answer.stderr.strip()}", set(), set()
    lines = [line.partition(" ")[::2] for line in answer.stdout.splitlines()]
    return ({key: rest for key, rest in lines if key in KEYS}, {rest for key, rest in lines if key == "excluded"},
            {rest for key, rest in lines if key == "decayed"})


def table(path):
    with open(path, encoding="utf-8") as file:
        for block in re.sub(r"^#.*\n+", "", file.read(), flags=re.M).strip().split("\n\n"):
            head, *lines = block.split("\n")
            place, _, source = head.partition(": ")
            yield tuple(place.split()), source, dict(line.strip().partition(" ")[::2] for line in lines)


def compare(source, expected, settings, excluded, decayed):
    if isinstance(settings, str):
        return [settings]
    wrong = [f"{key} is {settings[key]}, {source} has {expected.get(key)}" for key in KEYS if settings[key] != expected.get(key)]
    rule = expected.get("excluded", "none")
    meant = {name for name in excluded | decayed if rule != "none" and re.search(rule, name)}
    wrong += [f"{name} is decayed, {source} has no decay of it" for name in sorted(meant - excluded)]
    wrong += [f"{name} is not decayed, {source} has decay of it" for name in sorted(excluded - meant)]
    return wrong if source else wrong + ["the table names no source"]


def main(folder, path, scratch, *words):
    rows = {place: (source, expected) for place, source, expected in table(path)} if os.path.exists(path) else {}
    known = set(recipes(folder))
    copies = whole(folder, scratch)
    count = 0
    for place in sorted(known | set(rows)):
        settings, excluded, decayed = found(copies, *place)
        if words:
            print(" ".join(place) + ":")
            print(settings if isinstance(settings, str) else "\n".join(f"  {key} {rest}" for key, rest in settings.items()))
            print("  excluded", *sorted(excluded))
            continue
        mistakes = ["stands in no row of the table"]
        if place in rows:
            mistakes = compare(*rows[place], settings, excluded, decayed)
        for mistake in mistakes:
            print(f"{' '.join(place)}: {mistake}")
        count += len(mistakes)
    print(f"{len(rows)} recipes, {count} wrong")
    return 1 if count else 0


sys.exit(main(*sys.argv[1:]))
