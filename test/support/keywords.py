"""The language's keywords, from its lexer."""
import os
import re

import driver

# Those of files, recipes and sizes, and what every model says anyway.
DECLARES = {"train", "import", "require", "out", "bind", "model", "config", "dim", "in", "param", "loss"}


def calculating():
    """Keywords that a model's numbers depend on."""
    with open(os.path.join(driver.ROOT, "frontend", "syntax", "Lexer.cpp"), encoding="utf-8") as file:
        whole = file.read()
    lists = [re.search(rf"bool {name}\(.*?}};", whole, re.S)[0] for name in ("isKeyword", "startsAttendItem")]
    return [word for each in lists for word in re.findall(r'"(\w+)"', each) if word not in DECLARES]
