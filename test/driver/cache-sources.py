"""An artifact of the cache is used as long as everything that the compiler read is as it was, and it is itself."""
import os
import shutil
import subprocess
import sys

LIBRARY = "fn scaled(x: [..]) -> [..] {{ return x * {factor} }}\n"
MODEL = ('# import "nothing.tn"\nimport # a comment in the way\n  "{name}"\nmodel M {{ dim B in x: [B] param w: [] = 1 let y = '
         'scaled(x) * w out y }}\n')
folder = sys.argv[1]
shutil.rmtree(folder, ignore_errors=True)
for name in ("models", "other", "spec", "cache"):
    os.makedirs(os.path.join(folder, name), mode=0o700)
environment = {**os.environ, "TENON_CACHE": os.path.join(folder, "cache"), "TENON_MODELS": os.path.join(folder, "models")}
spec = os.path.join(folder, "spec", "model.tn")


def write(place, text):
    with open(os.path.join(folder, place), "w", encoding="utf-8") as file:
        file.write(text)


def entries():
    """Names, and when the record of each was written."""
    records = {name: os.path.join(folder, "cache", name, "record") for name in os.listdir(os.path.join(folder, "cache"))}
    return {(name, os.stat(path).st_mtime_ns if os.path.exists(path) else 0) for name, path in records.items()}


def use(what, models="models", expected=0):
    """Says whether the command compiled: a folder of the cache is new."""
    before = entries()
    environment["TENON_MODELS"] = os.path.join(folder, models)
    done = subprocess.run(["tenon", "init", spec, "-o", os.path.join(folder, "w.safetensors")], env=environment,
                          capture_output=True, text=True)
    if done.returncode != expected:
        sys.exit(f"{what}: exit code {done.returncode}: {done.stderr}")
    print(f"{what}:", done.stderr.strip() or ("made" if entries() - before else "found"))


standard = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "models", "std.tn")
for place in ("models", "other"):
    shutil.copy(standard, os.path.join(folder, place, "std.tn"))
write("models/lib.tn", LIBRARY.format(factor=2))
write("other/lib.tn", LIBRARY.format(factor=2))
write("spec/model.tn", MODEL.format(name="lib.tn"))
use("first")
use("again")
write("models/lib.tn", LIBRARY.format(factor=3))
use("an import of the model root has changed")
use("again")
write("models/lib.tn", LIBRARY.format(factor=2))
use("changed back")
write("spec/lib.tn", LIBRARY.format(factor=5))
use("an import beside the specification hides it")
os.unlink(os.path.join(folder, "spec", "lib.tn"))
use("and is gone")
with open(os.path.join(folder, "models", "std.tn"), "a", encoding="utf-8") as file:
    file.write("# another standard library\n")
use("std.tn has changed")
use("TENON_MODELS names another folder", "other")
use("again", "other")
write("spec/model.tn", open(spec, encoding="utf-8").read() + "# changed\n")
use("the specification has changed", "other")

# Damage: found, and made anew.
newest = max((os.path.join(folder, "cache", name) for name, _ in entries()), key=os.path.getmtime)
library = os.path.join(newest, "libmodel.so")
for what, damage in (("an empty library", lambda: os.truncate(library, 0)),
                     ("a library that is cut off", lambda: os.truncate(library, os.path.getsize(library) - 1000)),
                     ("a library that is gone", lambda: os.unlink(library)),
                     ("no record", lambda: os.unlink(os.path.join(newest, "record"))),
                     ("half a record", lambda: os.truncate(os.path.join(newest, "record"), 50))):
    damage()
    use(what, "other")
    use("again", "other")
with open(library, "r+b") as file:  # of the same size
    file.seek(200)
    byte = file.read(1)
    file.seek(200)
    file.write(bytes([byte[0] ^ 1]))
use("a library with one other bit", "other")

# The cache holds code: it is the user's own, and others cannot write to it.
cache = environment["TENON_CACHE"]
for mode in (0o770, 0o702):
    os.chmod(cache, mode)
    use("writable by others", "other", expected=3)
os.chmod(cache, 0o755)
use("readable by others", "other")
if os.geteuid() == 0:
    os.chown(cache, 12345, -1)
    use("of another user", "other", expected=3)
    os.chown(cache, 0, -1)
# It is made where it is missing, also under a name with a %, for this user alone.
cache = environment["TENON_CACHE"] = os.path.join(folder, "50%", "cache")
weights, models = os.path.join(folder, "w.safetensors"), os.path.join(folder, "other")
done = subprocess.run(["tenon", "init", spec, "-o", weights], env={**environment, "TENON_MODELS": models}, check=False)
print("a cache with % in its name:", done.returncode, oct(os.stat(cache).st_mode & 0o777), len(os.listdir(cache)))

# Without a place for it, and with a home that does not exist, which nobody makes.
for what, changes in (("no home", {"HOME": ""}), ("a home that does not exist", {"HOME": os.path.join(folder, "nobody")}),
                      ("a place below a file", {"TENON_CACHE": os.path.join(spec, "cache")})):
    bare = {name: value for name, value in environment.items() if name not in ("HOME", "TENON_CACHE", "XDG_CACHE_HOME")}
    done = subprocess.run(["tenon", "init", spec, "-o", weights], env={**bare, **changes}, capture_output=True, text=True,
                          check=False)
    print(f"{what}: {done.returncode} {done.stderr.strip()}")
print("made:", os.path.exists(os.path.join(folder, "nobody")))
