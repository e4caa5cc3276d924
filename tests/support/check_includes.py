#!/usr/bin/env python3
"""Dependencies point one way: compiler -> stdlib -> vm <- gpu, and phase by phase inside compiler/.

Reads every #include between our own folders and the headers of libraries that belong in one room, and names each edge
that is not allowed below.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)

# Folder -> folders it may include besides itself. A name stands for all folders below it.
ALLOWED = {
    "vm": [],
    "gpu": ["vm"],
    "stdlib": ["vm"],
    "compiler/source": ["vm/value"],  # what the system says of an error
    "compiler/types": ["compiler/source"],
    "compiler/diagnostics": ["compiler/source", "compiler/types"],
    "compiler/ast": ["compiler/source", "compiler/types", "compiler/diagnostics"],
    "compiler/preprocess": ["compiler/source", "compiler/diagnostics"],
    "compiler/parse": ["compiler/source", "compiler/types", "compiler/diagnostics", "compiler/ast"],
    "compiler/format": ["compiler/source", "compiler/ast", "compiler/parse"],
    "compiler/check": ["compiler/source", "compiler/types", "compiler/diagnostics", "compiler/ast", "stdlib"],
    "compiler/ir": ["compiler/source", "compiler/types", "compiler/diagnostics", "stdlib", "vm/kernel", "vm/value"],
    "compiler/lower": ["compiler/source", "compiler/types", "compiler/diagnostics", "compiler/ast", "compiler/check",
                       "compiler/ir", "stdlib"],
    "compiler/opt": ["compiler/source", "compiler/types", "compiler/diagnostics", "compiler/ir", "stdlib", "vm/kernel", "vm/value"],
    "compiler/codegen": ["vm/kernel", "vm/math", "vm/program", "vm/value"],
    "compiler/emit": ["compiler/source", "compiler/types", "compiler/ir", "stdlib", "vm/kernel", "vm/program", "vm/value"],
    "compiler/graph": ["compiler/source", "compiler/types", "compiler/ir", "stdlib"],
    "compiler/tool/terminal": [],
    "compiler/tool/formats": ["compiler/tool/terminal", "stdlib", "vm/value"],
    "compiler/tool/space": ["compiler/tool/formats", "compiler/source", "compiler/diagnostics", "stdlib", "vm/record", "vm/value"],
    "compiler/tool/report": ["compiler/tool/formats", "compiler/tool/space", "vm/record", "vm/value"],
    "compiler/tool": ["compiler", "stdlib", "vm", "gpu"],
}

# Start of a library header -> the only folders that may include it.
LIBRARIES = {
    "llvm/": ["compiler/codegen"],
    "llvm-c/": ["compiler/codegen"],
    "antlr4-runtime": ["compiler/parse"],
    "uv.h": ["vm/external"],
    "ffi.h": ["vm/foreign"],
    "CLI/": ["compiler/tool"],
    "nlohmann/": ["stdlib/native", "compiler/tool/formats", "compiler/tool/sweep"],
    "sqlite3.h": ["vm/record"],
    "zlib.h": ["compiler/tool/formats"],
}


def room(path):
    """The entry of ALLOWED that a path of the tree falls under, or None (tests see everything)."""
    for name in sorted(ALLOWED, key=len, reverse=True):
        if path == name or path.startswith(name + "/"):
            return name
    return None


def is_below(path, folders):
    return any(path.startswith(folder + "/") for folder in folders)


def faults_of(source):
    here = str(source.relative_to(ROOT))
    own = room(here)
    for target in INCLUDE.findall(source.read_text(encoding="utf-8")):
        for library, rooms in LIBRARIES.items():
            if target.startswith(library) and not is_below(here, rooms):
                yield f"{here}: <{target}> belongs in {', '.join(rooms)}"
        if (ROOT / target).exists() or room(target):
            if not is_below(target, [own, *ALLOWED[own]]):
                yield f"{here}: may not include {target}"


def main():
    sources = [s for top in ("compiler", "vm", "gpu", "stdlib") for s in sorted((ROOT / top).rglob("*"))
               if s.suffix in (".hpp", ".cpp", ".h", ".def", ".cu", ".cuh")]
    strangers = [s for s in sources if not room(str(s.relative_to(ROOT)))]
    faults = [fault for source in sources if source not in strangers for fault in faults_of(source)]
    faults += [f"{s.relative_to(ROOT)}: no rule for its folder in check_includes.py" for s in strangers]
    for fault in faults:
        print("includes:", fault)
    print(f"includes: {len(sources) - len(faults)} passed, {len(faults)} failed")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
