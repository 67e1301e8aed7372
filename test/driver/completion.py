"""Completion scripts and the manual page know every command and option of the help texts, and bash completes real words with
them."""
import os
import re
import shlex
import shutil
import subprocess
import sys

folder = sys.argv[1]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(os.path.join(folder, "models"))
for name in ("mine.tn", "notes.txt", "models/deep.tn"):
    open(os.path.join(folder, name), "w", encoding="utf-8").close()


def output(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


scripts = {shell: output("tenon", "completion", shell) for shell in ("bash", "zsh", "fish")}
for shell, text in scripts.items():
    with open(os.path.join(folder, shell), "w", encoding="utf-8") as file:
        file.write(text)


def complete(line):
    """What bash offers at the end of the line; words are cut as readline does."""
    words = [part for word in line.split(" ") for part in re.split("(=)", word) if part or not word]
    if line.endswith("="):
        words = words + [""] if words[-1] != "=" else words
    script = (f"source ./bash; COMP_WORDS=({' '.join(map(shlex.quote, words))}); COMP_CWORD={len(words) - 1}; _tenon; printf "
              f"'%s\\n' \"${{COMPREPLY[@]}}\"")
    offered = output("bash", "--norc", "-c", script, cwd=folder).split()
    print(f"{line}| {' '.join(offered)}")


for line in ("tenon ", "tenon ch", "tenon completion ", "tenon completion f", "tenon check --mod", "tenon check --diagnostics ",
             "tenon check --diagnostics=j", "tenon check --diagnostics=", "tenon compile --emit ",
             "tenon compile x.tn --tier x86-64-v", "tenon train ", "tenon train mi", "tenon train --text n",
             "tenon train -o m", "tenon train --steps ", "tenon generate --top"):
    complete(line)

# Every command and option of the help texts is in every script and in the manual page.
manual = output("tenon", "man")
commands = re.findall(r"^  (\S+) ", output("tenon", "--help").split("Subcommands:")[1].split("Exit codes")[0], re.M)
for command in commands:
    options = re.findall(r"^  (?:-\w,)?(--[\w-]+)", output("tenon", command, "--help"), re.M)
    parts = {"bash": re.search(rf"^    {command}\) .*$", scripts["bash"], re.M).group(0),
             "zsh": scripts["zsh"].split(f"    {command}) _arguments")[1].split(";;")[0],
             "fish": "\n".join(line for line in scripts["fish"].splitlines() if f"from {command}'" in line).replace("-l ", "--"),
             "man": manual.split(f".SS tenon {command}".replace("-", "\\-"))[1].split(".SS")[0].replace("\\-", "-")}
    for where, text in parts.items():
        lacking = [option for option in options if not re.search(re.escape(option) + r"(?![\w-])", text)
                   and not (where == "man" and option == "--help")]
        if lacking or not options:
            print(f"{where} lacks of {command}: {lacking or 'everything'}")
print("commands:", len(commands) > 10)

# The syntax: by the shells and groff where they are, else by what they all share, quotes that are closed.
shlex.split(scripts["zsh"], comments=True)
for line in scripts["fish"].splitlines():
    shlex.split(line.replace("\\'", ""), comments=True)
for shell, check in (("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"]), ("fish", ["fish", "--no-execute"])):
    if shutil.which(shell):
        subprocess.run([*check, os.path.join(folder, shell)], check=True)
requests = {line.split(" ")[0] for line in manual.splitlines() if line.startswith((".", "'"))}
print("requests of the manual page:", sorted(requests))
if shutil.which("groff"):
    done = subprocess.run(["groff", "-man", "-ww", "-Tascii", "-P-cbou"], input=manual, check=True, capture_output=True,
                          text=True)
    print(done.stderr, end="")
    assert "NO_COLOR" in done.stdout and done.stdout.count("\n") > 200
