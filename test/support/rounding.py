"""Numbers as other element types have them."""
import array
import struct


def to_bf16(x):
    """Nearest even; what is denormal as f32 becomes 0."""
    bits, = struct.unpack("<I", struct.pack("<f", x))
    if not bits & 0x7F800000:
        return 0.0
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000))[0]


def away(x):
    """Nearest bf16, ties away from zero: how weights in two halves are rounded."""
    bits, = struct.unpack("<I", struct.pack("<f", x))
    return struct.unpack("<f", struct.pack("<I", (bits + 0x8000) & 0xFFFF0000))[0]


def tie(x):
    """A number in the middle of two bf16, near x."""
    bits, = struct.unpack("<I", struct.pack("<f", x))
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000 | 0x8000))[0]


def to_f16(x):
    """Nearest even, with the numbers below 2^-14 that lie 2^-24 apart."""
    return struct.unpack("<e", struct.pack("<e", x))[0]


def to_f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def all_to_bf16(values):
    """to_bf16 of many numbers of f32."""
    bits = array.array("I", array.array("f", values).tobytes())
    return array.array("f", array.array("I", [(x + 0x7FFF + (x >> 16 & 1)) & 0xFFFF0000 if x & 0x7F800000 else 0
                                              for x in bits]).tobytes())
