"""Writes the pictures that PicturesTest.cpp reads, and beside each one what Pillow reads in it, as a binary Netpbm file.

usage: make.py FOLDER       needs Pillow (13.0 with libjpeg-turbo 3.2 and zlib-ng made those that stand here) and NumPy

PNG files are put together from their chunks, since Pillow does not write every kind of them.
"""
import os
import struct
import sys
import zlib

import numpy as np
from PIL import Image

WIDTH, HEIGHT = 13, 7
PALETTE = bytes((37 * i + 11) % 256 for i in range(48))
#First column and row, and the distances, of the passes of Adam7(ISO / IEC 15948, 8.2).
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
GREY, COLOUR, INDEX, GREY_ALPHA, COLOUR_ALPHA = 0, 2, 3, 4, 6
CHANNELS = {GREY: 1, COLOUR: 3, INDEX: 1, GREY_ALPHA: 2, COLOUR_ALPHA: 4}


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def rows(values, bits):
    """Each row behind filter 0, samples packed from the highest bit on."""
    text = b""
    for row in values:
        if row.size == 0:
            continue
        if bits == 16:
            text += b"\0" + row.astype(">u2").tobytes()
        else:
            spread = (row.reshape(-1, 1) >> np.arange(bits - 1, -1, -1)) & 1
            text += b"\0" + np.packbits(spread.astype("u1").ravel()).tobytes()
    return text


def png(kind, bits, interlaced=False, extra=b"", most=None):
    """`most`: values are below it."""
    count = HEIGHT * WIDTH * CHANNELS[kind]
    values = (np.arange(count) * 40503 % 65521).reshape(HEIGHT, WIDTH, -1) % (most or 1 << bits)
    passes = [values[y::down, x::across] for x, y, across, down in ADAM7] if interlaced else [values]
    data = b"".join(rows(each.reshape(len(each), -1), bits) for each in passes)
    head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, bits, kind, 0, 0, interlaced)
    if kind == INDEX:
        extra = chunk(b"PLTE", PALETTE[:3 * min(1 << bits, 16)]) + extra
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + extra + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b""))


PNGS = {
    "grey1": png(GREY, 1), "grey2": png(GREY, 2), "grey4": png(GREY, 4), "grey8": png(GREY, 8),
    "grey8-transparent": png(GREY, 8, extra=chunk(b"tRNS", b"\0\5")),
    "grey1-interlaced": png(GREY, 1, True), "grey16": png(GREY, 16),
    "grey-alpha8": png(GREY_ALPHA, 8), "grey-alpha16": png(GREY_ALPHA, 16),
    "colour8": png(COLOUR, 8), "colour8-interlaced": png(COLOUR, 8, True), "colour16": png(COLOUR, 16),
    "colour8-gamma": png(COLOUR, 8, extra=chunk(b"gAMA", struct.pack(">I", 100000))),
    "colour8-transparent": png(COLOUR, 8, extra=chunk(b"tRNS", bytes(6))),
    "colour-alpha8": png(COLOUR_ALPHA, 8), "colour-alpha16": png(COLOUR_ALPHA, 16, True),
    "index1": png(INDEX, 1), "index2": png(INDEX, 2), "index4-interlaced": png(INDEX, 4, True),
    "index8-transparent": png(INDEX, 8, extra=chunk(b"tRNS", bytes(range(0, 250, 25))), most=16),
    "index8-beyond": png(INDEX, 8, most=20),  # four indices without a colour
}


def scene(width=29, height=21):
    """Slopes, an edge and fine stripes, of three colours that differ."""
    y, x = np.mgrid[:height, :width]
    red, green = 8 * x + 3 * y, 255 - 9 * y + (x > 17) * 120 * (-1)**x
    blue = 127 + 90 * np.sin(x * y / 19)
    return Image.fromarray(np.clip(np.stack([red, green, blue], -1), 0, 255).astype("u1"))


def jpegs():
    turned = Image.Exif()
    turned[0x0112] = 6  # the orientation
    yield "grey", scene().convert("L"), {
}
yield "grey-progressive", scene().convert("L"), { "progressive" : True }
    for
      name,
          form in(("444", "4:4:4"), ("422", "4:2:2"), ("420", "4:2:0"), ("411", "4:1:1"))
          : yield name, scene(), {"subsampling" : form} yield "420-progressive", scene(),
            {"progressive" : True} yield "420-restarts", scene(), {"restart_marker_blocks" : 1} yield "420-turned", scene(),
            {"exif" : turned} yield "rgb", scene(), {"keep_rgb" : True} yield "one-pixel", scene(1, 1), {}
    yield "cmyk", scene(8, 8).convert("CMYK"), {}

def main(folder):
    for name, data in PNGS.items():
        with open(os.path.join(folder, name + ".png"), "wb") as file:
            file.write(data)
    for name, picture, options in jpegs():
        picture.save(os.path.join(folder, name + ".jpg"), quality=80, **options)
    for name in sorted(os.listdir(folder)):
        if name.endswith((".png", ".jpg")) and name not in ("grey16.png", "cmyk.jpg"):
            with Image.open(os.path.join(folder, name)) as picture:
                grey = name.startswith("grey")  # of 16 bits with alpha Pillow makes colours that are grey
                picture.convert("L" if grey else "RGB").save(os.path.join(folder, name + (".pgm" if grey else ".ppm")))


main(*sys.argv[1:])
