"""Kernels of the library are those that programs would make for themselves.

  library_kernels.py TIER SPEC [OPTION ...]   compiles the specification for the tier as LLVM code, which has all that it calls
  library_kernels.py --spoil TIER SPEC ...    the same with one number of a kernel changed, which has to be found

Prints how many kernels of contractions the library has, and the names of those that it has not."""
import re
import subprocess
import sys

FUNCTION = re.compile(r'^define [^@]*@"?([\w.$-]+)"?(\(.*?)\n(.*?)^}', re.MULTILINE | re.DOTALL)


def functions(text):
    """By name, without what numbers attributes and metadata in one text."""
    return {name: re.sub(r"[#!]\d+", "#", re.sub(r", !\w+ !\d+", "", head + body)) for name, head, body in FUNCTION.findall(text)}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def changed(code):
    """One step of a loop twice as long."""
    result, count = re.subn(r"(getelementptr [^\n]*, i64 )(\d+)\n", lambda found: f"{found[1]}{2 * int(found[2]) + 1}\n", code, 1)
    assert count == 1
    return result


def main():
    arguments = sys.argv[1:]
    spoil = arguments[0] == "--spoil"
    tier, spec, *options = arguments[spoil:]
    library = {}
    for each in dict.fromkeys(("x86-64-v4" if tier.startswith("x86-64-v4") else tier, tier)):
        library.update(functions(output("tenon-compile-kernels", each)))
    made = functions(output("tenon", "compile", spec, "--tier", tier, "--emit=llvm", *options))
    kernels = sorted(name for name in made if name.startswith("tn_gemm_"))
    if spoil:
        spoiled = next(name for name in kernels if name.startswith("tn_gemm_micro_"))
        made[spoiled] = changed(made[spoiled])
    wrong = [name for name in kernels if name in library and library[name] != made[name]]
    missing = [name for name in kernels if name not in library]
    print(f"{len(kernels) - len(missing)} kernels of the library")
    for name in missing:
        print(f"missing {name}")
    for name in wrong:
        print(f"WRONG: {name} is other code in the library")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
