"""escapes.py: names and texts from outside reach no terminal as commands to it. Files, specifications, options, weights whose
names and texts hold escape sequences, C1 codes, marks of direction and bytes that are no UTF-8 go through the commands; what they
print has none of them, and what they print as JSON is JSON.

  --spoil  the checker itself: an output with an escape sequence must be noticed
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

EVIL = "a\x1b[31mred\x07\x9b2J\u202eb"
FORBIDDEN = [chr(c) for c in range(0x20) if chr(c) not in "\n\t"] + [chr(c) for c in range(0x7F, 0xA0)]
FORBIDDEN += list("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
MODEL = """
model M {
  config D = 4, V = 8
  dim    B, T
  in     ids: index(V)[B, T]
  param  emb: [V, D] ~ normal(1)
  out    y = y
  let    y = emb[V: ids]
}
"""
wrong, looked = [], 0


def look(what, data):
    global looked
    looked += 1
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        wrong.append(f"{what}: no UTF-8: {error}")
        return
    for code in FORBIDDEN:
        if code in text:
            wrong.append(f"{what}: U+{ord(code):04X} in {text!r}")
            return


def run(what, *words, wanted=None, folder=None):
    done = subprocess.run(["tenon", *words], capture_output=True, cwd=folder, check=False)
    look(what, done.stdout)
    look(what, done.stderr)
    if wanted and wanted not in (done.stdout + done.stderr).decode("utf-8", "replace"):
        wrong.append(f"{what}: no {wanted!r} in {(done.stdout + done.stderr)!r}")
    return done


def main():
    if "--spoil" in sys.argv:
        look("spoiled", b"a \x1b[31mred")
        print("\n".join(wrong))
        return len(wrong) > 0
    with tempfile.TemporaryDirectory() as folder:
        def write(name, text):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(text.encode("utf-8", "surrogateescape"))
            return name

        shown = "a\\u001b[31mred\\u0007\\u009b2J\\u202eb"
        spec = write(EVIL + ".tn", 'model M { config D = 2  require D == 3 "' + EVIL + '"  in x: [D]  out x }')
        run("check of a file and a require text", "check", spec, wanted="this requirement fails: " + shown, folder=folder)
        done = run("diagnostics as JSON", "check", spec, "--diagnostics=json", folder=folder)
        found = json.loads(done.stdout)
        if not found[0]["message"].endswith(EVIL) or found[0]["file"] != spec:
            wrong.append(f"JSON lost characters: {found}")
        run("an import", "check", write("import.tn", 'import "' + EVIL + '"\nmodel M { config D = 2  in x: [D]  out x }'),
            wanted=shown, folder=folder)
        run("a text in an expression", "check", write("text.tn", 'model M { config D = "' + EVIL + '"  in x: [D]  out x }'),
            folder=folder)
        run("a character", "check", write("character.tn", "model M { \x1b[31m \udc9b }"), folder=folder)
        right = write("right.tn", MODEL)
        run("a file that is not there", "check", "none" + EVIL + ".tn", folder=folder)
        run("a folder", "compile", EVIL + "/none.tn", "-o", "x", folder=folder)
        run("options of check", "check", right, "--set", EVIL, folder=folder)
        run("an option without a meaning", "check", right, "--" + EVIL, folder=folder)
        run("a config that is not there", "check", right, "--set", EVIL + "=3", folder=folder)
        run("a source that is not there", "inspect", "none" + EVIL, wanted=shown, folder=folder)
        run("an option of a command", "inspect", right, "--" + EVIL, folder=folder)
        run("a command", EVIL, folder=folder)
        run("an entry", "run", right, "--entry", EVIL, "--init", "--input", "ids=@none.npy", folder=folder)
        header = json.dumps({EVIL: {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
        with open(os.path.join(folder, "w.safetensors"), "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header + bytes(4))
        run("names of tensors", "run", right, "--weights", "w.safetensors", "--bind", "B=1", "--input", "ids=@none.npy",
            folder=folder)
        run("names of tensors that are left over", "run", right, "--weights", "w.safetensors", "--init", "--input",
            "ids=@none.npy", wanted="unused tensor", folder=folder)
        run("a compiled model of an odd path", "compile", write(EVIL + "2.tn", MODEL), "--tier", "portable", "--name", "m", "-o",
            "made", folder=folder)
        run("its tables", "inspect", "made", folder=folder)
        json.loads(run("its tables as JSON", "inspect", "made", "--json", folder=folder).stdout)
    for line in wrong:
        print("WRONG:", line)
    print(f"{looked} outputs looked at, {len(wrong)} wrong")
    return len(wrong) > 0


sys.exit(main())
