"""code.py NUMBER COMMAND...: runs the command and fails unless that is its exit code and its messages are free of stack
traces."""
import subprocess
import sys

done = subprocess.run(sys.argv[2:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
print(done.stdout, end="", flush=True)
if done.returncode != int(sys.argv[1]):
    sys.exit(f"WRONG: exit code {done.returncode}, expected {sys.argv[1]}")
for trace in ("Stack dump", "terminate called", "Assertion", "Traceback"):
    if trace in done.stdout:
        sys.exit(f"WRONG: the message contains '{trace}'")
