#!/usr/bin/env python3
"""Compares README's table of systems with the models and their tests: a row for each system, and every name in a cell is that of
a test that runs. systems.py SOURCE-FOLDER DOCUMENT"""
import importlib.util
import json
import os
import re
import sys

from tables import compare, read, rows, spans

# The published systems, each in a row of its own; a system of several sizes has a row for each kind of block.
SYSTEMS = {"Transformer", "Universal Transformer", "Transformer-XL", "GPT-1", "GPT-2", "BERT",
           "BERT-wwm, BERT-wwm-ext", "RoBERTa", "ERNIE 1.0", "ERNIE 2.0", "XLNet", "MT-DNN", "NEZHA", "UniLM",
           "ELECTRA", "Star-Transformer", "ResNet 18, 34", "ResNet 50, 101, 152", "RNN", "LSTM", "GRU", "Llama", "T5",
           "ALiBi (MPT)", "ViT", "Mixture of experts (Mixtral)", "State space (Mamba)"}


def loaded(source, *path):
    """A module of the tests, with those beside it."""
    path = os.path.join(source, "test", *path)
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path.pop(0)
    return module


def commands(source, *folder):
    """What the tests of a folder run, in words; what has to fail shows nothing."""
    place = os.path.join(source, "test", *folder)
    found = []
    for name in sorted(os.listdir(place)):
        if name.endswith(".test"):
            text = read(place, name)
            for short, whole in re.findall(r"^DEFINE: (%{\w+}) = (.*)$", text, re.M):
                text = text.replace("RUN: " + short, "RUN: " + whole)
            for line in re.findall(r"^RUN: (.*)$", text, re.M):
                if not re.search(r"(^|env \S+ )not |--spoil", line):
                    found.append([a or b for a, b in re.findall(r'"([^"]*)"|(\S+)', line)])
    return found


def twice(runs, script):
    """Cases that a script compares in f64 and in f32."""
    of = {True: set(), False: set()}
    for words in runs:
        if script in words:
            of["--f64" in words].add(words[words.index(script) + 1])
    return of[True] & of[False]


def decoded(source, name, models):
    """Whether a test, or the script of its folder that it runs, names one of these files."""
    path = os.path.join(source, "test", name)
    if not os.path.exists(path):
        return False
    text = read(path)
    for script in set(re.findall(r"%S/(\w+\.py)", text)):
        text += read(os.path.dirname(path), script)
    return any(re.search(rf"\b{model[:-3]}(\.tn|\b)", text) for model in models)


def timed_file(source, spec):
    """The model that the bench's specification imports."""
    found = re.search(r'^import ".*?(\w+\.tn)"', read(source, "test", "bench", "specs", spec + ".bench.tn"), re.M)
    return found and found[1]


def cells(source, document):
    """The table, with what each column may name, and for which specification (None: any)."""
    peers, learned = loaded(source, "numerics", "peers", "families.py").CASES, loaded(source, "learn", "rows.py").MODELS
    run = {"golden": twice(commands(source, "numerics", "goldens"), "%S/golden.py"),
           "peer": twice(commands(source, "numerics", "peers"), "%S/peers.py")}
    timed = {name: timed_file(source, row["spec"])
             for name, row in json.loads(read(source, "test", "bench", "rows.json")).items()}
    return {2: ("published values", {name: None for name in run["golden"]}),
            3: ("gradients", {name: peers[name].spec for name in run["peer"] & set(peers)}),
            4: ("learns", {name: row["file"] for name, row in learned.items()}),
            6: ("step", {name: file for name, file in timed.items() if file})} # attention alone is no system


RATIO = r"(\d+\.\d+) \(`(\w+)`\)"


def ratios_told(source, table):
    """Of cells that tell how fast a step is: those that hold anything but stored ratios with their rows, or a dash."""
    results = loaded(source, "bench", "results.py")
    stored = {row["row"]: f"{row['ratio']:.2f}" for row in results.summarised(results.load()["rows"])}
    wrong = 0
    for row in table:
        if row[6] != "-" and not re.fullmatch(f"{RATIO}(, {RATIO})*", row[6]):
            print(f"{row[0]}: step: {row[6]!r} is more than ratios with their rows")
            wrong += 1
        for told, name in re.findall(RATIO, row[6]):
            if told != stored.get(name):
                print(f"{row[0]}: step: {name}: {told} is told, results.json has {stored.get(name, 'no such row')}")
                wrong += 1
    return wrong


def main(source, document):
    table = [row for _, heading, row in rows(read(document)) if heading == "system"]
    wrong = compare("systems", SYSTEMS, {row[0] for row in table})
    models = {name for name in os.listdir(os.path.join(source, "models")) if name.endswith(".tn")} - {"std.tn"}
    wrong += compare("specifications", models, {name for row in table for name in spans(row[1])})
    known = cells(source, document)
    tasks = set(known[4][1])
    wrong += compare("tasks that are run", tasks, tasks & {word for words in commands(source, "learn") for word in words})
    for column, (what, names) in known.items():
        told = {name for row in table for name in spans(row[column])}
        wrong += compare(what, set(names), told)
    for row in table:
        for column, (what, names) in known.items():
            for name in spans(row[column]):
                if names.get(name) not in (None, *spans(row[1])):
                    print(f"{row[0]}: {what}: {name} is of {names[name]}")
                    wrong += 1
            if not spans(row[column]) and row[column] != "-":
                print(f"{row[0]}: {what}: names no test")
                wrong += 1
        tests = [name for name in spans(row[5]) if name.endswith(".test")]
        for name in tests or ([] if row[5] == "-" else ["a cell without a test"]):
            if not decoded(source, name, spans(row[1])):
                print(f"{row[0]}: decodes: {name} does not run it")
                wrong += 1
    wrong += ratios_told(source, table)
    print(f"{wrong} wrong")
    return 1 if wrong else 0


sys.exit(main(*sys.argv[1:]))
