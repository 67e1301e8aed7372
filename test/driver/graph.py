#!/usr/bin/env python3
"""Reads pictures of `tenon inspect --graph`: what arrows join is drawn once, clusters are closed, and stacks are clusters.

usage: graph.py FILE..   (- for each line: its findings, then nodes, arrows and clusters)
"""
import re
import sys

NAME = r'"((?:[^"\\]|\\.)*)"'


def findings(text):
    nodes, arrows, depth, wrong = {}, [], 0, []
    for number, line in enumerate(text.split("\n"), 1):
        bare = re.sub(NAME, "", line)
        depth += bare.count("{") - bare.count("}")
        if '"' in bare:
            wrong.append(f"line {number}: a name is not closed")
        if arrow := re.match(rf"\s*{NAME} -> {NAME}", line):
            arrows.append((number, arrow[1], arrow[2]))
        elif node := re.match(rf"\s*{NAME} \[", line):
            if node[1] in nodes:
                wrong.append(f"line {number}: {node[1]} is drawn twice")
            nodes[node[1]] = number
    wrong += [f"line {number}: an arrow to or from {end}, which is not drawn" for number, *ends in arrows for end in ends
              if end not in nodes]
    joined = {end for _, *ends in arrows for end in ends}
    wrong += [f"line {number}: nothing leads to or from {name}" for name, number in nodes.items() if name not in joined]
    if depth:
        wrong.append("a cluster is not closed")
    return wrong, len(nodes), len(arrows), text.count("subgraph")


def main(paths):
    failed = False
    for path in paths:
        with open(path, encoding="utf-8") as file:
            wrong, nodes, arrows, clusters = findings(file.read())
        failed |= bool(wrong)
        print(*wrong, f"{nodes} nodes, {arrows} arrows, {clusters} clusters, {len(wrong)} wrong", sep="\n")
    return failed


sys.exit(main(sys.argv[1:]))
