#!/usr/bin/env python3
"""Passes ask an op's interfaces and traits and have no list of ops (law L11 of docs/architecture.md).

lint-named-ops.py [--root DIR]

Reads differentiation, saving, mixed precision, selection, planning, schedule, report and what generates kernels; of these files
every place that decides by the name of an op: isa<XOp>, dyn_cast<XOp>, getDefiningOp<XOp>, getOps<XOp>, a walk over XOp, a case
of a TypeSwitch. May be named: the ops of the structure, which are the forms themselves, and in a file what it makes or takes
apart by its own description. Prints every other one, then the counts.
"""
import argparse
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Parameters and loops; a round that ends early; the result of an entry; the schedule's loop.
STRUCTURE = {"ParameterOp", "ReadParameterOp", "StackOp", "YieldOp", "AtDepthOp", "SkipOp", "OutputOp", "LoopOp"}
# What a file is there for.
FILES = {
    "lowering/tensor/Differentiate.cpp": set(),
    "lowering/tensor/DifferentiateLoops.cpp": set(),
    "lowering/tensor/SavedValues.cpp": set(),
    "lowering/tensor/RecomputeBlocks.cpp": set(),
    "lowering/tensor/LastLayer.cpp": set(),
    "lowering/tensor/LayerReadings.cpp": {"SliceOp", "GatherOp"},  # the reads that pick rows
    "lowering/tensor/GradientWrites.cpp": {"WriteGradientOp"},  # several writes of one gradient become one
    "lowering/tensor/ApplyNumerics.cpp": {"ConvertOp"},  # what it inserts
    "lowering/tensor/WidenSums.cpp": {"ConvertOp"},  # what it inserts
    "lowering/kernel/ValuesInMemory.cpp": set(),
    "lowering/kernel/JoinNests.cpp": {"NestOp", "EachOp", "PutOp"},  # which it joins, with their inner dimensions and numbers
    "dialect/ElementCode.cpp": set(),
    "lowering/kernel/KernelGroups.cpp": set(),
    "lowering/kernel/KernelResults.cpp": {"PutOp"},  # a result goes with its puts
    "lowering/kernel/SelectKernels.cpp": {"DotOp", "DotWhereOp"},  # become gemm
    "lowering/kernel/DecomposeForTarget.cpp": set(),
    "lowering/kernel/PanelParameters.cpp": set(),
    "lowering/kernel/PackOperands.cpp": {"GemmOp", "PutOp"},  # which tenon.panels may stand on; where its result goes
    "lowering/kernel/PlaceParameters.cpp": set(),
    "lowering/schedule/GradientGroups.cpp": {"ReadyOp"},  # what it inserts
    "lowering/schedule/KernelReport.cpp": {"PlaceOp"},  # which parameter a kernel reads
    "lowering/schedule/MemoryPlan.cpp": set(),
    "lowering/schedule/PlanMemory.cpp": set(),
    "lowering/schedule/PlanMemoryPass.cpp": set(),
    "lowering/schedule/Schedule.cpp": set(),
    "lowering/schedule/ScheduledEntry.cpp": {"PlaceOp"},  # what is read at one
    "lowering/code/ScheduleEmitter.cpp": {"PlaceOp", "CopyOp", "ReadyOp", "SumSlicesOp"},  # what each of these becomes
    "lowering/artifact/Manifest.cpp": set(),
    "lowering/cpu/CpuTarget.cpp": set(),
    "lowering/cpu/Generators.cpp": set(),
    "lowering/cpu/Kernel.cpp": set(),
    "lowering/cpu/NestCut.cpp": set(),
    "lowering/gpu/GpuTarget.cpp": set(),
    "lowering/gpu/Generators.cpp": set(),
    "lowering/gpu/Launch.cpp": set(),
}
DECISION = re.compile(r"\b(?:isa|isa_and_nonnull|dyn_cast|dyn_cast_or_null|getDefiningOp|getOps|IsaPred)<([^>()]*Op\b[^>()]*)>"
                      r"|(?:walk|Case)\(\[[^\]]*\]\((\w+Op)\b")


def named(text):
    """Line number and op of each decision by name; ops of other dialects (arith::ConstantOp) are code that a pass makes."""
    for found in DECISION.finditer(text):
        for name in re.findall(r"(?<![\w:])\w+Op\b", found[1] or found[2]):
            yield text.count("\n", 0, found.start()) + 1, name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=ROOT)
    root = parser.parse_args().root
    wrong = decisions = 0
    for path, own in FILES.items():
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for line, name in named(file.read()):
                decisions += 1
                if name not in STRUCTURE | own | {"ModuleOp"}:
                    print(f"{path}:{line}: decides by the name of {name}: ask an interface or a trait")
                    wrong += 1
    print(f"{len(FILES)} files, {decisions} decisions by the name of an op, {wrong} wrong")
    return 1 if wrong or not decisions else 0


sys.exit(main())
