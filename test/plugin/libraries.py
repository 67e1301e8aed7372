"""Calls an entry of a library that the tests of plugins compile themselves, without the runtime."""
import ctypes

ARENAS, PARAMETERS, GRADIENTS, WORKSPACE = 13, 0, 1, 6
TILE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
PARALLEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, TILE, ctypes.c_int64)


class Context(ctypes.Structure):
    """TnContext of runtime/include/tenon/artifact.h."""
    _fields_ = [("dims", ctypes.c_void_p), ("arenas", ctypes.c_void_p), ("inputs", ctypes.c_void_p), ("outputs", ctypes.c_void_p),
                ("offsets", ctypes.c_void_p), ("parallel_for", PARALLEL), ("scratch", ctypes.c_void_p),
                ("scratch_stride", ctypes.c_int64), ("seed", ctypes.c_uint64), ("step", ctypes.c_uint64),
                ("pool", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("total_steps", ctypes.c_uint64),
                ("group_ready", ctypes.c_void_p), ("owner", ctypes.c_void_p), ("add_levels", ctypes.c_uint64),
                ("keep_level", ctypes.c_int64), ("level_stride", ctypes.c_int64), ("launch", ctypes.c_void_p),
                ("launcher", ctypes.c_void_p)]


class Block:
    """Memory at a multiple of 64, of these numbers of `kind` or of so many zeros."""

    def __init__(self, content, kind=ctypes.c_float):
        values = [0] * content if isinstance(content, int) else content
        self.type = kind * len(values)
        self.memory = ctypes.create_string_buffer(ctypes.sizeof(self.type) + 128)
        self.address = -(-ctypes.addressof(self.memory) // 64) * 64
        self.type.from_address(self.address)[:] = values

    def values(self):
        return list(self.type.from_address(self.address))


def call(path, entry, inputs, outputs, arenas=None, tier="portable"):
    """Runs `entry` of a tier (its name in symbols), without symbolic dims; `arenas` by number, beside the workspace. Returns its
    status."""
    library = ctypes.CDLL(path)
    offsets, sizes = (ctypes.c_int64 * 256)(), (ctypes.c_int64 * 4)()
    getattr(library, f"tn_bind_{entry}")((ctypes.c_int64 * 1)(), offsets, sizes)
    kept = {WORKSPACE: Block(max(16, sizes[1] // 4 + 16)), **(arenas or {})}
    scratch = Block(max(16, sizes[2] // 4 + 16))
    bases = (ctypes.c_void_p * ARENAS)(*(kept[number].address if number in kept else None for number in range(ARENAS)))
    read = (ctypes.c_void_p * len(inputs))(*(block.address for block in inputs))
    written = (ctypes.c_void_p * len(outputs))(*(block.address for block in outputs))

    def in_order(context, tile, count):
        for i in range(count):
            tile(context, i, 0)

    context = Context(None, ctypes.addressof(bases), ctypes.addressof(read), ctypes.addressof(written), ctypes.addressof(offsets),
                      PARALLEL(in_order), scratch.address, sizes[2], 0, 0, None, 0, 1, None, None, 0, -1, 0, None, None)
    return getattr(library, f"tn_run_{entry}_{tier}")(ctypes.byref(context))


def compared(status, found, expected, control):
    """Says whether a status is 0 and numbers agree to 1e-4, gradients not all zero: the exit status. `expected`: the loss, then
    its gradients; with `control` the last is wrong."""
    expected = [*expected[:-1], expected[-1] + (0.01 if control else 0)]
    worst = max(abs(a - b) for a, b in zip(found, expected, strict=True))
    good = not status and worst < 1e-4 and max(map(abs, expected[1:])) > 0.1
    print(f"ok: largest difference {worst}" if good else f"WRONG: status {status}, largest difference {worst}, of {expected}")
    return 0 if good else 1
