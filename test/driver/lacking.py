"""What the machine lacks is no bug of the compiler: a linker, memory; and a crash report never goes through a name that stands
already."""
import os
import resource
import shutil
import struct
import subprocess
import sys

folder, tenon = sys.argv[1], shutil.which("tenon")
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(os.path.join(folder, "bin"))
spec = os.path.join(folder, "m.tn")
with open(spec, "w", encoding="utf-8") as file:
    file.write("model M { dim B in x: [B] param w: [] = 1 let y = x * w out y }\n")


def run(what, environment=None, limit=None):
    done = subprocess.run([tenon, "compile", spec, "--tier", "portable", "-o", os.path.join(folder, "out")], cwd=folder,
                          capture_output=True, text=True, env={**os.environ, **(environment or {})}, preexec_fn=limit
                          and (lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))))
    if what:
        print(f"{what}: {done.returncode} {done.stderr.strip()}")
    return done


def linker(text):
    """A directory with a program of the linker's name."""
    path = os.path.join(folder, "bin", "ld.lld-22")
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + text + "\n")
    os.chmod(path, 0o755)
    return {"PATH": os.path.join(folder, "bin") + ":/usr/bin:/bin"}


empty = os.path.join(folder, "empty")
os.mkdir(empty)
run("no linker", {"PATH": empty})
run("a linker that writes nothing", linker("exit 0"))
run("a linker that writes an empty file", linker('while [ "$1" != -o ]; do shift; done; : > "$2"'))
run("a linker that is killed", linker("kill -9 $$"))
run("a linker without memory", linker("echo 'ld.lld: error: failed to open x: Cannot allocate memory'; exit 1"))
run("a linker that refuses", linker("echo 'ld.lld: error: undefined symbol: x'; exit 1"))
# An error has no code by what its text says: the message of a refusal (T0901) in the mouth of something that has not refused is a
# bug, and is reported.
done = run("an error that sounds like a refusal", linker("echo 'not supported yet: this, error[T0901]'; exit 1"))
report = [name for name in sorted(os.listdir(folder)) if name.startswith("tenon-crash") and name in done.stderr]
print("reported:", len(report), all("model M" in open(os.path.join(folder, name), encoding="utf-8").read() for name in report))
print("left:", sorted(name for name in os.listdir(folder) if name not in ("m.tn", "bin", "empty")
                      and not name.startswith("tenon-crash")))

# From too little for the program itself to enough: every failure is a sentence with exit code 5, or the system's own loader
# speaks (127).
codes = {}
for mebibytes in list(range(100, 700, 40)) + [4096]:
    done = run(None, limit=mebibytes << 20)
    codes.setdefault(done.returncode, (mebibytes, done.stderr.strip()))
    if done.returncode not in (0, 5, 127) or (done.returncode == 5) != done.stderr.startswith("tenon: error:"):
        print(f"{mebibytes} MiB: exit code {done.returncode}: {done.stderr}")
print("with little memory:", sorted(codes))

# The library of an artifact whose last segment takes 2 GiB more of memory, with room for 1.5 GiB, and without a limit.
done = subprocess.run([tenon, "compile", spec, "--tier", "portable", "-o", os.path.join(folder, "wide")], capture_output=True,
                      text=True)
path = os.path.join(folder, "wide", "libm.so")
with open(path, "r+b") as file:
    image = bytearray(file.read())
    table, = struct.unpack_from("<Q", image, 32)
    size, count = struct.unpack_from("<HH", image, 54)
    last = max((table + i * size for i in range(count) if struct.unpack_from("<I", image, table + i * size)[0] == 1),
               key=lambda at: struct.unpack_from("<Q", image, at + 16)[0])  # PT_LOAD with the highest address
    memory, = struct.unpack_from("<Q", image, last + 40)
    struct.pack_into("<Q", image, last + 40, memory + (2 << 30))
    file.seek(0)
    file.write(image)
for limit in (3 << 29, None):
    done = subprocess.run([tenon, "run", os.path.dirname(path), "--init", "--bind", "B=2"], cwd=folder, capture_output=True,
                          text=True, preexec_fn=limit and (lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))))
    print(f"a library that needs 2 GiB, limit {limit}: {done.returncode} {done.stderr.strip()}")
