#!/usr/bin/env python3
"""What a stage of lowering/ includes is a part of the libraries that its own library links.

lint-stages.py [--root DIR]

Reads tenon_stage(..), add_executable(..) and target_link_libraries(..) of the CMakeLists.txt below lowering/, and the includes of
every file there. A header belongs to the library that has the file of its name; one without is for all that link a library of its
folder, in lowering/ itself for all. Prints every include of something else, and every circle of libraries; then the counts.
"""
import argparse
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STAGE = re.compile(r"\b(?:tenon_stage|add_executable)\(([\w-]+)\s+([^)]*)\)")
LINKS = re.compile(r"\btarget_link_libraries\(([\w-]+)\s+([^)]*)\)")
INCLUDE = re.compile(r'^#include "(lowering/[^"]+)\.h"', re.M)


def sources(root):
    """(path from the root, text) of all files of code and of the build below lowering/."""
    for folder, _, files in sorted(os.walk(os.path.join(root, "lowering"))):
        for name in sorted(files):
            if name.endswith((".cpp", ".h", "CMakeLists.txt")):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    yield os.path.relpath(os.path.join(folder, name), root), file.read()


class Stages:
    def __init__(self, root):
        self.owners, self.folders, self.links = {}, {}, {}
        for path, text in sources(root):
            if not path.endswith("CMakeLists.txt"):
                continue
            folder = os.path.dirname(path)
            for name, files in STAGE.findall(text):
                self.folders.setdefault(folder, set()).add(name)
                for file in files.split():
                    self.owners[os.path.join(folder, os.path.splitext(file)[0])] = name
            for name, linked in LINKS.findall(text):
                self.links.setdefault(name, set()).update(set(linked.split()) - {"PUBLIC", "PRIVATE"})

    def of(self, stem):
        """The libraries that a file may be a part of."""
        if stem in self.owners or os.path.dirname(stem) == "lowering":
            return {self.owners[stem]} if stem in self.owners else set()
        return self.folders.get(os.path.dirname(stem), set())

    def reached(self, name):
        """What a library links, by way of others, too."""
        found, work = set(), [name]
        while work:
            for linked in self.links.get(work.pop(), set()) - found:
                found.add(linked)
                work.append(linked)
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=ROOT)
    root = parser.parse_args().root
    stages = Stages(root)
    names = sorted(name for inside in stages.folders.values() for name in inside)
    wrong = includes = 0
    for name in names:
        if name in stages.reached(name):
            print(f"{name} links itself, by way of others")
            wrong += 1
    for path, text in sources(root):
        own = stages.of(os.path.splitext(path)[0])
        reached = own.union(*(stages.reached(name) for name in own)) if own else set()
        for found in INCLUDE.finditer(text) if own else ():
            includes += 1
            wanted = stages.of(found[1])
            if wanted and not wanted & reached:
                line = text.count("\n", 0, found.start()) + 1
                print(f"{path}:{line}: includes {found[1]}.h of {' or '.join(sorted(wanted))}, "
                      f"which {' and '.join(sorted(own))} does not link")
                wrong += 1
    print(f"{len(names)} libraries, {includes} includes, {wrong} wrong")
    return 1 if wrong or not includes else 0


if __name__ == "__main__":
    sys.exit(main())
