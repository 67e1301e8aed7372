"""Do the shards of export.test hold what the one file holds? Reads safetensors by the format's description, without the
runtime."""
import json
import os
import struct
import sys


def tensors(path):
    with open(path, "rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(length))
        data = file.read()
    return {name: (info["dtype"], info["shape"], data[slice(*info["data_offsets"])]) for name, info in header.items()
            if name != "__metadata__"}


folder = sys.argv[1]
whole, shards = tensors(os.path.join(folder, "hf.safetensors")), {}
with open(os.path.join(folder, "shards", "model.safetensors.index.json"), encoding="utf-8") as file:
    index = json.load(file)
for name in sorted(set(index["weight_map"].values())):
    found = tensors(os.path.join(folder, "shards", name))
    here = {tensor for tensor, where in index["weight_map"].items() if where == name}
    if here != set(found) or len(found) > 1 and sum(len(t[2]) for t in found.values()) > 20_000:
        sys.exit(f"{name} has other tensors than the index says, or too many")
    shards.update(found)
print("the index names every tensor" if set(index["weight_map"]) == set(whole) else "WRONG")
print("shards hold what the file holds" if shards == whole
      and index["metadata"]["total_size"] == sum(len(t[2]) for t in whole.values()) else "WRONG")
