"""Runs the seeded mistakes: each breaks a right specification in one place and must be refused with the right code, at the right
line and column, with the right words, and with nothing else beside it.

    mistakes.py TABLE --checker COMMAND --specs DIR [--specs DIR] [--record]

An entry of the table, entries being separated by empty lines:

    FILE [--set A=B]: CODE LINE:COLUMN [FILE], CODE LINE:COLUMN ...
    - text that occurs exactly once in FILE (\\n is a line break)
    + what stands there instead
    > words that the first message contains

--record prints the table with the codes and places that the checker gives, for a person to look through before they are kept.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile

MISTAKE = re.compile(r"^(?P<file>[^\s:]+):(?P<line>\d+):(?P<column>\d+): (?P<code>T\d{4}): (?P<message>.*)$")


class Entry:
    def __init__(self, block, number):
        self.number = number
        self.options, self.expected, self.edits, self.words = [], None, [], []
        for line in block:
            if line.startswith("- "):
                self.edits.append([line[2:].replace("\\n", "\n"), ""])
            elif line.startswith("+"):
                self.edits[-1][1] = line[2:].replace("\\n", "\n")
            elif line.startswith("> "):
                self.words.append(line[2:])
            else:
                head, _, places = line.partition(": ")
                self.file, *self.options = head.split()
                self.expected = places.strip()
        if self.expected is None or not self.edits:
            raise SystemExit(f"line {number}: an entry has a head, and edits")

    def text(self, original):
        for old, new in self.edits:
            if original.count(old) != 1:
                raise SystemExit(f"line {self.number}: {old!r} occurs {original.count(old)} times in {self.file}")
            original = original.replace(old, new)
        return original


def read_table(path):
    entries, block, start = [], [], 0
    with open(path, encoding="utf-8") as stream:
        for number, line in enumerate(list(stream) + ["\n"], 1):
            line = line.rstrip("\n")
            if line.startswith("#"):
                continue
            if line:
                start = start if block else number
                block.append(line)
            elif block:
                entries.append(Entry(block, start))
                block = []
    return entries


def find(specs, name):
    for folder in specs:
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    raise SystemExit(f"{name} is in none of {', '.join(specs)}")


LATER = ("T0690", "T0901")  # right and not built yet: beside the point, but where an entry asks for it


def check(arguments, path, options, asked=""):
    roots = [word for folder in arguments.specs for word in ("--root", folder)]
    done = subprocess.run([arguments.checker, "--check", path, *roots, *options], capture_output=True, text=True, check=False)
    found = [MISTAKE.match(line) for line in done.stdout.splitlines()]
    return [each for each in found if each and (each["code"] not in LATER or each["code"] in asked)], done


def place_of(match, file):
    own = match["file"] == os.path.basename(file)
    return f"{match['code']} {match['line']}:{match['column']}" + ("" if own else f" {match['file']}")


def run(arguments):
    entries, failures = read_table(arguments.table), []
    for file in sorted({entry.file for entry in entries}):
        found, done = check(arguments, find(arguments.specs, file), [])
        if found or done.returncode not in (0, 1):  # 1: of what is not built yet
            failures.append(f"{file} is refused as it stands: {done.stdout}{done.stderr}")
    codes = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for entry in entries:
            with open(find(arguments.specs, entry.file), encoding="utf-8") as stream:
                text = entry.text(stream.read())
            path = os.path.join(folder, os.path.basename(entry.file))
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(text)
            found, done = check(arguments, path, entry.options, entry.expected)
            places = ", ".join(place_of(match, path) for match in found)
            if arguments.record:
                record(entry, text, found, places)
                continue
            message = found[0]["message"] if found else ""
            if places != entry.expected:
                failures.append(f"line {entry.number}: expected {entry.expected}, got {places or 'nothing'}: "
                                f"{message}{done.stderr}")
            elif done.returncode == 0:
                failures.append(f"line {entry.number}: refused, but the exit status is 0")
            for words in entry.words:
                if words not in message:
                    failures.append(f"line {entry.number}: the message lacks '{words}': {message}")
            if not entry.words:
                failures.append(f"line {entry.number}: no words of the message are asked for")
            if found:
                codes[found[0]["code"]] += 1
    if arguments.record:
        return 0
    for failure in failures:
        print(failure)
    most = max(codes.values(), default=0)
    print(f"{len(entries)} mistakes, {len(codes)} codes, at most {most} per code, {len(failures)} failures")
    return 1 if failures else 0


def record(entry, text, found, places):
    print(" ".join([entry.file, *entry.options]) + f": {places or '?'}")
    for old, new in entry.edits:
        print("- " + old.replace("\n", "\\n") + "\n+ " + new.replace("\n", "\\n"))
    for words in entry.words or [match["message"] for match in found[:1]]:
        print(f"> {words}")
    if found and found[0]["file"] == os.path.basename(entry.file):
        line = text.split("\n")[int(found[0]["line"]) - 1]
        print(f"# {line}\n# " + " " * (int(found[0]["column"]) - 1) + "^ " + found[0]["message"])
    print()


parser = argparse.ArgumentParser()
parser.add_argument("table")
parser.add_argument("--checker", required=True)
parser.add_argument("--specs", action="append", required=True)
parser.add_argument("--record", action="store_true")
sys.exit(run(parser.parse_args()))
