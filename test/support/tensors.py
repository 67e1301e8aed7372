"""Dense tensors in .npy and .safetensors files, with the standard library alone: the tests must not depend on numpy."""
import array
import ast
import json
import struct

# name here: (array type code, numpy's descriptor, safetensors' name)
TYPES = {"f64": ("d", "<f8", "F64"), "f32": ("f", "<f4", "F32"), "i32": ("i", "<i4", "I32"), "i64": ("q", "<i8", "I64"),
         "bool": ("B", "|b1", "BOOL"), "u8": ("B", "|u1", "U8"), "bf16": ("f", None, "BF16"), "f16": ("f", None, "F16")}
# Of these, which files have as bits, `values` are the numbers.
SHORT = {"bf16": lambda bits: struct.unpack(f"<{len(bits)}f", b"".join(struct.pack("<HH", 0, each) for each in bits)),
         "f16": lambda bits: struct.unpack(f"<{len(bits)}e", bits.tobytes())}


def count(shape):
    product = 1
    for size in shape:
        product *= size
    return product


class Tensor:
    """`values`: row-major, as many as the shape says."""

    def __init__(self, kind, shape, values):
        self.kind, self.shape = kind, tuple(shape)
        self.values = array.array(TYPES[kind][0], values)
        if len(self.values) != count(self.shape):
            raise ValueError(f"{len(self.values)} values for shape {self.shape}")

    def row(self, *index):
        """The sub-tensor at the leading indices, as a flat list."""
        inner = count(self.shape[len(index):])
        start = 0
        for position, size in zip(index, self.shape):
            start = start * size + position
        return list(self.values[start * inner:(start + 1) * inner])


def tensor(kind, nested):
    """From nested lists."""
    shape, level = [], nested
    while isinstance(level, list):
        shape.append(len(level))
        level = level[0] if level else 0
    flat = nested
    for _ in shape[1:]:
        flat = [x for row in flat for x in row]
    return Tensor(kind, shape, flat if shape else [flat])


def save_npy(path, value):
    header = repr({"descr": TYPES[value.kind][1], "fortran_order": False, "shape": value.shape})
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + value.values.tobytes())


def load_npy(path):
    with open(path, "rb") as file:
        magic = file.read(8)
        if magic[:6] != b"\x93NUMPY":
            raise ValueError(f"{path} is not an .npy file")
        size, = struct.unpack("<H", file.read(2)) if magic[6] == 1 else struct.unpack("<I", file.read(4))
        header = ast.literal_eval(file.read(size).decode())
        kinds = [kind for kind, names in TYPES.items() if names[1] == header["descr"]]
        if header["fortran_order"] or not kinds:
            raise ValueError(f"{path}: unexpected layout {header}")
        values = array.array(TYPES[kinds[0]][0])
        values.frombytes(file.read())
    return Tensor(kinds[0], header["shape"], values)


def save_safetensors(path, tensors):
    """Of types that arrays have."""
    header, offset = {}, 0
    for name, value in tensors.items():
        size = len(value.values) * value.values.itemsize
        header[name] = {"dtype": TYPES[value.kind][2], "shape": list(value.shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for value in tensors.values():
            file.write(value.values.tobytes())


def load_safetensors(path):
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = file.read()
    result = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        kinds = [kind for kind, names in TYPES.items() if names[2] == entry["dtype"]]
        if not kinds:
            raise ValueError(f"{path}: {name} has type {entry['dtype']}")
        values = array.array("H" if kinds[0] in SHORT else TYPES[kinds[0]][0])
        values.frombytes(data[slice(*entry["data_offsets"])])
        values = SHORT[kinds[0]](values) if kinds[0] in SHORT else values
        result[name] = Tensor(kinds[0], entry["shape"], values)
    return result
