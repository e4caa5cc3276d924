#!/usr/bin/env python3
"""Every kind of compiler/diagnostics/kinds.def is emitted somewhere and seen in a golden .err file."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Kinds that no golden script can show, with the reason.
NOT_GOLDEN = {
    "unreadable_module": "needs a file that can not be opened; root opens all",
}


def text_below(folder, suffixes):
    return "\n".join(p.read_text(encoding="utf-8", errors="replace") for p in sorted((ROOT / folder).rglob("*"))
                     if p.suffix in suffixes and p.name != "kinds.def")


def main():
    listed = (ROOT / "compiler/diagnostics/kinds.def").read_text(encoding="utf-8")
    kinds = re.findall(r"^RADDLE_DIAGNOSTIC\((\w+)", listed, re.MULTILINE)
    code = text_below("compiler", {".cpp", ".hpp"})
    shown = set(re.findall(r"\[(\w+)\]$", text_below("tests/golden", {".err"}), re.MULTILINE))
    faults = [f"`{k}` is listed twice" for k in sorted({k for k in kinds if kinds.count(k) > 1})]
    for kind in kinds:
        if not re.search(rf"DiagnosticKind::{kind}\b", code):
            faults.append(f"`{kind}` is never emitted")
        if kind not in shown and kind not in NOT_GOLDEN:
            faults.append(f"`{kind}` appears in no golden .err")
    faults += [f"`{k}` is excused here but is shown, or is no kind" for k in NOT_GOLDEN if k in shown or k not in kinds]
    for fault in faults:
        print("diagnostics:", fault)
    print(f"diagnostics: {max(len(kinds) - len(faults), 0)} passed, {len(faults)} failed")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
