#!/usr/bin/env python3
"""Dependencies point one way: compiler -> stdlib -> vm <- gpu, phase by phase inside compiler/, and room by room in vm/.

Reads every #include between our own folders and the headers of libraries that belong in one room, and names each edge
that is not allowed below.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)

# From the text of a script to a program: what comes before the tool.
STAGES = ["compiler/source", "compiler/types", "compiler/diagnostics", "compiler/ast", "compiler/preprocess", "compiler/parse",
          "compiler/check", "compiler/assignment", "compiler/shapes", "compiler/ir", "compiler/lower", "compiler/opt", "compiler/codegen", "compiler/emit",
          "compiler/appkernel"]

# Folder -> folders it may include besides itself. A name stands for all folders below it.
ALLOWED = {
    "vm/math": [],
    "vm/memory": ["vm/schedule"],
    "vm/value": ["vm/math", "vm/memory"],
    "vm/schedule": ["vm/program"],
    "vm/program": ["vm/kernel", "vm/value"],  # a program has its kernels, what runs them takes a program
    "vm/external": ["vm/value"],
    "vm/foreign": ["vm/memory", "vm/program", "vm/value"],
    "vm/record": ["vm/value"],
    "vm/place": [],
    "vm/transfer": ["vm/place"],
    "vm/kernel": ["vm/foreign", "vm/math", "vm/program", "vm/schedule", "vm/value"],
    # runs what the next three have, which know it, but not each other
    "vm/device": ["vm/foreign", "vm/kernel", "vm/program", "vm/schedule", "vm/value"],
    "vm/interpret": ["vm/calls", "vm/device", "vm/diagnose", "vm/external", "vm/foreign", "vm/kernel", "vm/launch", "vm/math", "vm/memory", "vm/place", "vm/program",
                     "vm/record", "vm/schedule", "vm/value"],
    "vm/launch": ["vm/device", "vm/interpret", "vm/kernel", "vm/math", "vm/program", "vm/schedule", "vm/value"],
    "vm/calls": ["vm/device", "vm/external", "vm/foreign", "vm/interpret", "vm/math", "vm/program", "vm/record", "vm/value"],
    "vm/diagnose": ["vm/interpret", "vm/program", "vm/value"],
    "gpu": ["vm"],
    "stdlib": ["vm"],
    "compiler/source": ["vm/value"],  # what the system says of an error
    "compiler/types": ["compiler/source"],
    "compiler/diagnostics": ["compiler/source", "compiler/types"],
    "compiler/ast": ["compiler/source", "compiler/types", "compiler/diagnostics"],
    "compiler/preprocess": ["compiler/source", "compiler/diagnostics"],
    "compiler/parse": ["compiler/source", "compiler/types", "compiler/diagnostics", "compiler/ast"],
    "compiler/format": ["compiler/source", "compiler/ast", "compiler/parse"],
    "compiler/check": ["compiler/source", "compiler/types", "compiler/diagnostics", "compiler/ast", "compiler/assignment", "compiler/shapes", "stdlib"],
    "compiler/assignment": ["compiler/source", "compiler/types", "compiler/diagnostics", "compiler/ast", "compiler/check", "stdlib"],
    "compiler/shapes": ["compiler/source", "compiler/types", "compiler/diagnostics", "compiler/ast", "compiler/check", "stdlib"],
    "compiler/ir": ["compiler/source", "compiler/types", "compiler/diagnostics", "stdlib", "vm/kernel", "vm/value"],
    "compiler/lower": ["compiler/source", "compiler/types", "compiler/diagnostics", "compiler/ast", "compiler/check",
                       "compiler/ir", "stdlib"],
    # passes over the IR: each room may include those above it that it names
    "compiler/opt/ints": ["compiler/ir", "stdlib"],
    "compiler/opt/rewrite": ["compiler/opt/ints", "compiler/ir", "stdlib", "vm/kernel"],
    "compiler/opt/bodies": ["compiler/opt/ints", "compiler/opt/rewrite", "compiler/source", "compiler/diagnostics", "compiler/ir", "stdlib", "vm/value"],
    "compiler/opt/leaves": ["compiler/opt/rewrite", "compiler/diagnostics", "compiler/ir", "stdlib"],
    "compiler/opt/fusion": ["compiler/opt/rewrite", "compiler/opt/bodies", "compiler/opt/leaves", "compiler/ir", "stdlib"],
    "compiler/opt/flatten": ["compiler/opt/rewrite", "compiler/opt/bodies", "compiler/opt/fusion", "compiler/ir", "stdlib"],
    "compiler/opt/launches": ["compiler/opt/rewrite", "compiler/opt/leaves", "compiler/opt/flatten", "compiler/ir", "stdlib"],
    "compiler/opt": ["compiler/diagnostics", "compiler/ir", "vm/value"],
    "compiler/appkernel": ["compiler/codegen", "compiler/source", "vm/foreign", "vm/math", "vm/program", "vm/value"],
    "compiler/codegen": ["vm/kernel", "vm/math", "vm/program", "vm/value"],
    "compiler/emit": ["compiler/source", "compiler/types", "compiler/ir", "stdlib", "vm/kernel", "vm/program", "vm/value"],
    "compiler/graph": ["compiler/source", "compiler/types", "compiler/ir", "stdlib"],
    # of the tool, each may include those above it that it names
    "compiler/tool/terminal": ["vm/value"],  # files that are written whole or not at all
    "compiler/tool/formats": ["stdlib", "vm/value"],
    "compiler/tool/space": ["compiler/tool/formats", "compiler/source", "compiler/diagnostics", "stdlib", "vm/math", "vm/record",
                            "vm/value"],
    "compiler/tool/report": ["compiler/tool/formats", "compiler/tool/space", "vm/record", "vm/value"],
    "compiler/tool/command": ["compiler/tool/formats", "compiler/source", "compiler/diagnostics", "compiler/preprocess",
                              "vm/external", "vm/place", "vm/record", "vm/value"],
    "compiler/tool/process": ["compiler/tool/command", "compiler/tool/formats", "compiler/tool/terminal", "vm"],
    "compiler/tool/settings": ["compiler/tool/command", "compiler/tool/terminal", "compiler/source", "compiler/diagnostics", "vm/value"],
    "compiler/tool/executable": ["compiler/tool/command", "compiler/tool/process", "compiler/tool/formats", *STAGES, "stdlib", "vm/device", "vm/foreign", "vm/program",
                                 "vm/value"],
    "compiler/tool/run": ["gpu", "compiler/tool/command", "compiler/tool/process", "compiler/tool/settings", "compiler/tool/executable",
                          "compiler/tool/formats", "compiler/tool/report", *STAGES, "stdlib", "vm"],
    "compiler/tool/sweep": ["compiler/tool/command", "compiler/tool/process", "compiler/tool/settings", "compiler/tool/executable",
                            "compiler/tool/run", "compiler/tool/formats", "compiler/tool/space", "compiler/tool/terminal",
                            *STAGES, "stdlib", "vm"],
    "compiler/tool/runs": ["compiler/tool/command", "compiler/tool/formats", "compiler/tool/space", "compiler/tool/report",
                           "compiler/tool/sweep", "compiler/tool/terminal", "compiler/diagnostics", "vm/external", "vm/record",
                           "vm/value"],
    "compiler/tool/check": ["compiler/tool/command", "compiler/tool/process", "compiler/tool/settings", "compiler/tool/executable",
                            "compiler/tool/formats", "compiler/format", "compiler/graph", *STAGES, "vm/value"],
    "compiler/tool/repl": ["compiler/tool/command", "compiler/tool/process", "compiler/tool/settings", "compiler/tool/executable",
                           "compiler/tool/run", "compiler/tool/terminal", *STAGES, "stdlib", "vm"],
    "compiler/tool/help": ["gpu", "compiler/tool/command", "compiler/tool/process", "compiler/tool/settings", "compiler/tool/executable",
                           "compiler/tool/run", "compiler/tool/formats", "compiler/codegen", "compiler/diagnostics", "vm"],
    "compiler/tool/main": ["gpu", "compiler/tool/command", "compiler/tool/executable", "compiler/tool/process", "compiler/tool/run", "vm/foreign", "vm/value"],
}

# Start of a library header -> the only folders that may include it.
LIBRARIES = {
    "llvm/": ["compiler/codegen"],
    "llvm-c/": ["compiler/codegen"],
    "antlr4-runtime": ["compiler/parse"],
    "uv.h": ["vm/external"],
    "ffi.h": ["vm/foreign"],
    "CLI/": [f"compiler/tool/{name}" for name in  # where words of the command line are read
             ("command", "settings", "run", "sweep", "runs", "check", "repl", "help", "main")],
    "nlohmann/": ["stdlib/native", "compiler/tool/formats", "compiler/tool/sweep"],
    "sqlite3.h": ["vm/record"],
    "zlib.h": ["compiler/tool/formats", "stdlib/numbers"],
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
