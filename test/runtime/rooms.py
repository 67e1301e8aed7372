"""Whether each room of the runtime includes headers of the rooms alone that its target uses, directly or not.

usage: rooms.py RUNTIME

A room is what `tenon_runtime_room(NAME SOURCES .. USES ..)` in RUNTIME/*/CMakeLists.txt says: its sources, and the headers called
like them, all headers of the folder where the room is called like it. Prints what is included against that; exit 1 if there is
any.
"""
import os
import re
import sys


def rooms_of(runtime):
    """Name of each room: (its files as FOLDER/FILE, the rooms that it uses)."""
    rooms = {}
    for folder in sorted(os.listdir(runtime)):
        path = os.path.join(runtime, folder, "CMakeLists.txt")
        if not os.path.isfile(path):
            continue
        with open(path, encoding="utf-8") as file:
            for name, sources, uses in re.findall(r"tenon_runtime_room\((\w+)\s+SOURCES\s+([^)]*?)(?:\s+USES\s+([^)]*))?\)",
                                                  file.read()):
                stems = {os.path.splitext(source)[0] for source in sources.split()}
                rooms[name] = ([f"{folder}/{name_of}" for name_of in sorted(os.listdir(os.path.join(runtime, folder)))
                                if os.path.splitext(name_of)[0] in stems or (name_of.endswith(".h") and name == folder)],
                               uses.split())
    return rooms


def reached(rooms, name):
    return {name}.union(*(reached(rooms, used) for used in rooms[name][1]))


def main(runtime):
    rooms = rooms_of(runtime)
    if not rooms:
        sys.exit(f"error: no room in {runtime}")
    owner = {file: name for name, (files, _) in rooms.items() for file in files}
    bad = 0
    for file, name in sorted(owner.items()):
        allowed = reached(rooms, name)
        with open(os.path.join(runtime, file), encoding="utf-8") as text:
            for header in re.findall(r'^#include "runtime/(\w+/\w+\.h)"', text.read(), re.M):
                if owner.get(header) not in allowed:
                    print(f"{file}: {header} is of {owner.get(header, 'no room')}, which {name} does not use")
                    bad += 1
    print(f"{len(rooms)} rooms, {len(owner)} files, {bad} findings")
    return 1 if bad else 0


sys.exit(main(*sys.argv[1:]))
