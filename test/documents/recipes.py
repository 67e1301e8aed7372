#!/usr/bin/env python3
"""Compares the tables of docs/recipes.md with the table that checker, compiler and runtime read. recipes.py DOCUMENT"""
import subprocess
import sys

from tables import compare, read, rows, spans


def main(path):
    table = [line.split("\t") for line in subprocess.check_output(["tenon-recipe-forms"], text=True).rstrip("\n").split("\n")]
    if len(table) < 60:
        sys.exit("the table in the code is read wrongly")
    written = list(rows(read(path)))
    wrong = 0
    for kind in ("train", "generate"):
        known = {form for family, works, form, _ in table if family == f"{kind} setting" and works == "1"}
        wrong += compare(f"settings of {kind}", known, {name for section, heading, cells in written
                                                         if heading == "setting" and f"`{kind}`" in section
                                                         for name in spans(cells[0])})
    forms = {form: inputs for family, works, form, inputs in table if works == "1" and not family.endswith(" setting")}
    rowsOfForms = {spans(cells[0])[0]: cells for _, heading, cells in written if heading == "form"}
    wrong += compare("forms", set(forms), set(rowsOfForms))
    for form, inputs in forms.items():
        if inputs and form in rowsOfForms and spans(rowsOfForms[form][1]) != [inputs]:
            print(f"inputs of {form}: the code gives {inputs}")
            wrong += 1
    planned = {form.split("(")[0] for _, works, form, _ in table if works == "0"}
    wrong += compare("not supported yet", planned, {name for section, _, cells in written if section == "Not supported yet"
                                                    for name in spans(cells[1])})
    print(f"{len(table)} entries, {wrong} wrong")
    return 1 if wrong else 0


sys.exit(main(*sys.argv[1:]))
