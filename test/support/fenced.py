#!/usr/bin/env python3
"""Prints the N-th block of a language in a Markdown file: fenced.py FILE LANGUAGE [N, from 1]"""
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    blocks = re.findall(r"^```" + re.escape(sys.argv[2]) + r"\n(.*?)^```", file.read(), re.M | re.S)
number = int(sys.argv[3]) if len(sys.argv) > 3 else 1
if number > len(blocks):
    sys.exit(f"{sys.argv[1]} has {len(blocks)} blocks of {sys.argv[2]}")
sys.stdout.write(blocks[number - 1])
