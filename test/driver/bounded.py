"""The cache of compiled models keeps the last used: 200 of them, 1 GiB. What is in use stays, and so does what is none of its
own."""
import fcntl
import os
import subprocess
from cached_models import cache, command, environment

MOST, LARGE = 200, 600 << 20


def compiled(size):
    subprocess.run(command(size), env=environment, check=True, stdout=subprocess.DEVNULL)


def is_model(name):
    """Two hashes; one in earlier versions."""
    return len(name) in (32, 65) and not name.endswith(".tmp")


def models():
    return {name for name in os.listdir(cache) if is_model(name)}


def make(number, time, size=10):
    name = f"{number:032x}"
    os.makedirs(os.path.join(cache, name))
    with open(os.path.join(cache, name, "libm.so"), "wb") as file:
        file.truncate(size)
    os.utime(os.path.join(cache, name), (time, time))
    return name


compiled(3)
first, = models()
os.utime(os.path.join(cache, first), (1, 1))  # the oldest of all
old = [make(number, 1000 + number) for number in range(MOST + 9)]
os.makedirs(os.path.join(cache, "notes.tmp"))
open(os.path.join(cache, "readme"), "w", encoding="utf-8").close()
os.makedirs(os.path.join(cache, f"{99:032x}.{os.getpid()}.tmp"))  # as an older version names what it is making
gone = subprocess.Popen(["true"])
gone.wait()
os.makedirs(os.path.join(cache, f"{98:032x}.{gone.pid}.tmp"))
compiled(3)
print("a hit removes nothing:", len(models()) == MOST + 10, "and counts as use:",
      os.stat(os.path.join(cache, first)).st_mtime > 10000)
held = os.open(os.path.join(cache, old[0]), os.O_RDONLY)
fcntl.flock(held, fcntl.LOCK_SH)
compiled(4)
print("kept:", len(models()), "used lately:", first in models(), "in use:", old[0] in models(), "oldest:", old[1] in models())
print("not its own:", sorted(name for name in os.listdir(cache)
                             if not is_model(name)) == sorted(["notes.tmp", "readme", f"{99:032x}.{os.getpid()}.tmp"]))
os.close(held)
large = [make(1000 + number, 2000 + number, LARGE) for number in range(2)]
compiled(5)
print("last used large one:", large[1] in models(), "the other:", large[0] in models(), "all before it:",
      len(models() - {first}) - 3)
