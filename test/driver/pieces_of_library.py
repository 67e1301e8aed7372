"""Pieces by the runtime library, which opens what it needs for them as the command does.

usage: pieces_of_library.py PACKAGE LIBRARY ARTIFACT WEIGHTS VOCABULARY ..
"""
import os
import sys

sys.path[0] = sys.argv[1]  # this folder has an inspect.py
os.environ["TENON_LIBRARY"] = sys.argv[2]
import tenon  # noqa: E402

with tenon.Model.open(sys.argv[3]) as model:
    model.load(sys.argv[4])
    for vocabulary in sys.argv[5:]:
        print("the quick" + model.generate("the quick", limit=12, greedy=True, vocabulary=vocabulary))
