"""The bench without a GPU: numbers by the emulator at small sizes; of what would be timed, how kernels fit on a processor and
what it takes at least."""
import json
import os
import re
import subprocess
import sys
import tempfile

import rows as table
import measure
from library import Model, load

SEED, STEPS = 1, 3
# An H100 SXM, of NVIDIA's data sheet: dense products of 16 bits, memory. A processor of it has 64 K registers, 227 KiB of shared
# memory for blocks, 1 KiB of which the system takes for each block, 2,048 threads, 32 blocks.
FLOPS, BYTES = 989e12, 3.35e12
REGISTERS, SHARED, RESERVED, THREADS, BLOCKS = 65536, 228 << 10, 1 << 10, 2048, 32


def run(options, chosen):
    """Exit code."""
    root = options.build or os.path.join(os.path.dirname(os.path.dirname(table.BENCH)), "build")
    os.environ |= {"TENON_LIBCUDA": os.path.join(root, "lib", "gpu-emu", "libcuda.so.1"), "TENON_GPU_EMU": "fast,sm=90"}
    folder = os.path.join(options.folder, "dry")
    good = True
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TENON_CACHE"] = cache
        if options.one:  # one artifact: the emulator finds its code by the environment, once per process
            return one(load(os.path.join(root, "lib", "libtenon-runtime.so")), next(
                artifact for row in chosen for artifact in row.artifacts if artifact.name == options.found),
                       folder, options.spoil)
        for row in chosen:
            for artifact in row.artifacts:
                if not artifact.is_dry():
                    continue
                os.environ["TENON_GPU_IR"] = os.path.join(folder, artifact.name + ".code")
                command = [sys.executable, os.path.join(table.HERE, "run"), options.folder, "--dry", "--build", root,
                           "--one", row.name, "--found", artifact.name, *(["--spoil"] if options.spoil else [])]
                good &= subprocess.run(command).returncode == 0
        if options.spoil:
            return 0 if good else 1
    everything = os.path.join(options.folder, "artifacts")
    for row in chosen:
        for artifact in row.artifacts:
            path = os.path.join(everything, artifact.name)
            if os.path.exists(options.ptxas):
                print_occupancy(options.ptxas, path, artifact.name)
            print_bounds(path, artifact.name)
    print("nothing was timed: this was no GPU")
    return 0 if good else 1


def one(library, artifact, folder, spoil):
    """Both devices in this process; exit code."""
    results = []
    for suffix, profile in (("", "kernels"), (".cpu", None)):
        model = Model(library, os.path.join(folder, artifact.name + suffix), profile)
        model.initialize(SEED + (spoil and suffix == ""))
        results.append(numbers(model))
        model.close()
    worst = max(measure.difference(results[0][name], results[1][name]) for name in results[1])
    good = worst <= measure.BOUND and len(results[1]) > 0
    print(f"{artifact.name}: {', '.join(results[1])} within {worst:.1e} of the CPU's{'' if good else ': WRONG'}", flush=True)
    return 0 if good else 1


def numbers(model):
    """What the artifact's entries give, by name."""
    import ctypes
    result = {}
    for entry in model.manifest["entries"]:
        context = model.context(entry["name"])
        for tensor in entry["inputs"]:
            count = 1
            for size in tensor["shape"]:
                count *= size
            context.set_input(tensor["name"], (ctypes.c_int32 * count)(*[(7 * i * i + i // 3) % 200 for i in range(count)]))
        if entry["name"] == "train":
            result["losses"] = []
            for step in range(STEPS):
                context.run(step)
                result["losses"].append(context.scalar(entry["outputs"][0]["name"]))
            continue
        context.run()
        if entry["name"] == "grad":
            result |= {f"gradient of {name}": model.gradient(name) for name in model.parameters}
        else:
            result[entry["name"]] = context.output(entry["outputs"][0]["name"])
    return result


def ptx_of(folder):
    """The text that an artifact's library holds."""
    with open(os.path.join(folder, "libbench.so"), "rb") as file:
        data = file.read()
    begin = data.index(b"// tenon-ir:")
    return data[begin:data.index(b"\0", begin)].decode()


def fits(registers, shared, threads):
    """Blocks on a processor at a time, and what bounds them."""
    warps = -(-threads // 32)
    bounds = {"registers": REGISTERS // (warps * (-(-registers * 32 // 256) * 256)),
              "shared memory": SHARED // (shared + RESERVED), "threads": THREADS // (32 * warps), "blocks": BLOCKS}
    least = min(bounds, key=bounds.get)
    return bounds[least], least


def print_occupancy(ptxas, folder, name):
    ptx = ptx_of(folder)
    threads = {kernel: int(count) for kernel, count in re.findall(r"\.entry (\w+)\([^{]*?\.reqntid (\d+)", ptx, re.DOTALL)}
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(ptx)
        file.flush()
        chip = "sm_90a" if ".target sm_90a" in ptx else "sm_90"
        done = subprocess.run([ptxas, f"-arch={chip}", "-v", file.name, "-o", os.devnull], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{name}: ptxas: {done.stderr[:500]}")
    print(f"{name}: kernels by {os.path.basename(ptxas)} for {chip}\n{'registers':>10} {'shared':>7} {'spilled':>7} "
          f"{'threads':>7} {'blocks':>6} {'warps':>5}  bound by; kernel")
    kinds = {}
    for part in done.stderr.split("Compiling entry function '")[1:]:
        kernel = part.split("'")[0]
        used = [max(map(int, re.findall(pattern, part)), default=0)
                for pattern in (r"Used (\d+) registers", r"(\d+) bytes smem", r"(\d+) bytes spill stores")]
        key = (re.sub(r"_\d+$", "", kernel), *used, threads[kernel])
        kinds[key] = kinds.get(key, 0) + 1
    for (kernel, registers, shared, spilled, count), number in kinds.items():
        blocks, why = fits(registers, shared, count)
        print(f"{registers:10} {shared:7} {spilled:7} {count:7} {blocks:6} {blocks * -(-count // 32):5}  {why}; {kernel}"
              f"{f' ({number} of these)' if number > 1 else ''}")


def print_bounds(folder, name):
    """By what the compiler counts of each op: the larger of its operations at the peak and its bytes at the peak."""
    with open(os.path.join(folder, "bench.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    for entry in manifest["entries"]:
        ops, total = {}, 0.0
        for kernel in entry.get("kernels", []):
            flops, size = float(kernel["flops"]), float(kernel["bytes"])
            least = max(flops / FLOPS, size / BYTES)
            place = ":".join(kernel["place"].rsplit("/", 1)[-1].split(":")[:2])
            before = ops.get((kernel["kind"], place), (0, 0, 0))
            ops[kernel["kind"], place] = (before[0] + least, before[1] + flops, before[2] + size)
            total += least
        print(f"{name}: entry {entry['name']} takes {1e6 * total:.1f} us or more on an H100; the longest:")
        for (kind, place), (least, flops, size) in sorted(ops.items(), key=lambda item: -item[1][0])[:12]:
            if least > 0.01 * total:
                print(f"{1e6 * least:10.1f} us  {flops / 1e9:10.2f} Gflop {size / 1e6:10.2f} MB  "
                      f"{'products' if flops / FLOPS > size / BYTES else 'memory':9} {kind} of {place}")
