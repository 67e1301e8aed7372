"""A crash of the compiler must leave a reproducer and exit with 70: the specification takes seconds to compile, and SEGV comes
meanwhile. The report is a new file of the user's alone: in the current folder, or at home where others can write to that one."""
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


SLOW = "# the specification of the crash\nmodel Slow {\n  dim B\n  in x: [B]\n  let y0 = x\n" + "".join(
    f"  let y{k} = sin(y{k - 1}) + 0.5\n" for k in range(1, 3000)) + "  out y2999\n}\n"


def catches(pid, number):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        caught = next(int(line.split()[1], 16) for line in file if line.startswith("SigCgt"))
    return caught >> (number - 1) & 1


def crash(place, environment):
    """Its messages, and the reports that are new."""
    place = os.path.join(folder, place)
    with open(os.path.join(place, "slow.tn"), "w", encoding="utf-8") as file:
        file.write(SLOW)
    process = subprocess.Popen(["tenon", "compile", "slow.tn", "--emit=asm"], cwd=place, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True,
                               env={**os.environ, **environment})
    victim = os.path.join(folder, "victim")
    os.symlink(victim, os.path.join(place, f"tenon-crash-{process.pid}.txt"))  # laid out by somebody else
    while process.poll() is None and not catches(process.pid, signal.SIGSEGV):
        time.sleep(0.02)
    time.sleep(0.2)
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
crash("shared", {"HOME": ""})
