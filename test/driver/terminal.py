"""Training in a pseudo terminal: terminal.py MODEL TEXT FOLDER CASE, where CASE is draw, plain, dumb, signals or pipe.

A small screen obeys what reaches the terminal, so that lines count that a person sees in the end, not those that were sent."""
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import termios
import time

model, text, folder, case = sys.argv[1:]
shutil.rmtree(folder, ignore_errors=True)
run = os.path.join(folder, "run")
COLUMNS = 72


def command(*more):
    return ["tenon", "train", model, "--text", text, "--out", run, "--checkpoint-every", "1000000", *more]


def require(truth, what):
    if not truth:
        raise SystemExit(f"WRONG: {what}")


class Terminal:
    """A process whose three streams are a pseudo terminal of its own session, as in a window."""

    def __init__(self, arguments, **variables):
        self.output = b""
        environment = {**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, "TERM": "xterm", **variables}
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            signal.signal(signal.SIGHUP, signal.SIG_DFL)  # as in a window, also where the tests run under nohup
            os.execvpe(arguments[0], arguments, environment)
        termios.tcsetwinsize(self.master, (24, COLUMNS))

    def read(self, seconds):
        """Whether there is more to come."""
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        try:
            piece = os.read(self.master, 65536)
        except OSError:  # the other end is closed
            return False
        self.output += piece
        return bool(piece)

    def until(self, pattern):
        deadline = time.monotonic() + 120
        while not re.search(pattern, self.output):
            require(self.read(0.05) and time.monotonic() < deadline, f"{pattern} did not come: {self.output[-2000:]}")

    def wait(self):
        deadline = time.monotonic() + 120
        while self.read(0.05):
            if time.monotonic() > deadline:
                os.kill(self.pid, signal.SIGKILL)
                require(False, f"it does not end: {self.output[-500:]}")
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def screen(data):
    """The lines on an endless sheet after carriage returns, erasures and colours; a line that is too long goes on in the next."""
    lines, column = [""], 0
    for token in re.findall(rb"\x1b\[[0-9;]*[A-Za-z]|[\r\n]|[^\x1b\r\n]", data):
        if token == b"\r":
            column = 0
        elif token == b"\n":
            lines.append("")
            column = 0
        elif token == b"\x1b[K":
            lines[-1] = lines[-1][:column]
        elif token.startswith(b"\x1b"):
            require(token.endswith(b"m"), f"an escape sequence that no terminal line needs: {token}")
        else:
            if column == COLUMNS:
                lines.append("")
                column = 0
            lines[-1] = lines[-1][:column] + token.decode() + lines[-1][column + 1:]
            column += 1
    return lines


def numbers():
    with open(os.path.join(run, "metrics.jsonl"), encoding="utf-8") as file:
        return [json.loads(line)["step"] for line in file]


def draw(**variables):
    terminal = Terminal(command("--steps", "400", "--valid-every", "100", "--held-out", "0.3"), **variables)
    require(terminal.wait() == 0, terminal.output)
    lines = screen(terminal.output)
    text = "\n".join(lines)
    require([line for line in lines if re.match(r"step \d+  held out:", line)] and
            all(f"\nstep {step}  held out: " in text for step in (100, 200, 300, 400)), f"evaluations are gone:\n{text}")
    start = re.sub(r"\n(?=[^\n])", "", text[:2000])  # the start lines are longer than the screen is wide
    require(re.search(r"training \w+ by the recipe \w+: [\d,]+ parameters in f32, 400 steps of [\d,]+ tokens, seed 42", start)
            and re.search(r"tier [a-z0-9-]+, \d+ threads?, memory [\d.]+ [KMG]iB \(parameters [\d.]+ [KMG]iB, ", start)
            and "checkpoints every 1,000,000 steps in " in start, f"the start lines are not there:\n{text}")
    joined = re.sub(r"\n(?=[^\n])", "", text[-1000:])
    require(re.search(r"trained 400 steps in 0:\d\d, [\d,]+ tokens/s; last loss \d\.\d{4}, \d\.\d{3} bits/char", joined)
            and re.search(r"held out: \w+ [\d.]+ at step 400", joined)
            and f"newest checkpoint: {run}/checkpoints/step-400" in joined,
            f"the summary is not there:\n{text}")
    return terminal.output, lines


