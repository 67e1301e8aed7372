#!/usr/bin/env python3
"""Compares tables of documents with the code: functions and the library with its defaults, keywords. names.py SOURCE-FOLDER
FUNCTIONS LANGUAGE"""
import re
import sys

from tables import compare, read, rows, spans


def functions(source, written):
    """Built-in functions and those of std.tn against all forms in the first columns."""
    known = set(re.findall(r'\{"(\w+)",\s+(?:&Checker::\w+Builtin\}|\{Op::)',
                           read(source, "frontend", "sema", "builtins", "Builtins.cpp")))
    library = read(source, "models", "std.tn")
    known |= set(re.findall(r"^(?:layer|fn) (\w+)", library, re.M))
    if len(known) < 50:
        sys.exit("the tables in the code are read wrongly")
    forms = {match[1] for _, _, cells in written for span in spans(cells[0]) if (match := re.match(r"(\w+)[(\[]", span))}
    return compare("functions", known, forms - {"x"})  # x[A -> B] is an axis operation


def layers(source, written):
    """Axes of each layer of std.tn, and what it holds with its initial values."""
    wrong = 0
    table = {span: cells for section, _, cells in written if "`std.tn`" in section for span in spans(cells[0])}
    for name, formals, body in re.findall(r"^layer (\w+)\[([^\]]*)\].*?\{(.*?)^\}", read(source, "models", "std.tn"),
                                          re.M | re.S):
        cells = table.get(f"{name}[{formals}]")
        if not cells:
            print(f"library: missing: {name}[{formals}]")
            wrong += 1
            continue
        body, cell = re.sub(r"#.*", "", body), cells[1].replace("`", "")
        groups = re.findall(r"^ +(?:param|state) +(.*?) ([~=] .*?) *$", body, re.M)
        configs = {text.strip() for line in re.findall(r"^ +config +(.*)$", body, re.M) for text in line.split(",")}
        tensors = {}
        for group, _ in groups:
            for several, shape in re.findall(r"((?:\w+, )*\w+): (\[[^\]]*\])", group):
                tensors |= {tensor: f"{tensor} {shape}" for tensor in several.split(", ")}
        for what in sorted(configs | {value for _, value in groups} | set(tensors.values())):
            if what not in cell:
                print(f"library: {name}: missing: {what}")
                wrong += 1
        words = {re.match(r"\w+", span)[0] for span in spans(cells[1]) if re.match(r"[a-z]\w+|\w+ =", span)}
        wrong += compare(f"library: {name}", set(tensors) | {config.split(" ")[0] for config in configs}, words)
    return wrong


def keywords(source, written):
    table = re.search(r"bool isKeyword.*?\{(.*?)\n\}", read(source, "frontend", "syntax", "Lexer.cpp"), re.S)[1]
    known = set(re.findall(r'"(\w+)"', table))
    if len(known) < 30:
        sys.exit("the keywords in the code are read wrongly")
    return compare("keywords", known, {span for _, heading, cells in written if heading == "keyword" for span in spans(cells[0])})


def main(source, document, language):
    written = list(rows(read(document)))
    wrong = functions(source, written) + layers(source, written) + keywords(source, list(rows(read(language))))
    print(f"{wrong} wrong")
    return 1 if wrong else 0


sys.exit(main(*sys.argv[1:]))
