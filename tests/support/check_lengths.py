#!/usr/bin/env python3
"""No source in C++ has more than 400 lines, no room more than 40 units, a source with its header, and no class more than 40 public
functions: what grows beyond that has more than one subject. Lists (.def) may be long. At the top level stands what TOP names, and
nothing that a script has written there."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOP = {"grammar", "compiler", "vm", "stdlib", "gpu", "examples", "tests", "CMakeLists.txt", "CMakePresets.json", "README.md", "LICENSE", "dev"}
MOST = 400
MOST_UNITS = 40
MOST_FUNCTIONS = 40
# with how many public functions they may have
LARGE_CLASSES = {
    "KernelOperations": 100,  # one for each line of kernel_ops.def
    # All that touches the one protocol of writers, promises and closing. What needs to know nothing of it are classes of their own:
    # ElementTable, KeyedElements, OpenNumbers, Buffer, Reduction.
    "Array": 60,
}

CLASS = re.compile(r"\b(class|struct)\s+(?:alignas\(\w+\)\s*)?(\w+)(?:\s+final)?\s*(?::[^;{}()]*)?\{")
ACCESS = re.compile(r"(public|private|protected)\s*:$")
NO_FUNCTION = re.compile(r"\s*(class|struct|enum|union|using|friend|static_assert)\b")


def public_functions(text, kind, begin):
    """How many a class has. `begin`: behind its brace."""
    access = "public" if kind == "struct" else "private"
    depth, brackets, count, declaration = 1, 0, 0, ""
    for at in range(begin, len(text)):
        sign = text[at]
        brackets += (sign == "(") - (sign == ")")
        if depth == 1 and brackets == 0 and sign in ";{":
            count += access == "public" and "(" in declaration and not NO_FUNCTION.match(declaration)
            declaration = ""
        elif depth == 1:
            declaration += sign
            if found := ACCESS.search(declaration):
                access, declaration = found[1], ""
        depth += (sign == "{") - (sign == "}")
        if depth == 1 and sign == "}":
            declaration = ""
        if depth == 0:
            return count
    return count


def large_classes(text):
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)
    for found in CLASS.finditer(text):
        count = public_functions(text, found[1], found.end())
        if count > LARGE_CLASSES.get(found[2], MOST_FUNCTIONS):
            yield f"{found[2]} has {count} public functions"


def tracked_at_top():
    """But for dot files. Nothing outside of a repository."""
    listed = subprocess.run(["git", "ls-tree", "--name-only", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return [name for name in listed.stdout.splitlines() if not name.startswith(".")]


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
    faults += [f"{s.relative_to(ROOT)}: {fault}" for s in sources for fault in large_classes(s.read_text(encoding="utf-8"))]
    faults += [f"{name}: stands at the top level" for name in sorted(set(tracked_at_top()) - TOP)]
    for fault in faults:
        print("lengths:", fault)
    print(f"lengths: {len(sources) + len(rooms) - len(faults)} passed, {len(faults)} failed")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
