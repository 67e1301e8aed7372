"""A killed compilation leaves a folder in the cache: the next one removes it, and no folder of a compilation that still runs."""
import os
import signal
import subprocess
import sys
import time
from cached_models import cache, command, environment


def folders():
    return sorted(name for name in os.listdir(cache) if name.endswith(".tmp"))


def is_locked(name):
    try:
        inode = os.stat(os.path.join(cache, name)).st_ino
    except FileNotFoundError:
        return False
    with open("/proc/locks", encoding="utf-8") as locks:
        return any(line.split()[5 if "->" not in line else 6].endswith(f":{inode}") for line in locks)


def started(size):
    """A compilation that is stopped in the middle, and its folder, which is locked by then."""
    before = folders()
    process = subprocess.Popen(command(size), env=environment, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        fresh = [name for name in folders() if name not in before and is_locked(name)]
        if fresh:
            process.send_signal(signal.SIGSTOP)
            return process, fresh[0]
        time.sleep(0.001)
    sys.exit("the compilation ended before its folder was seen")


killed, left = started(3)
killed.kill()
killed.wait()
print("left behind:", left in folders())
stopped, kept = started(4)
print("removed:", left not in folders())
subprocess.run(command(5), env=environment, check=True, stdout=subprocess.DEVNULL)
print("in use, and still there:", kept in folders())
stopped.send_signal(signal.SIGCONT)
print("ended with", stopped.wait(), "and leaves", folders())
print("in the cache:", len(os.listdir(cache)))
