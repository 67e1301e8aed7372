#!/usr/bin/env python3
"""Passes ask an op's interfaces and traits and have no list of ops (law L11 of docs/architecture.md); C++ code asks the table of
element types and does not spell their names.

lint-named-ops.py [--root DIR]

Reads the folders of differentiation, saving, mixed precision, selection, planning, schedule, report and of what generates
kernels; of each file every place that decides by the name of an op: isa<XOp>, dyn_cast<XOp>, getDefiningOp<XOp>, getOps<XOp>, a
walk over XOp, a case of a TypeSwitch. May be named: the ops of the structure, which are the forms themselves; in generators those
of scalar code, which they translate; in a file what it makes or takes apart by its own description. Rewrites name what they
rewrite. Of all C++ files outside of tests every literal "f64", "f32", "f16" or "bf16": the names stand in the table of types
(runtime/base/DataType.h), code says runtime::nameOf of a row or asks what the row says. Prints every other one, then the counts.
"""
import argparse
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Parameters and loops; a round that ends early; the result of an entry; the schedule's loop.
STRUCTURE = {"ParameterOp", "ReadParameterOp", "StackOp", "YieldOp", "AtDepthOp", "SkipOp", "OutputOp", "LoopOp"}
# Of the scalar code in a nest or a gemm.
SCALAR = {"AtOp", "PutOp", "EachOp", "FoldOp", "SizeValueOp", "RandomKeepOp", "RandomBitsOp", "RowIfOp"}
# Every file of them, in subfolders too, and what all of its files may name.
FOLDERS = {
    "lowering/tensor": set(), "lowering/kernel": set(), "lowering/schedule": set(), "lowering/target": set(),
    "lowering/artifact": set(), "lowering/code": SCALAR, "lowering/cpu": SCALAR, "lowering/gpu": SCALAR,
}
# They are the patterns of what they rewrite, or find attention in what it is written in.
REWRITES = {
    "lowering/tensor/AttentionDistances.cpp", "lowering/tensor/AttentionIndices.cpp", "lowering/tensor/AttentionOperands.cpp",
    "lowering/tensor/AttentionOrder.cpp", "lowering/tensor/AttentionPlaces.cpp", "lowering/tensor/AttentionStep.cpp",
    "lowering/tensor/AttentionStored.cpp", "lowering/tensor/AttentionTerms.cpp", "lowering/tensor/ContractWhere.cpp",
    "lowering/tensor/FuseAttention.cpp", "lowering/tensor/LoopContractions.cpp", "lowering/tensor/Simplify.cpp",
    "lowering/tensor/SplitRounds.cpp", "lowering/tensor/TransposedReads.cpp", "lowering/tensor/WindowContractions.cpp",
    "lowering/tensor/WindowPhases.cpp",
}
# What a file is there for, besides.
FILES = {
    "lowering/tensor/AddOptimizer.cpp": {"WriteGradientOp"},  # without one there is nothing to step by
    "lowering/tensor/LayerReadings.h": {"GatherOp"},  # the reads that pick rows
    "lowering/tensor/LayerReadings.cpp": {"SliceOp", "GatherOp"},  # the reads that pick rows
    "lowering/tensor/GradientWrites.cpp": {"WriteGradientOp"},  # several writes of one gradient become one
    "lowering/tensor/ApplyNumerics.cpp": {"ConvertOp"},  # what it inserts
    "lowering/tensor/WidenSums.cpp": {"ConvertOp"},  # what it inserts
    "lowering/kernel/JoinNests.cpp": {"NestOp", "EachOp", "PutOp"},  # which it joins, with their inner dimensions and numbers
    "lowering/kernel/OrderOperands.cpp": {"NestOp", "EachOp", "FoldOp", "AtOp"},  # the loops on lanes, and what reads in them
    "lowering/kernel/KernelResults.cpp": {"PutOp"},  # a result goes with its puts
    "lowering/kernel/SelectKernels.cpp": {"DotOp", "DotWhereOp"},  # become gemm
    "lowering/kernel/PackOperands.cpp": {"GemmOp", "PutOp"},  # which tenon.panels may stand on; where its result goes
    "lowering/schedule/GradientGroups.cpp": {"ReadyOp"},  # what it inserts
    "lowering/schedule/KernelReport.cpp": {"PlaceOp"},  # which parameter a kernel reads
    "lowering/schedule/ScheduledEntry.cpp": {"PlaceOp"},  # what is read at one
    "lowering/code/ScheduleEmitter.cpp": {"PlaceOp", "CopyOp", "ReadyOp", "SumSlicesOp"},  # what each of these becomes
    "lowering/cpu/Attention.cpp": {"AttentionOp"},  # one generator for it and its gradient
    "lowering/gpu/LaneCode.cpp": {"NestOp", "GemmOp"},  # between whose scalar ops values are
    "dialect/ElementCode.cpp": set(),
}
TYPED = ("dialect", "frontend", "lowering", "runtime", "tools")
# Which files may spell the name of an element type, and why.
SPELLED = {
    "runtime/base/DataType.h",  # the table
    "frontend/recipes/RecipeNumerics.cpp",  # keywords of policy(..), which are called like the types that they are exceptions in
    "tools/tenon/ForeignOptions.cpp",  # options of other programs
}
TYPE = re.compile(r'"(?:f64|f32|f16|bf16)"')
DECISION = re.compile(r"\b(?:isa|isa_and_nonnull|dyn_cast|dyn_cast_or_null|getDefiningOp|getOps|IsaPred)<([^>()]*Op\b[^>()]*)>"
                      r"|(?:walk|Case)\(\[[^\]]*\]\((\w+Op)\b")


def named(text):
    """Line number and op of each decision by name; ops of other dialects (arith::ConstantOp) are code that a pass makes."""
    for found in DECISION.finditer(text):
        for name in re.findall(r"(?<![\w:])\w+Op\b", found[1] or found[2]):
            yield text.count("\n", 0, found.start()) + 1, name


def sources(root):
    """Each file that is read, and what all of its folder may name."""
    yield from ((path, set()) for path in FILES if not path.startswith(tuple(FOLDERS)))
    for folder, shared in FOLDERS.items():
        for place, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(place, name), root)
                if name.endswith((".cpp", ".h")) and path not in REWRITES:
                    yield path, shared


def spelled(root):
    """Path, line number and literal of each name of an element type that is no part of a comment."""
    for folder in TYPED:
        for place, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(place, name), root)
                if name.endswith((".cpp", ".h")) and path not in SPELLED:
                    with open(os.path.join(root, path), encoding="utf-8") as file:
                        for number, line in enumerate(file, 1):
                            yield from ((path, number, literal) for literal in TYPE.findall(re.sub(r"(?<!:)//.*", "", line)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=ROOT)
    root = parser.parse_args().root
    wrong = decisions = 0
    files = dict(sources(root))
    for path, shared in files.items():
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for line, name in named(file.read()):
                decisions += 1
                if name not in STRUCTURE | shared | FILES.get(path, set()) | {"ModuleOp"}:
                    print(f"{path}:{line}: decides by the name of {name}: ask an interface or a trait")
                    wrong += 1
    for path, line, literal in spelled(root):
        print(f"{path}:{line}: spells the element type {literal}: say runtime::nameOf, or ask the table of types")
        wrong += 1
    print(f"{len(files)} files, {decisions} decisions by the name of an op, {wrong} wrong")
    return 1 if wrong or not decisions else 0


sys.exit(main())
