#!/usr/bin/env python3
"""No source in C++ has more than 400 lines, and no room more than 40 units, a source with its header: what grows beyond that has more
than one subject. Lists (.def) may be long."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST = 400
MOST_UNITS = 40


def main():
    sources = [s for top in ("compiler", "vm", "gpu", "stdlib", "tests") for s in sorted((ROOT / top).rglob("*"))
               if s.suffix in (".hpp", ".cpp", ".h", ".cu", ".cuh")]
    lengths = {s: len(s.read_text(encoding="utf-8").splitlines()) for s in sources}
    faults = [f"{s.relative_to(ROOT)} has {length} lines" for s, length in lengths.items() if length > MOST]
    rooms = {}
    for source in sources:
        if source.relative_to(ROOT).parts[0] != "tests":
            rooms.setdefault(source.parent, set()).add(source.stem)
    faults += [f"{room.relative_to(ROOT)} has {len(units)} units" for room, units in rooms.items() if len(units) > MOST_UNITS]
    for fault in faults:
        print("lengths:", fault)
    print(f"lengths: {len(sources) + len(rooms) - len(faults)} passed, {len(faults)} failed")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
