#!/usr/bin/env python3
"""The command line of the tool: what it prints, where, and its exit code.

    check_command_line.py [--raddle PATH]
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

SCRIPTS = {
    "hello.df": 'trace("hello");\n',
    "hot.df": "@leaf (int s) f(int n) { for (s = 0, int i = 0; i < n; i = i + 1, s = s + i) {} }\ntrace(f(9));\n",
    "loose.df": "trace( 1 );\n",
    "parameter.df": "@param int n = 1;\ntrace(n);\n",
    "words.df": "@param int n = 1;\n@param string name = \"x\";\ntrace(name, n);\n",
    "number.df": "@param float x = 1.0;\ntrace(x);\n",
    "own_path.df": 'import io;\nimport sys;\n@param int n = 1;\nprintf("%i %s", n, argp(0));\n',
    "warned.df": "@param int n = 1;\nint unread = 3;\ntrace(n);\n",
    "result.df": "@result int r = 2;\n",
    "wrong.df": "trace(unknown);\n",
    "arguments.df": 'import sys;\nimport io;\nprintf("%s", args());\n',
    "shebang.df": '#!/usr/bin/env raddle\nimport sys;\ntrace("made executable", args());\n',
    "module_user.df": "import helper;\ntrace(N);\n",
    "folder/helper.df": "int N = 3;\n",
    "folder/user.df": "import helper;\ntrace(N);\n",
    "twice.df": "int a[];\nforeach i in [0 : 2075] {\n  a[i %/ 2] = i;\n}\ntrace(a[1]);\n",
    "unknown.df": "".join(f"trace(unknown{i});\n" for i in range(150)),
    "unread.df": "".join(f"int x{i};\n" for i in range(101)),
    "doubled.df": 'string v0 = "12345678";\n' + "".join(f"string v{i + 1} = v{i} + v{i};\n" for i in range(40)) + "if (v40 == v39) {}\n",
    "no_kernel.df": '@kernel="none.cu" (int y) f(int x);\n@kernel="none.cu" (int y) g(int x);\ntrace(f(1));\n',
    "no_library.df": '@library="./none.so" (int y) f(int x);\nint a[];\nforeach i in [0:9] { a[i] = f(i); }\ntrace(a[3]);\n',
    "defined.df": "#ifdef N\ntrace(N);\n#endif\n",
}

# Words of the command line, exit code, part of stdout, part of stderr; "" in the latter two: nothing may be there.
CASES = [
    ("run hello.df", 0, "trace: hello", ""),
    ("hello.df", 0, "trace: hello", ""),
    ("-e trace(1);", 0, "trace: 1", ""),
    ("check hello.df", 0, "", ""),
    ("check wrong.df", 3, "", "unknown variable"),
    ("check no_kernel.df", 3, "", "no_kernel.df:1:9: error: an AppKernel can not be called: can not read `none.cu`: no such file"),
    ("check no_library.df", 3, "", "no_library.df:1:30: error: a function of a shared library can not be called: there is no `./none.so`"),
    ("version", 0, "raddle ", ""),
    ("--version", 0, "raddle ", ""),
    ("version --json", 0, '{"schema":1,"version":"0.', ""),
    ("doc --json trim", 0, '{"schema":1,"pages":[{"module":"string","name":"trim","signatures":["string trim(string s)"],"summary":"', ""),
    ("doc --json unix", 0, '"name":"cp"', ""),
    ("doc --json trmi", 2, "", "did you mean `trim`?"),
    ("explain --json bad_literal", 0, '{"schema":1,"explanations":[{"code":"bad_literal","summary":"', ""),
    ("explain --json bad_literl", 2, "", "did you mean `bad_literal`?"),
    ("fmt --check --json hello.df", 0, '{"schema":1,"files":[{"file":"hello.df","changes":false}],"exit_code":0}\n', ""),
    ("fmt --check --json hello.df loose.df", 1, '{"file":"loose.df","changes":true}],"exit_code":1}\n', ""),
    ("fmt --check --json nothing.df", 2, '"files":[]', "can not read `nothing.df`"),
    ("fmt --json --diff hello.df", 2, "", "standard output is that of --diff"),
    ("run --keep-going twice.df", 1, "trace: ", "38 more errors are not shown: 1000 others are"),
    ("--help", 0, "examples:", ""),
    ("help", 0, "examples:", ""),
    ("run --help", 0, "--workers", ""),
    ("help run", 0, "--workers", ""),
    ("help runs show", 0, "One run", ""),
    ("help swep", 2, "", "no verb is named `swep`; did you mean `sweep`?"),
    ("help run hello.df", 2, "", "no verb is named `hello.df`"),
    ("sweep --stats parameter.df", 2, "", "unknown option `--stats`; `raddle run` has one of that name"),
    ("result.df", 0, "", "--results prints what the script has marked `@result`: `r`"),
    ("-q result.df", 0, "", ""),
    ("--results result.df", 0, "r = 2", ""),
    ("", 0, "", ""),
    ("run", 2, "", "no script given"),
    ("--emit=ast", 2, "", "no script given"),
    # misspelt
    ("chek hello.df", 2, "", "did you mean `raddle check`?"),
    ("rum hello.df", 2, "", "did you mean `raddle run`?"),
    ("exlpain", 2, "", "did you mean `raddle explain`?"),
    ("run nothing.df", 2, "", "can not read `nothing.df`"),
    ("run folder", 2, "", "it is a folder"),
    ("run --wrokers=2 hello.df", 2, "", "did you mean `--workers`?"),
    ("run --workers=none hello.df", 2, "", "workers"),
    ("run --emit=nothing hello.df", 2, "", "emit"),
    ("--wrokers=2 run hello.df", 2, "", "unknown option `--wrokers=2`; did you mean `--workers`?"),
    ("--foo run hello.df", 2, "", "unknown option `--foo`"),
    ("--color=never run hello.df", 2, "", "unknown option `--color=never`"),
    ("-x check hello.df", 2, "", "unknown option `-x`"),
    ("--workers=2 sweep -p a=1 -- echo", 2, "", "options of `raddle sweep` stand behind `sweep`; found `--workers=2`"),
    ("--foo sweep -p a=1 -- echo", 2, "", "unknown option `--foo`"),
    ("--workers=2 check hello.df", 2, "", "unknown option `--workers=2`; `raddle run` has one of that name"),
    ("-I folder check module_user.df", 0, "", ""),
    ("--json version", 2, "", "options of `raddle version` stand behind `version`; found `--json`"),
    ("version word", 2, "", "`raddle version` does not take the word `word`"),
    ("repl word", 2, "", "`raddle repl` does not take the word `word`"),
    ("run --help", 0, "Usage: raddle run [OPTIONS] FILE", ""),
    ("--workers=2 run --help", 0, "Usage: raddle run [OPTIONS] FILE", ""),
    ("help help", 0, "examples:", ""),
    ("--foo doc trim", 2, "", "unknown option `--foo`"),
    # options and arguments
    ("--workers=2 run hello.df", 0, "trace: hello", ""),
    ("-k --seed 3 run hello.df", 0, "trace: hello", ""),
    ("run hello.df --workers=2", 2, "", "those of raddle stand before it: type `raddle run --workers=2 hello.df`"),
    ("run hello.df --stats", 2, "", "`raddle run --stats hello.df`"),
    ("run hello.df -k", 2, "", "`-k` stands behind the script"),
    ("run hello.df -j4", 2, "", "type `raddle run -j4 hello.df`"),
    ("run --jobs=2 hello.df", 2, "", "did you mean `--workers`?"),
    ("sweep -p a=1,2 ./model-program {a}", 2, "", "a command stands behind `--`"),
    ("sweep -p a=1,2 model.df", 2, "", "can not read `model.df`"),
    ("run --gpus foo hello.df", 2, "", "`foo` is none of all, all:whole, all:resident, all:whole:resident, none, simulated, simulated:whole, simulated:h100, simulated:h200, and no number of GPUs from 1 to 64 (with :memory=512M, :patience=60 or the like behind it; h200x4: four such GPUs)\n"),
    ("run --gpus simulated:nonsense hello.df", 2, "", "`simulated:nonsense`: `nonsense` is none of what can stand there: whole, memory=512M, h100, h200, h200x4, link=shared, peers=nvlink, ahead=4\n"),
    ("run --gpus all:hole hello.df", 2, "", "`all:hole`: `hole` is none of what can stand there: whole, memory=512M, patience=60, resident\n"),
    ("run --gpus simulated:2 hello.df", 2, "", "`simulated:2`: one device is simulated; for several a model stands here, as in `simulated:h200x2`\n"),
    ("run --gpus simulated:h200x0 hello.df", 2, "", "`simulated:h200x0`: there can be 1 to 64 of them; none: `--gpus none`"),
    ("run --gpus simulated:h200x65 hello.df", 2, "", "`simulated:h200x65`: there can be 1 to 64 of them"),
    ("run --gpus simulated:h200x4x hello.df", 2, "", "`simulated:h200x4x`: `h200x4x` is none of what can stand there: whole,"),
    ("run --gpus simulated:h200:h100 hello.df", 2, "", "`simulated:h200:h100`: there can be one model"),
    ("run --gpus all:h200 hello.df", 2, "", "`all:h200`: a model stands behind `simulated`: `simulated:h200`"),
    ("run --gpus h200x4 hello.df", 2, "", "`h200x4`: did you mean `simulated:h200x4`?"),
    ("run --gpus all:patience=x hello.df", 2, "", "`all:patience=x`: patience is a number of seconds, a day at most, as in `patience=60`"),
    ("run --gpus simulated:resident hello.df", 2, "", "`simulated:resident`: no kernel stays on a simulated device"),
    ("run --gpus simulated:h200x4:memory=2G hello.df", 0, "trace: hello", ""),
    ("run --gpus all:memory=5 hello.df", 2, "", "`all:memory=5`: memory is a size, from 64K on, as in `memory=512M` or `memory=4G`"),
    ("run --gpus none:memory=5G hello.df", 2, "", "`none:memory=5G`: nothing can stand behind `none`"),
    ("run --gpus 0 hello.df", 2, "", "`0`: there can be 1 to 64 of them; none: `--gpus none`"),
    ("run --results --days=-5 parameter.df", 2, "", "unknown option `--days=-5`; a parameter of the script stands behind it: `raddle run parameter.df --days=-5`"),
    ("run --days parameter.df", 2, "", "`raddle run parameter.df --days=VALUE`"),
    ("--days=5 parameter.df", 2, "", "`raddle run parameter.df --days=5`"),
    ("run parameter.df --jbos=4", 2, "", "no parameter `jbos`; did you mean `--workers`? Options of raddle stand before the script"),
    ("run parameter.df --stat", 2, "", "no parameter `stat`; did you mean `--stats`? Options of raddle stand before the script"),
    ("run hello.df --worker=2", 0, "trace: hello", "has no effect; did you mean `--workers`? Options of raddle stand before the script"),
    ("sweep parameter.df --jbos=4 -p n=1,2", 2, "", "unknown option `--jbos=4`; did you mean `--jobs`?"),
    ("run hello.df word --flag", 0, "trace: hello", "`word`, `--flag` have no effect"),
    ("run arguments.df --workers=2 word", 0, "--workers=2 word", ""),
    ("check hello.df word", 2, "", "can not read `word`"),
    ("check hello.df defined.df", 0, "", ""),
    ("check --json hello.df", 0, '{"schema":1,"script":"hello.df","diagnostics":[]}\n', ""),
    ("check wrong.df hello.df", 3, "", "unknown variable"),
    ("check hello.df wrong.df", 3, "", "wrong.df:1:7: error"),
    ("check -e trace(1);", 0, "", ""),
    ("check -e trace(x);", 3, "", "<command line>:1:7: error"),
    ("check unknown.df", 3, "", "raddle: 50 more errors are not shown: the first 100 are\n"),
    ("check unread.df", 0, "", "raddle: 1 more warning is not shown: the first 100 are\n"),
    ("check --json unknown.df", 3, '"line":150,', ""),
    ("check hello.df -k", 2, "", "options of check stand before the scripts: `-k`"),
    ("run --seed 99999999999999999999 hello.df", 2, "", "is no whole number from 0 to 2^64-1"),
    ("run parameter.df -n 3", 2, "", "no parameter `-n`; did you mean `--n`?"),
    ("run -p n=3 parameter.df", 2, "", "a parameter is set behind the script: `raddle run parameter.df --n=3`"),
    ("run parameter.df -p n=3", 2, "", "`-p n=3`: a parameter is set by `raddle run parameter.df --n=3`"),
    ("run warned.df", 0, "trace: 1", "`unread` is assigned but never read"),
    ("run warned.df --help", 0, "--n=1", ""),
    ("run own_path.df --nn=3", 2, "", "no parameter `nn`; did you mean `--n`?"),
    ("run own_path.df --n=3", 0, "3 own_path.df\n", ""),
    ("run parameter.df --nn=3", 2, "", "no parameter `nn`; did you mean `--n`?"),
    ("run parameter.df --n=3 --n=4", 2, "", "`--n` is given twice, as `3` and as `4`"),
    ("run parameter.df --n=9223372036854775808", 2, "", "is beyond what an int can be"),
    ("run number.df --x=1e400", 2, "", "`--x`: `1e400` is beyond what a float can be"),
    ("run number.df --x=-1e400", 2, "", "`--x`: `-1e400` is beyond what a float can be"),
    ("run number.df --x=1e-400", 0, "trace: 0.0\n", ""),
    ("run number.df --x=-inf", 0, "trace: -Inf\n", ""),
    ("run number.df --x=+-1", 2, "", "`--x`: `+-1` is no float"),
    ("run words.df --name --n=4", 2, "", "`--name` needs a value of type string, but `--n=4` follows, which sets another parameter\n  = help: `--name=--n=4`"),
    ("run words.df --name=--n=4", 0, "trace: --n=4,1", ""),
    ("run words.df --name --other", 0, "trace: --other,1", ""),
    ("run -r no/such/folder hello.df", 0, "trace: hello\n", "there is no folder `no/such/folder` to look for packages in"),
    ("run parameter.df --n=-5", 0, "trace: -5", ""),
    ("doc", 0, "string trim(string s)", ""),
    ("doc trim", 0, "import string;", ""),
    ("doc unix", 0, "app (file o) cp(file i)", ""),
    ("doc substrng", 2, "", "did you mean `substring`?"),
    ("doc argpartition cumsum nanprod", 2, "The sums of the elements up to each one", "`argsort(x)[0:k-1]`"),
    ("doc cumsum nanprod", 2, "The sums of the elements up to each one", "`nanprod`: without NaN is"),
    ("run hello.df --help", 0, "declares no parameters", ""),
    # imports and macros
    ("run -I folder module_user.df", 0, "trace: 3", ""),
    ("run folder/user.df", 0, "trace: 3", ""),
    ("run -I nowhere hello.df", 0, "trace: hello", "there is no folder `nowhere` to look for imports in"),
    ("run -D N=4 defined.df", 0, "trace: 4", ""),
    ("check -DN=unknown defined.df", 3, "", "unknown variable `unknown`"),
    ("run -p defined.df", 3, "", "unknown variable `N`"),
    ("run -D 3=4 hello.df", 2, "", "`3` is no name for a macro"),
    ("run --emit=preprocessed -DN=5 defined.df", 0, "trace(5);", ""),
]

# What is printed can not be written: no success.
FULL = ["--help", "version", "run --help", "run --emit=ast hello.df", "run --emit=vm hello.df", "run hello.df",
        "run hello.df --help", "explain", "explain bad_literal", "doc"]


def run(raddle, words, folder, stdout=subprocess.PIPE):
    environment = {**os.environ, "NO_COLOR": "1", "TERM": "dumb", "XDG_CACHE_HOME": str(pathlib.Path(folder, "cache"))}
    return subprocess.run([raddle, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=stdout,
                          stderr=subprocess.PIPE, timeout=60, check=False, text=True)


def split(line):
    before, is_code, code = line.partition("-e ")
    return [*before.split(), "-e", code] if is_code else line.split()


def fault_of(done, code, out, err):
    if done.returncode != code:
        return f"exit code {done.returncode}, expected {code}"
    for name, expected, found in (("stdout", out, done.stdout), ("stderr", err, done.stderr)):
        if expected not in found or (found and not expected):
            return f"{name}: expected {expected!r}, found {found!r}"
    return None


def faults(raddle, folder):
    for name, text in SCRIPTS.items():
        path = pathlib.Path(folder, name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for line, code, out, err in CASES:
        yield line, fault_of(run(raddle, split(line), folder), code, out, err)
    for line in FULL:
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = run(raddle, line.split(), folder, full)
        silent = "could not be written" not in done.stderr
        yield f"{line} > /dev/full", f"exit code {done.returncode}: {done.stderr}" if done.returncode != 1 or silent else None
    for line in ("run warned.df --m=3", "run warned.df --n=x", "sweep warned.df -p m=3", "sweep warned.df -p n=3 --group-by m"):
        done = run(raddle, line.split(), folder)  # the script's warnings do not hide what is wrong
        yield line, None if done.returncode == 2 and "warning" not in done.stderr else f"{done.returncode}: {done.stderr}"
    done = run("sh", ["-c", f"ulimit -v 2000000; {raddle} check doubled.df"], folder)  # texts are not computed by the compiler
    yield "check doubled.df", None if (done.returncode, done.stderr) == (0, "") else f"{done.returncode}: {done.stderr[-300:]}"
    yield "shebang.df word", shebang_fault(raddle, folder)
    pathlib.Path(folder, "first.df").write_text("(int o) step(int x) { o = x * 2 + 1; }\ntrace(@prio=9 step(2));\n", encoding="utf-8")
    done = run(raddle, "run --stats --no-jit-cache first.df".split(), folder)  # a light leaf need not be compiled for its priority
    fine = done.stdout == "trace: 5\n" and "leaves compiled" not in done.stderr
    yield "run --stats first.df", None if fine else done.stdout + done.stderr
    yield "run --stats hot.df, again and again", leaf_cache_fault(raddle, folder)


def leaf_cache_fault(raddle, folder):
    """Machine code is kept for the next run; damaged, it is made again; without a folder for it nothing is amiss."""
    cache = pathlib.Path(folder, "cache")

    def runs_with(compiled, taken, *options):
        done = run(raddle, ["run", "--stats", *options, "hot.df"], folder)
        told = [line for line in done.stderr.splitlines() if line.startswith("leaves ")]
        expected = [f"{name} {count}" for name, count in (("leaves compiled", compiled), ("leaves taken from the cache", taken)) if count != 0]
        return done.returncode == 0 and done.stdout == "trace: 36\n" and told == expected

    def damage():
        for file in cache.glob("raddle/jit/*"):
            file.write_bytes(file.read_bytes()[:-1] + b"?")

    def take_away():
        shutil.rmtree(cache)
        cache.write_text("no folder", encoding="utf-8")

    steps = [("first", 1, 0), ("second", 0, 1), ("switched off", 1, 0, "--no-jit-cache"), ("damaged", 1, 0),
             ("mended", 0, 1), ("no folder", 1, 0), ("interpreted", 0, 0, "--interpret")]
    for name, compiled, taken, *options in steps:
        {"damaged": damage, "no folder": take_away}.get(name, lambda: None)()
        if not runs_with(compiled, taken, *options):
            return f"{name}: not {compiled} leaves compiled and {taken} taken from the cache"
    return None


def shebang_fault(raddle, folder):
    """A script that is made executable runs by its first line."""
    script = pathlib.Path(folder, "shebang.df")
    script.chmod(0o755)
    path = os.pathsep.join([str(pathlib.Path(raddle).parent), os.environ.get("PATH", "")])
    done = subprocess.run([script, "word"], env={**os.environ, "PATH": path}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False, text=True)
    return fault_of(done, 0, "trace: made executable,word", "")


def main():
    parser = argparse.ArgumentParser(description="Tests the command line of the tool.")
    parser.add_argument("--raddle", default=str(ROOT / "build" / "raddle"))
    raddle = str(pathlib.Path(parser.parse_args().raddle).resolve())
    with tempfile.TemporaryDirectory(prefix="raddle-command-line-") as folder:
        found = list(faults(raddle, folder))
    failed = [f"raddle {line}: {fault}" for line, fault in found if fault]
    for fault in failed:
        print("command line:", fault)
    print(f"commands: {len(found) - len(failed)} passed, {len(failed)} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
