"""Counts accesses to the stack inside the loops of every micro-kernel of an assembly file (standard input).

Prints one line per kernel whose innermost loops touch the stack, and a total. A spilled accumulator puts a store and a load into
the dependency chain of the contraction and costs three quarters of its speed. Exit status 1 if there is any, 2 if no kernel was
found.
"""
import re
import sys

STACK = re.compile(r"\(%r[sb]p[,)]")


def loops(lines):
    """Yields the lines from each local label to the jump back to it."""
    position = {}
    for number, line in enumerate(lines):
        label = re.match(r"(\.LBB\w+):", line)
        if label:
            position[label.group(1)] = number
        jump = re.match(r"\s+j\w+\s+(\.LBB\w+)", line)
        if jump and jump.group(1) in position:
            yield lines[position[jump.group(1)]:number + 1]


def uses_frame_pointer(lines):
    return any(re.search(r"movq\s+%rsp, %rbp", line) for line in lines)


def main():
    kernels = loop_count = total = 0
    name, body, functions = None, [], []
    for line in sys.stdin.read().splitlines():
        start = re.match(r"(tn_gemm_micro_\w+):", line)
        if start:
            name, body = start.group(1), []
        elif name and line.startswith("\t.size"):
            functions.append((name, body))
            name = None
        elif name:
            body.append(line.split("#")[0])
    for name, body in functions:
        kernels += 1
        framed = uses_frame_pointer(body)
        spills = 0
        for loop in loops(body):
            if not any("vfmadd" in line or "dpbf16ps" in line for line in loop):
                continue
            loop_count += 1
            touched = [line for line in loop if STACK.search(line) and ("(%rsp" in line or framed)]
            spills += len(touched)
        if spills:
            print(f"{name}: {spills} accesses to the stack in its loops")
        total += spills
    if kernels == 0 or loop_count < kernels:
        print(f"found {kernels} micro-kernels with {loop_count} loops: nothing to judge")
        return 2
    print(f"{kernels} micro-kernels, {loop_count} loops, {total} accesses to the stack")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
