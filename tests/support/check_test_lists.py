#!/usr/bin/env python3
"""Each function of a check_*.py is named somewhere else in it, too: a test is in the file's list of tests, all else is called."""

import ast
import pathlib
import re
import sys


def functions_of_nobody(text):
    """Names of functions."""
    names = [part.name for part in ast.parse(text).body if isinstance(part, ast.FunctionDef)]
    return [name for name in names if len(re.findall(rf"\b{name}\b", text)) == 1]


def main():
    # of this check itself
    expect = {"def a(f):\n    pass\ndef b(f):\n    pass\nTESTS = [b]\n": ["a"], "def a(f):\n    pass\nTESTS = [a]\n": []}
    bad = [f"{text!r}: {functions_of_nobody(text)}" for text, found in expect.items() if functions_of_nobody(text) != found]
    for path in sorted(pathlib.Path(__file__).parent.glob("check_*.py")):
        bad += [f"{path.name}: {name} is in no list of tests, and nobody calls it" for name in functions_of_nobody(path.read_text(encoding="utf-8"))]
    for line in bad:
        print(line)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
