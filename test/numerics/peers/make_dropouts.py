#!/usr/bin/env python3
"""Makes values/dropouts.json: the shapes of what public implementations drop in the loss of a case, and how often. Needs torch
and transformers; no test runs it.

usage: make_dropouts.py [CASE..]
"""
import collections
import json
import os
import sys

import make  # first, as it says what float means
import torch
from families import CASES

# Models of the public packages; what stands here as rewritten code has no dropout, and recurrent layers of torch drop inside.
PUBLIC = ["gpt1", "gpt2", "bert", "bert_classify", "bert_span", "bert_tag", "bert_choice", "roberta", "roberta_classify", "nezha",
          "electra_classify", "electra_generator", "xlnet_span", "txl", "t5", "t5_gated", "vit", "unilm"]
# Public models that run a second time for the outputs. XLNet's pre-training is not here: the public code spreads the
# predicted places over all of them in each layer, and has no memory in its first step.
# Its span head has a distance more than any two places have, which is not counted.
PASSES = {"txl": 2, "xlnet_span": 2}


def shape(sizes):
    return tuple(sorted(size for size in sizes if size != 1))


def main(names):
    found = {}
    for name in names or PUBLIC:
        dropped = collections.Counter()

        def record(value, *_, **__):
            sizes = list(value.shape)
            if name == "xlnet_span" and sizes[0] == 2 * CASES[name].dims["T"]:
                sizes[0] -= 1
            dropped[shape(sizes)] += 1
            return value

        torch.nn.functional.dropout = torch.dropout = record
        module, compute = make.MODELS[name](CASES[name])
        compute(module.to(torch.float64).train(), make.given(CASES[name], 0), None)
        found[name] = [[list(sizes), count // PASSES.get(name, 1)] for sizes, count in sorted(dropped.items())]
        print(name, found[name])
    if not names:
        rows = ",\n".join(f" {json.dumps(name)}: {json.dumps(rows)}" for name, rows in found.items())
        with open(os.path.join(make.HERE, "values", "dropouts.json"), "w", encoding="utf-8") as file:
            file.write(f"{{\n{rows}\n}}\n")


main(sys.argv[1:])
