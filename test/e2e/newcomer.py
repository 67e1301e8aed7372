"""Whether a model has learned more of a text than the frequencies of its symbols. newcomer.py TEXT EVAL-JSON"""
import collections
import json
import math
import sys

with open(sys.argv[1], "rb") as file:
    counts = collections.Counter(file.read())
total = sum(counts.values())
entropy = -sum(count / total * math.log2(count / total) for count in counts.values())
with open(sys.argv[2], encoding="utf-8") as file:
    bits = json.load(file)["bits_per_char"]
learned = bits < 0.9 * entropy
print(f"{bits:.2f} bits per character, symbols alone have {entropy:.2f}: {'learned' if learned else 'NOT learned'}")
sys.exit(0 if learned else 1)
