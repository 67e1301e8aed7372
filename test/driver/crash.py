"""A crash of the compiler must leave a reproducer and exit with 70: the specification is a pipe, and SEGV comes while the compiler waits for it."""
import glob
import os
import signal
import subprocess
import sys
import time

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
for old in glob.glob(os.path.join(folder, "*")):
    os.unlink(old)
pipe = os.path.join(folder, "pipe.tn")
os.mkfifo(pipe)
process = subprocess.Popen(["tenon", "compile", "pipe.tn", "--emit=ast"], cwd=folder, stderr=subprocess.PIPE, text=True)
with open(pipe, "w", encoding="utf-8") as file:  # the first reader keeps the text for the reproducer
    file.write("# the specification of the crash\n")
time.sleep(0.5)  # the second one waits
process.send_signal(signal.SIGSEGV)
messages = process.communicate(timeout=20)[1]
print(messages, end="")
print("exit code", process.returncode)
for name in glob.glob(os.path.join(folder, "tenon-crash-*.txt")):
    with open(name, encoding="utf-8") as file:
        print(file.read())
