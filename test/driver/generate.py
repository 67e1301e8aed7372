"""Greedy text of the bigram library against the same sums in Python; `spoil` feeds one other prompt byte to Python, which must
differ."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tensors  # noqa: E402

model, folder, how = sys.argv[1:4]
os.makedirs(folder, exist_ok=True)
weights = os.path.join(folder, "weights.safetensors")
subprocess.run(["tenon", "init", model, "--seed", "5", "-o", weights], check=True)
prompt, count = b"In the beginning", 40
found = subprocess.run(["tenon", "generate", model, "--weights", weights, "--greedy", "-p", prompt.decode(), "-n", str(count)],
                       check=True, stdout=subprocess.PIPE).stdout
values = tensors.load_safetensors(weights)["table"].values
rows = [values[256 * k:256 * (k + 1)] for k in range(256)]
memory = [0.0] * 256
text = bytearray(prompt if how != "spoil" else prompt[:-1] + b"h")
while len(text) < len(prompt) + count:
    for byte in text if len(text) == len(prompt) else text[-1:]:
        logits = [row + 0.1 * old for row, old in zip(rows[byte], memory)]
        memory = [0.5 * old + row for row, old in zip(rows[byte], memory)]
    text.append(max(range(256), key=lambda k: logits[k]))
expected = bytes(text[len(prompt):])
if found != prompt + expected + b"\n":
    sys.exit(f"WRONG: {found!r}, expected {expected!r}")
print("same text")
