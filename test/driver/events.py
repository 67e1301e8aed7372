"""Event files as TensorBoard reads them, by a reader of their own: lengths, checksums, protocol buffers.

events.py RUN  the numbers of RUN's event files are those of its metrics.jsonl
"""
import glob
import json
import os
import struct
import sys


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(path):
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):
        (length, check) = struct.unpack_from("<QI", data, at)
        event = data[at + 12 : at + 12 + length]
        if check != masked(data[at : at + 8]) or struct.unpack_from("<I", data, at + 12 + length)[0] != masked(event):
            sys.exit(f"WRONG: {os.path.basename(path)}: the record at byte {at} is damaged")
        yield event
        at += length + 16


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(message):
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        size = {1: 8, 5: 4}.get(key & 7)
        if key & 7 == 0:
            value, at = varint(message, at)
        else:
            if size is None:
                size, at = varint(message, at)
            value, at = message[at : at + size], at + size
        yield key >> 3, value


def events(run):
    """(step, tag, value) of all files, in the order of their names."""
    for path in sorted(glob.glob(os.path.join(run, "events.out.tfevents.*"))):
        for number, event in enumerate(records(path)):
            entry = dict(fields(event))
            if not 1.6e9 < struct.unpack("<d", entry[1])[0] < 1e10:
                sys.exit("WRONG: the wall time")
            if number == 0 and entry.get(3) != b"brain.Event:2":
                sys.exit(f"WRONG: the first event says {entry}")
            for field, value in fields(entry.get(5, b"")):
                named = dict(fields(value))
                if field != 1 or set(named) != {1, 2}:
                    sys.exit(f"WRONG: a summary has the fields {field}, {sorted(named)}")
                yield entry.get(2, 0), named[1].decode(), struct.unpack("<f", named[2])[0]


def main():
    if crc32c(b"123456789") != 0xE3069283:
        sys.exit("WRONG: the checksum of this reader")
    wanted = []
    with open(os.path.join(sys.argv[1], "metrics.jsonl"), encoding="utf-8") as file:
        for line in map(json.loads, file):
            step = line.pop("step")
            wanted += [(step, "valid/" + key[6:] if key.startswith("valid_") else "train/" + key, value)
                       for key, value in line.items()]
    got = list(events(sys.argv[1]))
    if [(step, tag) for step, tag, _ in got] != [(step, tag) for step, tag, _ in wanted]:
        sys.exit(f"WRONG: {got[:20]} instead of {wanted[:20]}")
    for one, other in zip(got, wanted):
        if abs(one[2] - other[2]) > 1e-6 * abs(other[2]):
            sys.exit(f"WRONG: {one} instead of {other}")
    print(f"{len(got)} numbers, {len({tag for _, tag, _ in got})} tags")


if __name__ == "__main__":
    main()
