"""A crash of the compiler must leave a reproducer and exit with 70: the specification is a pipe, and SEGV comes while the compiler waits for it.
The report is a new file of the user's alone: in the current folder, or at home where others can write to that one."""
import glob
import os
import shutil
import signal
import subprocess
import sys
import time

folder = sys.argv[1]
shutil.rmtree(folder, ignore_errors=True)
home = os.path.join(folder, "home")
for name in ("own", "shared", "home"):
    os.makedirs(os.path.join(folder, name), mode=0o700)
os.chmod(os.path.join(folder, "shared"), 0o777)


def crash(place, environment):
    """Its messages, and the reports that are new."""
    place = os.path.join(folder, place)
    pipe = os.path.join(place, "pipe.tn")
    os.mkfifo(pipe)
    process = subprocess.Popen(["tenon", "compile", "pipe.tn", "--emit=ast"], cwd=place, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
    victim = os.path.join(folder, "victim")
    os.symlink(victim, os.path.join(place, f"tenon-crash-{process.pid}.txt"))  # laid out by somebody else
    with open(pipe, "w", encoding="utf-8") as file:  # the first reader keeps the text for the reproducer
        file.write("# the specification of the crash\n")
    time.sleep(0.5)  # the second one waits
    process.send_signal(signal.SIGSEGV)
    print(process.communicate(timeout=20)[1], end="")
    print("exit code", process.returncode, "written through the link:", os.path.exists(victim))
    for name in glob.glob(os.path.join(place, "tenon-crash-*.txt")) + glob.glob(os.path.join(home, "tenon-crash-*.txt")):
        if not os.path.islink(name):
            print(os.path.relpath(name, folder), oct(os.stat(name).st_mode & 0o777))
            with open(name, encoding="utf-8") as file:
                print(file.read())
            os.unlink(name)


crash("own", {"HOME": home})
os.chmod(home, 0o755)
crash("shared", {"HOME": home})
os.unlink(os.path.join(folder, "shared", "pipe.tn"))
crash("shared", {"HOME": ""})
