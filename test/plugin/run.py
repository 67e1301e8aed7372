#!/usr/bin/env python3
"""Runs `infer` of run.mlir, compiled to a library, and compares with y = x + x / (1 + |x|). usage: run.py LIBRARY [--spoil]"""
import ctypes
import sys

ROWS, WIDTH, ARENAS = 5, 8, 9
TILE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
PARALLEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, TILE, ctypes.c_int64)


class Context(ctypes.Structure):
    """TnContext of runtime/include/tenon/artifact.h."""
    _fields_ = [("dims", ctypes.c_void_p), ("arenas", ctypes.c_void_p), ("inputs", ctypes.c_void_p), ("outputs", ctypes.c_void_p),
                ("offsets", ctypes.c_void_p), ("parallel_for", PARALLEL), ("scratch", ctypes.c_void_p),
                ("scratch_stride", ctypes.c_int64), ("seed", ctypes.c_uint64), ("step", ctypes.c_uint64),
                ("pool", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("total_steps", ctypes.c_uint64)]


def aligned(count):
    """Bytes at a multiple of 64, and what keeps them alive."""
    memory = ctypes.create_string_buffer(count + 64)
    return -(-ctypes.addressof(memory) // 64) * 64, memory


def main():
    library = ctypes.CDLL(sys.argv[1])
    offsets, sizes = (ctypes.c_int64 * 64)(), (ctypes.c_int64 * 4)()
    library.tn_bind_infer((ctypes.c_int64 * 1)(), offsets, sizes)
    kept = [aligned(max(64, size)) for size in [0] * 6 + [sizes[1]] + [0] * (ARENAS - 7)]
    values = [(i * 37 % 29 - 14) / 4 for i in range(ROWS * WIDTH)]
    given, result = aligned(4 * len(values)), aligned(4 * len(values))
    numbers = ctypes.c_float * len(values)
    numbers.from_address(given[0])[:] = values
    scratch = aligned(max(64, sizes[2]))
    arenas = (ctypes.c_void_p * ARENAS)(*(address for address, _ in kept))
    inputs, outputs = (ctypes.c_void_p * 1)(given[0]), (ctypes.c_void_p * 1)(result[0])

    def in_order(context, tile, count):
        for i in range(count):
            tile(context, i, 0)

    context = Context(None, ctypes.addressof(arenas), ctypes.addressof(inputs), ctypes.addressof(outputs),
                      ctypes.addressof(offsets), PARALLEL(in_order), scratch[0],
                      sizes[2], 0, 0, None, 0, 1)
    status = library.tn_run_infer_portable(ctypes.byref(context))
    found = list(numbers.from_address(result[0]))
    expected = [x + x / (1 + abs(x)) + (0.1 if "--spoil" in sys.argv else 0) for x in values]
    worst = max(abs(a - b) for a, b in zip(found, expected))
    if status or worst > 1e-6:
        print(f"WRONG: status {status}, largest difference {worst}")
        return 1
    print(f"ok: largest difference {worst}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
