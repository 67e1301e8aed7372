"""Compares the generated contractions with those of another library, one thread each, alternating in one run.

usage: compare-gemm.py BENCH [--library mkl|openblas] [--rounds N] [--case SUBSTRING] [--tier avx512]
  BENCH is the tenon-gemm-bench executable. mkl: PyTorch's, with MKL's code for the processor's vectors, as the bench's `eager`;
  openblas: NumPy's, with OpenBLAS's code for the vectors of the tier. The environment variable TENON_PEER names a virtual
  environment with PyTorch and NumPy (as for test/bench/run); without it the comparison is skipped. Prints one line per shape:
  both speeds as medians over the rounds, the median of the paired ratios and its range. Both sides check their result against
  the same contraction in f64; a wrong result ends the run with status 1.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

# name: M, N, K, layout of A, layout of B, as in GemmBench.cpp (r: row-major, t: transposed)
SHAPES = {
    "256x768x768": (256, 768, 768, "r", "t"),
    "256x3072x768": (256, 3072, 768, "r", "t"),
    "256x768x3072": (256, 768, 3072, "r", "t"),
    "256x768x768-dx": (256, 768, 768, "r", "r"),
    "256x768x3072-dx": (256, 768, 3072, "r", "r"),
    "lm-head": (252, 50257, 768, "r", "t"),
    "lm-head-dx": (252, 768, 50257, "r", "r"),
    "768x3072x256-dw": (768, 3072, 256, "t", "r"),
    "600x410x410": (600, 410, 410, "r", "t"),
    "600x2100x410": (600, 2100, 410, "r", "t"),
    "600x410x2100": (600, 410, 2100, "r", "t"),
    "64x64x64": (64, 64, 64, "r", "r"),
    "128x41x128": (128, 41, 128, "r", "r"),
    "8x768x768": (8, 768, 768, "r", "t"),
    "32x768x768": (32, 768, 768, "r", "t"),
    "1x768x768": (1, 768, 768, "r", "t"),
}


def openblas_product(shape):
    """A call of NumPy's product of random matrices, and a check of its result."""
    import numpy

    m, n, k, a_layout, b_layout = shape
    generator = numpy.random.default_rng(1)
    a = generator.random((m, k) if a_layout == "r" else (k, m), dtype=numpy.float32) - numpy.float32(0.5)
    b = generator.random((k, n) if b_layout == "r" else (n, k), dtype=numpy.float32) - numpy.float32(0.5)
    a = a if a_layout == "r" else a.T
    b = b if b_layout == "r" else b.T
    out = numpy.empty((m, n), numpy.float32)

    def is_right():
        columns = numpy.arange(0, n, max(1, n // 64))
        left, right = a.astype(float), b[:, columns].astype(float)
        return (abs(out[:, columns] - left @ right) <= k * 2.0**-24 * (abs(left) @ abs(right))).all()

    return lambda: numpy.dot(a, b, out=out), is_right


def mkl_product(shape):
    """The same of PyTorch."""
    import torch

    torch.set_num_threads(1)
    m, n, k, a_layout, b_layout = shape
    generator = torch.Generator().manual_seed(1)
    a = torch.rand((m, k) if a_layout == "r" else (k, m), generator=generator) - 0.5
    b = torch.rand((k, n) if b_layout == "r" else (n, k), generator=generator) - 0.5
    a = a if a_layout == "r" else a.t()
    b = b if b_layout == "r" else b.t()
    out = torch.empty(m, n)

    def is_right():
        columns = torch.arange(0, n, max(1, n // 64))
        exact = a.double() @ b[:, columns].double()
        magnitude = a.double().abs() @ b[:, columns].double().abs()
        return bool(((out[:, columns] - exact).abs() <= k * 2.0**-24 * magnitude).all())

    return lambda: torch.mm(a, b, out=out), is_right


PRODUCTS = {"mkl": mkl_product, "openblas": openblas_product}
OPENBLAS_CODE = {"avx512": "SkylakeX", "avx2": "Haswell"}  # OPENBLAS_CORETYPE: what it takes by itself may be narrower


def peer_speed(library, shape, seconds=0.2):
    """GFLOP/s of the library's product on `shape`; runs inside the peer's interpreter."""
    import time

    multiply, is_right = PRODUCTS[library](shape)
    multiply()
    if not is_right():
        raise SystemExit("the peer's result is wrong")
    m, n, k, _, _ = shape
    flops = 2.0 * m * n * k
    count = max(1, int(2e8 / flops))
    best, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(best) < 3:
        start = time.perf_counter()
        for _ in range(count):
            multiply()
        best.append(flops * count / (time.perf_counter() - start) * 1e-9)
    return statistics.median(best)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", nargs="?")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--case", default="")
    parser.add_argument("--tier", default="avx512")
    parser.add_argument("--library", choices=PRODUCTS, default="mkl")
    parser.add_argument("--peer", help="internal: measure these comma-separated shapes in this interpreter")
    options = parser.parse_args()
    if options.peer:
        print(json.dumps({name: peer_speed(options.library, SHAPES[name]) for name in options.peer.split(",")}))
        return 0
    if not options.bench:
        parser.error("the path of tenon-gemm-bench is missing")
    peer = os.environ.get("TENON_PEER")
    if not peer:
        print("TENON_PEER is not set: nothing to compare with")
        return 0
    peer = os.path.join(peer, "bin", "python")
    from contestants import preloaded
    folder = tempfile.TemporaryDirectory(prefix="tenon-gemm-")
    environment = dict(os.environ, OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1",
                       LD_PRELOAD=preloaded(folder.name))
    if options.tier in OPENBLAS_CODE:
        environment["OPENBLAS_CORETYPE"] = OPENBLAS_CODE[options.tier]
    print("GFLOP/s of both, share of the FMA peak, ours / peer")
    print(f"{'shape':18} {'ours':>7} {'share':>6} {'peer':>7} {'ratio':>6}   range")
    for name in SHAPES:
        if options.case not in name:
            continue
        ours, shares, theirs, ratios = [], [], [], []
        for _ in range(options.rounds):
            lines = subprocess.run([options.bench, f"--tier={options.tier}", f"--exact={name}", "--seconds=0.2"],
                                   check=True, capture_output=True, text=True).stdout.splitlines()
            record = json.loads(lines[0])
            command = [peer, os.path.abspath(__file__), "--library", options.library, "--peer", name]
            speeds = json.loads(subprocess.run(command, check=True, env=environment, capture_output=True, text=True).stdout)
            ours.append(record["gflops"])
            shares.append(record["share"])
            theirs.append(speeds[name])
            ratios.append(record["gflops"] / speeds[name])
        print(f"{name:18} {statistics.median(ours):7.1f} {statistics.median(shares):6.2f} {statistics.median(theirs):7.1f} "
              f"{statistics.median(ratios):6.2f}   {min(ratios):.2f}-{max(ratios):.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
