"""Tables of Markdown: what the checks of documents against the code share."""
import os
import re


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def spans(cell):
    return re.findall(r"`([^`]+)`", cell)


def rows(document):
    """(section, heading of the first column, cells) of every row of every table outside of code blocks."""
    section, heading = "", None
    for line in re.sub(r"^```.*?^```$", "", document, flags=re.M | re.S).split("\n"):
        if line.startswith("#"):
            section = line.lstrip("# ")
        if not line.startswith("|"):
            heading = None
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if heading is None:
            heading = cells[0]
        elif not re.fullmatch(r"[-:]+", cells[0]):
            yield section, heading, cells


def compare(what, known, written):
    """Says how the names of the code and those of the document differ; how many there are."""
    for name in sorted(known - written):
        print(f"{what}: missing: {name}")
    for name in sorted(written - known):
        print(f"{what}: unknown to the code: {name}")
    return len(known ^ written)
