"""Whether lines of `tenon generate --json` (standard input) are JSON in UTF-8, with the text that their ids, bytes, spell: a byte
that belongs to no character as U+FFFD. There has to be one."""
import json
import sys


def spelled(data):
    text, at = "", 0
    while at < len(data):
        for length in range(1, 5):
            try:
                text += data[at:at + length].decode("utf-8")
                break
            except UnicodeDecodeError:
                continue
        else:
            text, length = text + "\ufffd", 1
        at += length
    return text


found = [each for line in sys.stdin.buffer.read().decode("utf-8").splitlines() for each in json.loads(line)]
for each in found:
    if each["text"] != spelled(bytes(each["ids"])):
        sys.exit(f"WRONG: {each}")
if not any("\ufffd" in each["text"] for each in found):
    sys.exit("WRONG: every byte belongs to a character: the test has nothing to see")
