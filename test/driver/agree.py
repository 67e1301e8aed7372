"""agree.py FILE..: what `tenon check` says of a specification, `tenon compile` says, too, and the other way round.

Each model of a file is compiled to its tensor form without a recipe and with each of its train recipes. Every error of these has
to be among those of `check` (code, place, sentence; warnings are for recipes beside one that works). `check` refuses a file if a
model alone is refused, or all its recipes are, and no other. A file without a model has nothing to compile.
  --spoil  `check` is asked of an empty model instead; a file with errors must be noticed
"""
import os
import re
import subprocess
import sys
import tempfile

ERROR = re.compile(r"^(error|warning)\[(T\d+)\]: (.*)\n +--> (\S+:\d+:\d+)", re.M)


def errors(*words):
    """Whether the command refuses the file, and what it says: of `check` its warnings, too."""
    done = subprocess.run(["tenon", *words], capture_output=True, text=True, errors="replace", check=False)
    found = ERROR.findall(done.stderr)
    refused = any(kind == "error" for kind, *_ in found)
    if done.returncode != int(refused):
        sys.exit(f"WRONG: tenon {' '.join(words)} ends with {done.returncode} and says\n{done.stderr}")
    return refused, {tuple(rest) for kind, *rest in found if words[0] == "check" or kind == "error"}


def ways(text):
    """Of each model the options of each way to compile it: alone, then with each recipe."""
    return [[["--model", model]] + [["--model", model, "--recipe", name]
                                    for name in re.findall(rf"^train {model} as (\w+)", text, re.M)]
            for model in re.findall(r"^model (\w+)", text, re.M)]


def main():
    spoiled = "--spoil" in sys.argv
    files = [word for word in sys.argv[1:] if not word.startswith("--")]
    wrong = refused = count = 0
    with tempfile.TemporaryDirectory() as folder:
        empty = os.path.join(folder, "empty.tn")
        with open(empty, "w", encoding="utf-8") as file:
            file.write("model Empty { config D = 2  in x: [D]  out x }\n")
        for path in files:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if not ways(text):
                continue
            is_refused, checked = errors("check", empty if spoiled else path)
            expected, compiled = False, set()
            for model in ways(text):
                results = [errors("compile", path, "--emit=tenon", *options) for options in model]
                count += len(results)
                expected |= results[0][0] or (len(results) > 1 and all(failed for failed, _ in results[1:]))
                compiled |= set().union(*(found for _, found in results))
            refused += expected
            surplus = compiled - checked
            if surplus or is_refused != expected:
                wrong += 1
                print(f"WRONG: {os.path.basename(path)}: " + (f"check does not say {sorted(surplus)[0]}" if surplus
                                                              else f"check is {is_refused}, compile {expected}"))
    print(f"{len(files)} files, compiled in {count} ways, {refused} refused, {wrong} wrong")
    return wrong > 0


sys.exit(main())
