"""Maps of attention, from the compiler and from pictures, against plain Python.

attention.py numbers FOLDER        states of the model with maps: what FOLDER/weights.safetensors gives
attention.py picture FOLDER TEXT [JOB]  FOLDER/prompt.svg shows the same for TEXT, where JOB: with row JOB of the parameter `job`
                                   added to all symbols
attention.py forms FOLDER          maps of FOLDER/forms.tn
attention.py memory FIRST SECOND   the memory of the picture of the second window has the symbols of the first
attention.py look PICTURE ROWS     a picture has so many rows of maps, and the rows of each map add up to 1
"""
import base64
import math
import os
import struct
import sys
import xml.etree.ElementTree as xml
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import driver  # noqa: E402
import tensors  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def nested(tensor):
    """A tensor as lists in lists."""
    def part(values, shape):
        if len(shape) < 2:
            return list(values)
        size = len(values) // shape[0]
        return [part(values[i * size:(i + 1) * size], shape[1:]) for i in range(shape[0])]
    return part(tensor.values, tensor.shape)


def expected(weights, ids, job=None):
    """Of map.tn, by (layer, head): each row's weights, 0 behind the diagonal."""
    flat = {name: tensor.values for name, tensor in weights.items()}
    width, heads, size = 8, 2, 4
    x = [flat["emb"][i * width:(i + 1) * width] for i in ids]
    if job is not None:
        x = [[a + b for a, b in zip(row, flat["job"][job * width:(job + 1) * width])] for row in x]
    maps = {}
    for layer in range(2):
        def linear(name, rows, wide):
            w = flat[f"blocks.{layer}.{name}.weight"]
            return [[sum(w[o * wide + i] * row[i] for i in range(wide)) for o in range(len(w) // wide)] for row in rows]
        q, k, v = (linear(name, x, width) for name in ("wq", "wk", "wv"))
        mixed = [[0.0] * (heads * size) for _ in x]
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            rows = []
            for i, query in enumerate(q):
                scores = [sum(a * b for a, b in zip(query[part], k[j][part])) / math.sqrt(size) for j in range(i + 1)]
                powers = [math.exp(score - max(scores)) for score in scores]
                rows.append([power / sum(powers) for power in powers] + [0.0] * (len(x) - i - 1))
                for e in range(size):
                    mixed[i][head * size + e] = sum(rows[i][j] * v[j][head * size + e] for j in range(i + 1))
            maps[layer, head] = rows
        out = linear("wo", mixed, heads * size)
        x = [[a + b for a, b in zip(row, more)] for row, more in zip(x, out)]
    return maps


def largest_difference(maps, others):
    return max(abs(a - b) for name in maps for row, other in zip(maps[name], others[name]) for a, b in zip(row, other))


def states(folder, spec, names, ids, *options):
    """The maps that `tenon run` leaves in states of these names."""
    words = driver.given(folder, {"ids": tensors.tensor("i32", [ids])})
    paths = [os.path.join(folder, f"map-{i}.npy") for i in range(len(names))]
    for name, path in zip(names, paths):
        words += ["--save-state", f"{name}=@{path}"]
    driver.tenon("run", spec, *words, *options)
    return [tensors.load_npy(path) for path in paths]


def compiled(folder, spec, *options):
    made = os.path.join(folder, "maps-of-" + os.path.basename(spec).removesuffix(".tn") + "".join(options))
    driver.tenon("compile", spec, "--attention-maps", "--no-recipe", *options, "--tier", "portable", "--quick", "-o", made)
    return made


def numbers(folder):
    ids = list(b"the fox & <dog>")
    weights = os.path.join(folder, "weights.safetensors")
    wanted = expected(tensors.load_safetensors(weights), ids)
    for options in ([], ["--decomposed"]):
        made = compiled(folder, os.path.join(folder, "map.tn"), *options)
        found = nested(states(folder, made, ["attention[T, S] blocks.*"], ids, "--weights", weights, "--entry", "infer")[0])
        maps = {(layer, head): found[layer][0][head] for layer in range(2) for head in range(2)}
        print(f"{len(maps)} maps as the weights give them, {'decomposed' if options else 'fused'}: largest difference "
              f"{largest_difference(maps, wanted):.1e}")
    for rows in maps.values():
        for i, row in enumerate(rows):
            if abs(sum(row) - 1) > 1e-5 or any(row[i + 1:]):
                sys.exit("WRONG: a row that does not add up to 1, or a weight behind the diagonal")
    names = list(maps)
    if any(largest_difference({0: maps[a]}, {0: maps[b]}) < 1e-3 for a in names for b in names if a < b):
        sys.exit("WRONG: two maps agree")
    print("rows add up to 1, what is masked is 0, no two maps agree")
    swapped = {(layer, 1 - head): rows for (layer, head), rows in maps.items()}
    print("WRONG" if largest_difference(swapped, wanted) < 1e-3 else "the heads in another order are noticed")


def pixels(link):
    """Rows of palette indices of a PNG in a data: link, one per cell; every checksum is looked at, and that cells are squares of
    one colour."""
    data = base64.b64decode(link.removeprefix("data:image/png;base64,"), validate=True)
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        sys.exit("WRONG: no PNG")
    chunks, at = {}, 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        content = data[at + 8:at + 8 + size]
        if struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] != zlib.crc32(kind + content):
            sys.exit("WRONG: a checksum")
        chunks[kind], at = content, at + 12 + size
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    rows = zlib.decompress(chunks[b"IDAT"])
    if len(rows) != height * (width + 1) or len(chunks[b"PLTE"]) != 768:
        sys.exit("WRONG: a size")
    cells = []
    for i in range(height):
        line = rows[i * (width + 1):(i + 1) * (width + 1)]
        if line[0] == 0:
            cells.append(line[1:])
        elif line != b"\x02" + bytes(width):
            sys.exit("WRONG: a row that is neither new nor the one above")
    scale = height // len(cells)
    if any(bytes(cell for cell in row[::scale] for _ in range(scale)) != row for row in cells):
        sys.exit("WRONG: a cell that is no square")
    return [list(row[::scale]) for row in cells]


def pictures(path):
    """Title, palette indices and labels above of each map of a picture, and the labels beside all."""
    root = xml.parse(path).getroot()
    found = []
    for group in root.findall(f"{SVG}g"):
        above = [text.text for text in group.findall(f"{SVG}text") if text.get("class") == "label"]
        found.append((group.find(f"{SVG}title").text, pixels(group.find(f"{SVG}image").get("href")), above))
    beside = [text.text for text in root.findall(f"{SVG}text") if text.get("class") == "label"
              and text.get("text-anchor") == "end"]
    return found, beside


def shows(indices, weights):
    """Whether colours are those of weights: 0 is a colour of its own, others go by their square roots."""
    return all(index == 0 if weight == 0 else abs(index - 1 - 253 * math.sqrt(weight)) <= 1
               for row, wanted in zip(indices, weights) for index, weight in zip(row, wanted))


def picture(folder, text, job=None):
    job = None if job is None else int(job)
    found, beside = pictures(os.path.join(folder, "prompt.svg"))
    print("; ".join(title for title, _, _ in found))
    rows, columns = {len(indices) for _, indices, _ in found}, {len(indices[0]) for _, indices, _ in found}
    if any(above != beside[:len(above)] for _, _, above in found):
        sys.exit("WRONG: rows and columns have other labels")
    print(*rows, "rows and", *columns, "columns, labelled", *found[0][2])
    weights = tensors.load_safetensors(os.path.join(folder, "weights.safetensors"))

    def agrees(string, job):
        wanted = expected(weights, list(string.encode()), job)
        return all(shows(indices, wanted[i // 2, i % 2]) for i, (_, indices, _) in enumerate(found))
    print("the colours are those of the weights, to 1 of 253" if agrees(text, job) else "WRONG")
    print("WRONG" if agrees("the cat & <dog>", job) else "the weights of another text are noticed")
    if job is not None:
        print("WRONG" if agrees(text, 1 - job) or agrees(text, None) else "those of another task, too")


def forms(folder):
    names = [f"attention[T, S] {path}" for path in ("blocks.*.near", "blocks.*.far", "blocks.*.far (2)", "again.*")]
    made = compiled(folder, os.path.join(folder, "forms.tn"))
    found = states(folder, made, names, list(b"hello, world"), "--init", "--seed", "3")
    maps = {}
    for name, tensor in zip(names, found):
        depths = []
        for depth, value in enumerate(nested(tensor)):
            rows = value
            while isinstance(rows[0][0], list):
                rows = [row for part in rows for row in part]
            if all(weight == -1 for row in rows for weight in row):
                continue
            depths.append(depth)
            maps[name, depth] = rows
            if any(abs(sum(row) - 1) > 1e-5 or min(row) < 0 for row in rows):
                sys.exit(f"WRONG: {name} at depth {depth} has a row that does not add up to 1")
        print(f"{name} {list(tensor.shape)}: depths", *depths)
    near = all(sum(weight > 0 for weight in row) == min(3, i % 12 + 1) for depth in (0, 2)
               for i, row in enumerate(maps[names[0], depth]))
    far = all(weight > 0 for depth in (1, 3) for row in maps[names[1], depth] for weight in row)
    print("near sees 3 places, far all of them" if near and far else "WRONG")
    print("the steps of a loop have maps of their own" if maps[names[3], 0] != maps[names[3], 1] != maps[names[3], 2]
          else "WRONG")


def look(path, rows):
    found, _ = pictures(path)
    titles = sorted({title.split(", head")[0] for title, _, _ in found})
    if len(titles) != int(rows):
        sys.exit(f"WRONG: rows of maps are {titles}")
    for title, indices, _ in found:
        for row in indices:
            total = sum(((index - 1) / 253) ** 2 for index in row if index)
            if 255 in row or not (abs(total - 1) < 0.1 or not any(row)):
                sys.exit(f"WRONG: {title} has a row of {total}")
    print(f"{len(found)} maps in {rows} rows: {', '.join(titles)}")


def memory(first, second):
    """What the second window remembers is what the first one read."""
    maps, beside = pictures(first)
    _, indices, above = maps[0]
    _, _, then = pictures(second)[0][0]
    size = len(indices[0]) - len(indices)
    if above[size:] != beside[:len(indices)] or then[:size] != above[size:][-size:]:
        sys.exit(f"WRONG: {then[:size]} is remembered of {above[size:]}")
    print(f"{size} places of memory: {''.join(above[:size])}, then those of the first window")


{"numbers": numbers, "picture": picture, "forms": forms, "look": look, "memory": memory}[sys.argv[1]](*sys.argv[2:])
