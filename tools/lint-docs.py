#!/usr/bin/env python3
"""Every operation of the dialect is documented, and its example is one that tenon-opt accepts.

usage: lint-docs.py [--record FILE.json] [--opt TENON-OPT] [--roundtrip DIR] [--require PARTS]

  --record FILE   records as `llvm-tblgen --dump-json` prints them; default: made from dialect/AllOps.td
  --opt PROGRAM   runs each example through it; default: only the text is checked
  --roundtrip DIR each operation must be in a CHECK line of DIR/roundtrip*.mlir: printed and parsed again there
  --require       parts that each description needs, with commas; default: all of them

The parts: summary, description, formula, operands (a table of the operands; of the attributes where there are none), constraints
(numbered, where anything is verified: a verifier, a trait or an inferred type that ties types together, a parent, a symbol, a
bound of an attribute), gradient, source (of the formula or the idea, or what the op is the transpose of), example.

An example is the ```mlir block of the description. It is wrapped in a function whose arguments are the values that it uses but
does not define; the state that it reads or writes has the last type of its first line. Their types are those after the first
line's colon, in order; the last one stands for what is left; %depth is an index; a comment `// %name: type` names some
explicitly. A symbol that it mentions is declared as a parameter with the type of that line.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PARTS = {
    "summary": lambda op, text: bool(op["summary"]),
    "description": lambda op, text: len(text.split()) >= 5,
    "formula": lambda op, text: "Formula:" in text,
    "operands": lambda op, text: not op["arguments"]["args"] or ("| operand" if op["operands"] else "| attribute") in text,
    "constraints": lambda op, text: not op["rules"] or bool(re.search(r"Constraints: (those of |C1 |.*\bC1\b)", text)),
    "gradient": lambda op, text: "Gradient:" in text,
    "source": lambda op, text: "Source:" in text,
    "example": lambda op, text: "```mlir" in text,
}
TYPE = re.compile(r"(?:tensor|memref|vector)<[^<>]*(?:<[^<>]*>[^<>]*)*>|\bindex\b|\b[fi]\d+\b")


# Traits and interfaces that verify something beside the type of one operand; all ops have SizesOfEntry, whose rule the dialect
# states.
VERIFYING = {"PredOpTrait", "ParentOneOf", "HasParent", "SameOperandsAndResultType", "SameTypeOperands", "InferTypeOpInterface",
             "InferTypeOpAdaptor", "SymbolUserOpInterface"}


def rules(every, op):
    """What is verified about an op: its verifiers, traits and bounded attributes, by name."""
    found = [name for name in ("hasVerifier", "hasRegionVerifier") if op[name]]
    for trait in op["traits"]:
        record = every[trait["def"]]
        names = {trait["def"], record.get("trait"), record.get("cppInterfaceName"), *record["!superclasses"]}
        found += sorted(names & VERIFYING)
    for kind, name in op["arguments"]["args"]:
        record = every[kind["def"]]
        base = record.get("baseAttr") or {}
        found += [name for held in (record, every.get(base.get("def"), record)) if "ConfinedAttr" in held["!superclasses"]]
    return found


def records(path):
    if path:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    dialect = os.path.join(ROOT, "dialect")
    program = shutil.which("llvm-tblgen", path="/usr/lib/llvm-22/bin") or "llvm-tblgen"  # that of the distribution is older
    command = [program, "--dump-json", os.path.join(dialect, "AllOps.td"), "-I", ROOT, "-I", dialect]
    for folder in os.environ.get("TENON_TABLEGEN_INCLUDES", "/usr/lib/llvm-22/include").split(":"):
        command += ["-I", folder]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"error: llvm-tblgen in PATH must be that of LLVM 22; it says: {done.stderr.strip().splitlines()[0]}")
    return json.loads(done.stdout)


def wrapped(example):
    """The example as a module of one function."""
    hints = dict(re.findall(r"(%\w+):\s*(\S+)", " ".join(re.findall(r"//(.*)", example))))
    code = re.sub(r"//.*", "", example)
    used = list(dict.fromkeys(re.findall(r"%\w+", code)))
    defined = set()
    for line in code.split("\n"):
        head = line.split(" = ")[0] if " = " in line else ""
        defined |= set(re.findall(r"%\w+", head)) if head.strip().startswith("%") else set()
        defined |= set(re.findall(r"(%\w+):", line)) if "^bb" in line else set()
    free = [name for name in used if name not in defined]
    statement = code.strip().split("{\n")[0]
    before_arrow = statement.rsplit(" : ", 1)[-1].split("->")[0] if " : " in statement else ""
    types = TYPE.findall(before_arrow)
    arguments = []
    for name in free:
        kind = hints.get(name) or ("index" if name == "%depth" else types.pop(0) if len(types) > 1 else types[0]
                                   if types else None)
        if kind is None:
            raise ValueError(f"no type for {name}")
        arguments.append(f"{name}: {kind}")
    states = f" attributes {{tenon.states = [{TYPE.findall(statement)[-1]}]}}" if "_state" in code else ""
    symbols = set(re.findall(r"@\"[^\"]+\"|@\w+", code))
    first = TYPE.findall(statement)
    declared = [f"tenon.parameter {symbol} : {first[-1]}" for symbol in symbols if "tenon.parameter" not in code]
    if code.strip().startswith("tenon.parameter"):
        return code
    return "\n".join(declared + [f"func.func @example({', '.join(arguments)}){states} {{", code, "  return", "}"]) + "\n"


def checked(folder):
    """The operations that the round trips in `folder` check."""
    found = set()
    for name in sorted(os.listdir(folder)):
        if name.startswith("roundtrip") and name.endswith(".mlir"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                for line in re.findall(r"// CHECK[A-Z-]*:(.*)", file.read()):
                    found |= set(re.findall(r"\btenon\.(\w+)", line))
    return found


def accepted(program, example):
    """None, or why the example is refused."""
    try:
        text = wrapped(example)
    except ValueError as error:
        return str(error)
    done = subprocess.run([program, "--verify-roundtrip", "-"], input=text, capture_output=True, text=True)
    return None if done.returncode == 0 else done.stderr.strip().split("\n")[0] + "\n" + text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record")
    parser.add_argument("--opt")
    parser.add_argument("--roundtrip")
    parser.add_argument("--require", default=",".join(PARTS))
    options = parser.parse_args()
    every = records(options.record)
    names = every["!instanceof"].get("Op", [])
    values = set(every["!instanceof"].get("TypeConstraint", []))
    round_trips = checked(options.roundtrip) if options.roundtrip else None
    findings = 0
    for name in sorted(names):
        op = every[name]
        op["rules"] = rules(every, op)
        op["operands"] = [argument for kind, argument in op["arguments"]["args"] if kind["def"] in values]
        text = op["description"] or ""
        for part in options.require.split(","):
            if not PARTS[part](op, text):
                print(f"{name}: no {part}")
                findings += 1
        if round_trips is not None and op["opName"] not in round_trips:
            print(f"{name}: no round trip")
            findings += 1
        for example in re.findall(r"```mlir\n(.*?)```", text, re.S) if options.opt else []:
            refusal = accepted(options.opt, example)
            if refusal:
                print(f"{name}: the example is refused: {refusal}")
                findings += 1
    print(f"{len(names)} operations, {findings} findings")
    return 1 if findings or not names else 0


sys.exit(main())