if case == "draw":
    data, lines = draw()
    require(b"\x1b[36mstep " in data, "no coloured progress line was drawn")
    drawn = [line for line in lines if re.match(r"step \d+/400", line)]
    require(len(drawn) <= 1, f"progress lines stay: {drawn}")
elif case == "plain":
    data, lines = draw(NO_COLOR="1")
    require(b"\x1b[36m" not in data and b"\r\x1b[Kstep " in data, "NO_COLOR: drawn, without colour")
elif case == "dumb":
    data, lines = draw(TERM="dumb")
    require(b"\x1b" not in data and any(re.match(r"step \d+/400", line) for line in lines),
            "TERM=dumb: lines, no escape sequences")
elif case == "signals":
    for name, number in (("interrupt", signal.SIGINT), ("hangup", signal.SIGHUP)):
        shutil.rmtree(run, ignore_errors=True)
        terminal = Terminal(command("--steps", "100000000"))
        terminal.until(rb"step \d+/100000000")
        if number == signal.SIGINT:
            os.write(terminal.master, b"\x03")  # Ctrl-C
        else:
            os.kill(terminal.pid, number)
        status = terminal.wait()
        require(status == 75, f"{name}: status {status}: {terminal.output[-500:]}")
        message = "".join(screen(terminal.output))
        step = int(re.search(r"stopped after step (\d+); the same command goes on from there", message)[1])
        require(numbers() == list(range(1, step + 1)), f"{name}: the steps in metrics.jsonl")
        require(os.listdir(os.path.join(run, "checkpoints")) == [f"step-{step}"], f"{name}: its step has a checkpoint")
    # A window that is closed: the kernel sends the hangup, and no message can be written any more.
    shutil.rmtree(run, ignore_errors=True)
    terminal = Terminal(command("--steps", "100000000"))
    terminal.until(rb"step \d+/100000000")
    os.close(terminal.master)
    require(os.waitstatus_to_exitcode(os.waitpid(terminal.pid, 0)[1]) == 75, "a closed window")
    require(os.listdir(os.path.join(run, "checkpoints")) == [f"step-{numbers()[-1]}"], "a closed window saves")
    # The second signal ends at once: it comes while the stopped process waits before its save.
    terminal = Terminal(["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *command("--steps", "100000000")])
    terminal.until(rb"step \d+/100000000")
    os.kill(terminal.pid, signal.SIGHUP)
    terminal.until(rb"\r\x1b\[K.*\r\x1b\[K")
    require(terminal.read(0.2) and os.waitpid(terminal.pid, os.WNOHANG) == (0, 0), "an ignored hangup (nohup) stays ignored")
    os.kill(terminal.pid, signal.SIGSTOP)  # both signals are there before it goes on
    os.kill(terminal.pid, signal.SIGINT)
    os.kill(terminal.pid, signal.SIGTERM)
    os.kill(terminal.pid, signal.SIGCONT)
    status = terminal.wait()
    require(status in (128 + signal.SIGINT, 128 + signal.SIGTERM), f"the second signal: status {status}")
elif case == "pipe":
    process = subprocess.Popen(command("--steps", "100000000"), stderr=subprocess.PIPE)
    require(process.stderr.readline().startswith(b"training "), "the first line")
    process.stderr.close()  # as `head -1` does
    process.send_signal(signal.SIGPIPE)
    require(process.wait() == 75, "a closed pipe")
    require(os.listdir(os.path.join(run, "checkpoints")) == [f"step-{(numbers() or [0])[-1]}"], "a closed pipe saves")
print(case, "as it should be")
