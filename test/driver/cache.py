"""A killed compilation leaves a folder in the cache: the next one removes it, and no folder of a compilation that still runs."""
import os
import shutil
import signal
import subprocess
import sys
import time

SPEC = """model M {{
  config D = {size}
  dim    B
  in     x: [B, D]
  param  w: [D] = 1
  let    y = x * w
  out    y
}}
"""
folder = sys.argv[1]
shutil.rmtree(folder, ignore_errors=True)
cache = os.path.join(folder, "cache")
os.makedirs(cache)
environment = {**os.environ, "TENON_CACHE": cache}


def command(size):
    path = os.path.join(folder, f"size{size}.tn")
    with open(path, "w", encoding="utf-8") as file:
        file.write(SPEC.format(size=size))
    return ["tenon", "inspect", path]


def folders():
    return sorted(name for name in os.listdir(cache) if name.endswith(".tmp"))


def started(size):
    """A compilation that is stopped in the middle, and its folder."""
    before = folders()
    process = subprocess.Popen(command(size), env=environment, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        fresh = [name for name in folders() if name not in before]
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
