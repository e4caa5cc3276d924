#!/usr/bin/env python3
"""What `raddle sweep` prints and writes. Each test has a folder of its own.

    check_sweeps.py [--raddle PATH] [FILTER]
"""

import csv
import json
import os
import pty
import re
import shlex
import signal
import subprocess
import time

from folder_tests import expect, expect_in, main, processor_s, wait_for
from sweep_folder import SweepFolder


def grid_is_run_and_extended(folder):
    expect(folder.column("sweep -p a=1,2 -p b=0:1:0.5 -- echo {a}/{b}", "stdout"),
           ["1/0", "1/0.5", "1/1", "2/0", "2/0.5", "2/1"])
    folder.run("sweep -p a=1,2,3 -p b=0:1:0.5 -- echo {a}/{b}", err="9 points, 6 from the record")
    folder.run("sweep -p b=0:1:0.5 -p a=3,2,1 -- echo {a}/{b}", err="9 points, 9 from the record")
    folder.run("sweep -p a=1,2,3 -p b=0:1:0.25 -- echo {a}/{b}", err="15 points, 9 from the record")
    done = folder.run("sweep -p a=1,2,3 -p b=0:1:0.5 --no-cache -- echo {a}/{b}")
    expect("from the record" in done.stderr, False)
    folder.run("sweep -p a=7 -n -- echo {a}", err="raddle: 1 point, 0 of them in the record: 1 run\n")
    folder.run("sweep -p a=7 -- echo {a}")
    for line in ("runs show", "why"):
        expect_in("\n  1 point: ", folder.run(line).stdout)


def points_of_every_kind(folder):
    folder.write("points.csv", "x,name\n1,p\n2,q\n")
    expect(folder.column("sweep --from points.csv -- echo {x}{name}", "stdout"), ["1p", "2q"])
    expect(folder.column("sweep -p a=1,2 -p b=x,y --zip a,b -- echo {a}{b}", "stdout"), ["1x", "2y"])
    expect(folder.column("sweep -p a=1:9 -p n=x,y --where 'a*a > 50 && n == \"y\"' -- echo {a}{n}", "stdout"), ["8y", "9y"])
    expect(folder.column("sweep -p a=1:7 --shard 2/3 -- echo {a} {#}", "stdout"), ["2 2", "5 5"])
    expect(folder.column("sweep -p a=1:3 --order random -- echo {a}", "a"), ["1", "2", "3"])
    orders = set()
    for seed in range(5):
        folder.run(f"sweep -p a=1:9 --order random --seed {seed} -j1 --no-cache -- sh -c 'echo {{a}} >> order{seed}'")
        orders.add(folder.read(f"order{seed}"))
        expect(sorted(folder.read(f"order{seed}").split()), list("123456789"))
    expect(len(orders) > 1 and "".join(f"{a}\n" for a in range(1, 10)) not in orders, True)
    expect(folder.column("sweep -p 'a=1 , 2' -p 'b= 3 : 4' -p 'n= x y ,\tz ' -- echo {a}.{b}.{n}.", "stdout"),
           [f"{a}.{b}.{n}." for a in "12" for b in "34" for n in ("x y", "z")])
    rows = folder.column("sweep -p a=1,2 --repeats 2 -- echo {a} {rep} {seed}", "a", "rep", "seed")
    expect(rows, folder.column("sweep -p a=1,2 --repeats 2 -- echo {a} {rep} {seed}", "stdout"))
    expect(len(set(row.split()[2] for row in rows)), 4)
    for method in ("--random", "--lhs", "--sobol"):
        values = folder.column(f"sweep {method} 8 -p 'x~U(2,3)' -- echo {{x}}", "stdout")
        expect(len(set(values)) == 8 and all(2 < float(value) < 3 for value in values), True)


def script_does_the_same(folder):
    for options in ("-p a=1,2 -p n='x,\"\"\"y\"'", "-p a=1:4 --where 'a > 2'", "--lhs 3 -p 'a~U(0,1)' -p n=u --repeats 2"):
        options += "" if " n=" in options else " -p n=z"
        command = "-- echo --a={a} {n}" + (" {seed} {#}" if "repeats" in options else "")
        expected = folder.column(f"sweep {options} {command}", "stdout")
        folder.write("printed.df", folder.run(f"sweep {options} --print-script {command}").stdout)
        printed = folder.run("run printed.df").stdout.splitlines()
        quoted = [line.replace('"', '""') for line in printed]
        expect(sorted(quoted), sorted(row.strip('"') for row in expected))


def points_are_lazy(folder):
    """Of a sweep that nobody could make whole, the first point is run, in little memory."""
    folder.run("sweep -p a=1:1000000 -p b=1:1000000 --yes --max-fails 0 -j1 -- sh -c 'grep VmHWM /proc/$PPID/status; exit {a}'",
               code=75)
    log = json.loads(folder.run("runs logs --json").stdout)["log"]
    expect(int(log["stdout"].split()[1]) < 200_000, True)


MODEL = """
import math;
@param float a = 1.0;
@param int n = 2;
@param boolean negative = false;
(float s) sign(boolean b) { if (b) { s = -1.0; } else { s = 1.0; } }
(float r, int m) model(float x, int k, boolean is_negative) {
  r = sqrt(x) * itof(k) * sign(is_negative);
  m = 12 %/ k;
}
@result float root;
@result int twelfth;
(root, twelfth) = model(a, n, negative);
"""


def script_is_swept(folder):
    folder.write("model.df", MODEL)
    expect(folder.column("sweep model.df -p a=4,9 -p n=1:3", "a", "n", "root", "twelfth"),
           ["4 1 2.0 12", "4 2 4.0 6", "4 3 6.0 4", "9 1 3.0 12", "9 2 6.0 6", "9 3 9.0 4"])
    folder.run("sweep model.df -p n=1:4 -p a=9,4,1", err="12 points, 6 from the record")
    folder.run("sweep model.df -p a=4.00,4.50 -p n=+1", err="2 points, 1 from the record")
    expect(folder.column("sweep model.df -p a=4 -p negative=true,false,1", "root"), ["-4.0", "4.0", "-4.0"])
    rows = folder.column("sweep model.df -p a=-1,1,4 -p n=0:2 -o -", "a", "n", "root", "outcome", code=4)
    expect(rows, ["-1 0  failed", "-1 1  failed", "-1 2  failed", "1 0  failed", "1 1 1.0 ok", "1 2 2.0 ok", "4 0  failed",
                  "4 1 2.0 ok", "4 2 4.0 ok"])
    done = folder.run("sweep model.df -p a=-1,1 --no-cache", code=4, err="1 failed: model.df:8:7: ")
    expect_in("as point 1: raddle run model.df --a=-1\n", done.stderr)
    folder.run("rerun --failed", code=4, err="1 point, 1 failed")
    expect_in("called at model.df", folder.run("runs logs").stdout)
    folder.run("sweep model.df -p a=1,4 --lhs 3 -p 'n~U(1,2)'", code=2, err="is no int")
    expect(folder.column("sweep model.df -p a=1:100 -p n=1,2,3 --group-by n --agg n,sum", "twelfth_sum"), ["1200", "600", "400"])
    numbered = folder.column("sweep model.df -p a=1:2000 --order random --shard 2/3 --where 'a > 10'", "a", "root")
    expect(numbered, [f"{a} {a ** 0.5 * 2}" for a in range(2, 2001, 3) if a > 10])
    run = json.loads(folder.run("runs list --json").stdout)["runs"][-1]["id"]
    log = json.loads(folder.run(f"runs logs {run} 17 --json").stdout)["log"]
    expect((log["point"], log["parameters"], log["results"]["root"]), (17, {"a": 17}, 2 * 17 ** 0.5))
    folder.write("model.df", folder.read("model.df").replace("12 %/ k", "13 %/ k"))
    done = folder.run("sweep model.df -p a=4,9 -p n=1:3")
    expect("from the record" in done.stderr, False)  # another script


def points_share_the_workers(folder):
    folder.write("workers.df", "import sys;\n@param int n = 1;\n@result int workers = turbine_workers();\n")
    for options, each in (("--workers 1", 1), ("--workers 4 -j 2", 2), ("--workers 6 -j 1", 6), ("--workers 9", 3)):
        expect(folder.column(f"sweep workers.df -p n=1:3 --no-cache {options}", "workers"), [str(each)] * 3)


def blocks_tell_each_point(folder):
    folder.write("holds.df", """
        import assert;
        @param int x = 1;
        @result int y = 12 %/ x;
        assert(x %% 3 != 2, "two");
        int unread = 1 %/ (x - 7);
    """)
    expect(folder.column("sweep holds.df -p x=0:9", "x", "y", "outcome", code=4),
           ["0  failed", "1 12 ok", "2  failed", "3 4 ok", "4 3 ok", "5  failed", "6 2 ok", "7  failed", "8  failed", "9 1 ok"])
    expect(folder.column("sweep holds.df -p x=1,3,+1,1", "x", "y", "outcome"), ["1 12 ok", "3 4 ok", "+1 12 ok", "1 12 ok"])
    folder.write("double.df", "@param float x = 1.0;\n@result float y = x * 2.0;\n")
    expect(folder.column("sweep double.df -p x=inf,-inf,nan,1", "y"), ["Inf", "-Inf", "NaN", "2.0"])


def recorded_points_in_another_form(folder):
    folder.write("inverse.df", "@param float x = 1.0;\n@result float y = 1.0 / x;\n")
    folder.run("sweep inverse.df -p x=0.0,2")
    expect(folder.column("sweep inverse.df -p x=-0.0,0,2 --timeout 10", "x", "y"), ["-0.0 -Inf", "0 Inf", "2 0.5"])
    folder.write("both.df", "import io;\n@param int n = 1;\n@result int y = n * 2;\nprintf(\"got %i\", n + y);\n")
    folder.run("sweep both.df -p n=1,2")
    expect(folder.column("sweep both.df -p n=1:3 --collect 'regex:got (\\d+)'", "y", "value"), ["2 3", "4 6", "6 9"])
    expect(folder.column("sweep both.df -p n=1:3", "n", "y"), ["1 2", "2 4", "3 6"])


def script_acts_at_each_point(folder):
    folder.write("act.df", """
        import io; import random; import string; import sys;
        @param string who = "me";
        @param int times = 1;
        app (void v) touch(string name) { "sh" "-c" ("echo x >> " + name) }
        foreach i in [1:times] { printf("%s %i of %i", who, i, times) => touch(who); }
    """)
    rows = folder.column("sweep act.df -p who=a,b -p times=1,3 --no-cache", "who", "times", "outcome")
    expect(rows, ["a 1 ok", "a 3 ok", "b 1 ok", "b 3 ok"])
    expect((len(folder.read("a").splitlines()), len(folder.read("b").splitlines())), (4, 4))
    expect(folder.run("runs logs --json").stdout.count("of 3"), 8)  # what was printed, and its last lines as results
    expect(folder.column("sweep act.df -p who=c,d --collect 'regex:(\\w+) 1 of'", "value"), ["c", "d"])
    folder.write("draw.df", "import random;\n@param int k = 1;\n@result float x = random() + itof(0 * k);\n")
    once = folder.column("sweep draw.df -p k=1:20 -j1", "x")
    expect(once, folder.column("sweep draw.df -p k=1:20 -j4 --no-cache", "x"))
    expect(len(set(once)), 20)
    expect(once == folder.column("sweep draw.df -p k=1:20 --seed 3", "x"), False)
    repeated = folder.column("sweep draw.df -p k=1 --repeats 4", "x")
    expect(len(set(repeated)), 4)
    log = json.loads(folder.run("runs logs --json").stdout.splitlines()[0])["log"]
    told = folder.run(f"run --results --seed={log['parameters']['seed']} draw.df --k=1").stdout
    expect(float(told.split("=")[1]) == log["results"]["x"], True)
    folder.write("stuck.df", "@param int k = 1;\nint x;\nif (k > 2) { x = 1; }\n@result int y = x + k;\n")
    expect(folder.column("sweep stuck.df -p k=1:4", "y", "outcome", code=4), [" stuck", " stuck", "4 ok", "5 ok"])
    folder.write("wait.df", "import sys;\n@param float s = 1.0;\nsleep(s);\n@result float t = s;\n")
    expect(folder.column("sweep wait.df -p s=0.01,900 -j2 --timeout 2", "t", "outcome", code=4), ["0.01 ok", " timeout"])
    folder.write("compute.df", """
        @param int n = 1;
        (int o) fib(int k) { if (k < 2) { o = k; } else { o = fib(k - 1) + fib(k - 2); } }
        @result int f = fib(n);
        """)
    expect(folder.column("sweep compute.df -p n=10,90 -j2 --timeout 2", "f", "outcome", code=4), ["55 ok", " timeout"])
    folder.write("tries.df", """
        app (void v) try_it() { "sh" "-c" "echo x >> tries; test $(wc -l < tries) -gt 2" }
        @param int k = 1;
        try_it();
        @result int y = k;
    """)
    folder.run("sweep tries.df -p k=1 --retries 3", err="2 retries")
    folder.run("sweep act.df -p who=x --repeats 2", err="the repeats of a point are all the same")


def points_write_files_of_their_own(folder):
    """A file that two points write is an error, whatever its names; attempts of one point are one writer."""
    model = """import files;
@param int n = 1;
@param string folder = ".";
app (file o) say(int k) {
  "sh" "-c" "echo $0; test -e begun$0 || { touch begun$0; exit 1; }" k @stdout=o
}
file f <%s> = say(n);
@result string y = trim(read(f));
import string;
"""
    folder.write("model.df", model % '"out%i.txt" % n')
    expect(folder.column("sweep model.df -p n=1:3 --retries 1 -o -", "y"), ["1", "2", "3"])
    folder.write("model.df", model % 'folder + "/out.txt"')
    folder.run("sweep model.df -p folder=.,./.,. --zip n,folder -p n=4:6 -j1 -k --retries 1", code=4,
               err="model.df:4:14: `././out.txt` is written at point 1 of the sweep, too")
    expect(folder.read("out.txt"), "4\n")


def draws_are_those_of_the_value(folder):
    """A point draws by its values as they are read, not as they are written, nor by the order of the parameters."""
    folder.write("draw.df", "import random;\n@param float a = 1.0;\n@param int n = 1;\n@param string s = \"\";\n"
                            "@result float x = random() + 0.0 * a * itof(n);\n")
    once = folder.column("sweep draw.df -p a=1,0.50 -p n=7 -p s=1", "x")
    expect(folder.column("sweep draw.df -p s=1 -p n=+7 -p a=1.0,5e-1 --no-cache", "x"), once)
    folder.run("sweep draw.df -p n=07 -p a=1.000,0.5 -p s=1", err="2 points, 2 from the record")
    expect(folder.column("sweep draw.df -p a=1 -p n=7 -p s=1.0", "x") == once[:1], False)  # another text
    repeated = folder.column("sweep draw.df -p a=2 --repeats 2", "x", "seed")
    expect(folder.column("sweep draw.df -p a=2.0 --repeats 2 --no-cache", "x", "seed"), repeated)
    folder.write("both.df", folder.read("draw.df").replace("random()", "random() + itof(k)").replace("@result", "@param int k = 0;\n@result"))
    alone = folder.column("sweep both.df -p a=1 -p k=1", "x")
    expect(folder.column("sweep both.df -p a=0.1,1.0 -p k=0,1 --no-cache", "x")[3:], alone)


def parquet_says_what_csv_says(folder):
    """Several row groups, missing values, all types."""
    folder.write("model.df", "import math;\n@param int k = 1;\n@param string s = \"\";\n"
                             "@result int q = 12 %/ (k %% 5);\n@result float f = 1.0 / itof(k %% 7);\n")
    for options in ("-p k=1:70000", r"""-p k=1:12 -p 's=x,\,y"z'"""):
        folder.run(f"sweep model.df {options} -k -o x.csv", code=4)
        folder.run(f"sweep model.df {options} -k -o x.parquet", code=4)
        found = (folder.path / "x.parquet").read_bytes()
        expect((found[:4], found[-4:]), (b"PAR1", b"PAR1"))
        try:
            import pyarrow.parquet
        except ImportError:
            continue
        table = pyarrow.parquet.read_table(folder.path / "x.parquet")
        with open(folder.path / "x.csv", encoding="utf-8", newline="") as rows:
            expected = list(csv.DictReader(rows))
        expect([name for name in expected[0] if name != "duration_s"], [name for name in table.column_names if name != "duration_s"])
        for name, type_name in (("k", "int64"), ("q", "int64"), ("f", "double"), ("outcome", "string")):
            column = table.column(name)
            expect(str(column.type), type_name)
            read = {"int64": int, "double": float, "string": str}[type_name]
            expect(column.to_pylist(), [None if row[name] == "" else read(row[name]) for row in expected])
        if "s" in table.column_names:
            expect(table.column("s").to_pylist(), [row["s"] for row in expected])


def changed_table_is_noticed(folder):
    folder.write("model.df", "import assert;\n@param int n = 1;\nassert(n != 2, \"two\");\n@result int y = 2 * n;\n")
    folder.write("points.csv", "n\n1\n2\n3\n")
    folder.run("sweep model.df --from points.csv -o x.csv", code=4)
    folder.write("points.csv", "n\n5\n7\n3\n8\n")
    done = folder.run("runs logs --json", err="the parameters of 1 point are not known: the values have changed")
    expect_in("they come from `points.csv`", done.stderr)
    logs = [json.loads(line)["log"] for line in done.stdout.splitlines()]
    expect(sorted((log["point"], log["parameters"].get("n"), log["results"].get("y")) for log in logs),
           [(1, None, 2), (2, 2, None), (3, 3, 6)])
    before = folder.read("x.csv")
    folder.run("rerun --failed", code=2, err='point 2 was {"n":2}, and is {"n":7} now')
    folder.write("points.csv", "n\n5\n")
    folder.run("rerun --failed", code=2, err="point 2 was")
    expect(folder.read("x.csv"), before)


def tables_say_what_is_known(folder):
    folder.write("model.df", "import assert;\n@param int n = 1;\n@param float g = 9.5;\n@param string s = \"a\\\"b\";\n"
                             "assert(n > 5, \"small\");\n@result int y = n;\n@result float z = g;\n@result boolean b = n > 7;\n")
    table = folder.run("sweep model.df -p n=1,2", code=4).stdout.splitlines()
    expect(table[0], "n,y,z,b,outcome,duration_s,reason")  # the results have columns, though no point has any
    expect([line.split(",")[-1] for line in table[1:]], 2 * ["model.df:5:1: Assertion failed!: small"])
    expect(folder.column("sweep model.df -p n=6:9 --group-by n --agg mean", "b_mean", "y_mean"), ["0 6", "0 7", "1 8", "1 9"])
    expect(json.loads(folder.run("sweep model.df -p n=8 -o x.jsonl") and folder.read("x.jsonl"))["b"], True)
    folder.write("names.df", "@param string s = \"a\";\n@result string t = s;\n@result string u = s + \"x\";\n@result int i = toint(s);\n")
    folder.run("sweep names.df -p s=7,08 -o x.jsonl")  # what the script says is text stays text
    expect([[row[name] for name in "stui"] for row in map(json.loads, folder.read("x.jsonl").splitlines())],
           [["7", "7", "7x", 7], ["08", "08", "08x", 8]])
    expect(json.loads(folder.run("runs logs /1 --json").stdout)["log"]["results"], {"t": "7", "u": "7x", "i": 7})
    expect(folder.run("run --results model.df --n=8").stdout, "y = 8\nz = 9.5\nb = true\n")
    expect(folder.column("sweep -p a=1 --collect 'regex:x=(.*)' -- sh -c 'echo no >&2; exit 3'", "x", "reason", code=4),
           [" exit code 3; no"])
    expect(folder.column("sweep -p a=1 -- false", "stdout", code=4), [""])
    names = "sweep -p a=1 --collect json: -- echo '{{\"a\":7 \"a_result\":8 \"reason\":\"r\"}}'".replace(" \"", ", \"")
    expect(folder.run(names).stdout.splitlines()[0], "a,a_result,a_result_result,reason,outcome,duration_s,reason_of_run")
    expect(folder.run("sweep -p a_mean=1 --collect 'regex:(.*)=(.*)' --collect json: --group-by a_mean --agg mean -- "
                      "echo '{{\"a\":1}}'", code=4).stdout.splitlines()[0], "a_mean,value1_mean,value2_mean")
    # a parameter that is not swept
    expect(folder.column("sweep model.df -p n=6:9 --where 'n * 1.0 > g - 2.0 && s == \"a\\\"b\"'", "n"), ["8", "9"])
    folder.run("sweep model.df -p n=6 --group-by g", code=2, err="all points have one `g`, its default")
    folder.run("sweep model.df -p n=6 --group-by nn", code=2, err="did you mean `n`?")
    folder.write("points.csv", 'n, g\n 6, 1.5 \n"7 ",\t2\n')
    expect(folder.column("sweep model.df --from points.csv", "n", "g", "z"), ["6 1.5 1.5", "7 2 2.0"])


def points_and_their_number(folder):
    folder.write("model.df", "@param int n = 1;\n@param int seed = 3;\n@result int y = n + seed;\n")
    expect(sorted(folder.column("sweep model.df --lhs 4 -p 'n~intU(-1,2)'", "n", "y")), ["-1 2", "0 3", "1 4", "2 5"])
    values = folder.column("sweep --random 200 -p 'n~intU(1,6)' -- echo {n}", "stdout")
    expect(sorted(set(values)), ["1", "2", "3", "4", "5", "6"])
    folder.run("sweep model.df --lhs 4 -p 'n~U(-1,2)'", code=2, err="intU(LOW,HIGH) draws whole numbers")
    folder.run("sweep model.df --lhs 4 -p 'n~intU(1,2.5)'", code=2, err="from one whole number to another")
    expect(folder.column("sweep model.df -p seed=1:3", "seed", "y"), ["1 2", "2 3", "3 4"])
    expect(folder.column("sweep -p seed=1:3 -p rep=7 -- echo {seed} {rep}", "stdout"), ["1 7", "2 7", "3 7"])
    folder.run("sweep model.df -p seed=1:3 --repeats 2", code=2, err="`seed` is made by --repeats")
    folder.run("sweep model.df -p n=1:1000000 -p seed=1:1000000", code=2, err="the sweep has 1,000,000,000,000 points")
    folder.run("sweep model.df -p n=1:1000000 -p seed=1:1000000 -n", err="1,000,000,000,000 points; of the first ")
    folder.run("sweep -p n=1:1000000 -p m=1:1000000 -n -- echo", err="1,000,000,000,000 points, 0 of them in the record")
    folder.run("sweep model.df -p n=1:1000000 -p seed=1:1000000 -n --where 'n > 2'", err="--where keeps ")


def models_with_arrays_are_one_kernel(folder):
    """Many points at a time, also where the first ones take long; --dry-run says so, or what is in the way."""
    model = """@param float r = 0.2;
@param int steps = 200;
float start[24, 24];
foreach i in [0:23], j in [0:23] { start[i, j] = r; }
float u[24, 24];
for (u = start, int t = 0; t < steps; t = t + 1, u = v) {
  float v[24, 24];
  foreach i in [0:23], j in [0:23] { if (i == 0) { v[i, j] = 2.0 * u[i, j]; } else { v[i, j] = u[i - 1, j]; } }
}
@result float z = u[1, 1];
"""
    folder.write("model.df", model)
    folder.run("sweep -n model.df -p r=1:3", err="thousands of points are computed together")
    folder.run("sweep -n model.df -p r=1:3 --timeout 5", err="each point is a run by itself: --timeout ends it")
    # row 1 is what row 0 was a step before
    told = folder.run("sweep -v -j1 model.df -p r=1:300 -o table.csv").stderr
    blocks = [line.split() for line in told.splitlines() if line.startswith("raddle: points ")]
    expect(max(int(words[4].rstrip(":")) - int(words[2]) + 1 for words in blocks) > 1, True)
    rows = (folder.path / "table.csv").read_text().splitlines()[1:]
    expect([float(row.split(",")[1]) for row in rows], [float(r) * 2.0 ** 199 for r in range(1, 301)])
    folder.write("prints.df", model + 'import io;\nprintf("%f", z);\n')
    folder.run("sweep -n prints.df -p r=1:3", 
               err="each point is a run by itself: `printf` prints, prints.df:12:1: a value that is marked `@result` is told without it")
    # not what draws, which a kernel can do
    folder.write("draws.df", """import arrays; import io;
@param int n = 10;
x = linspace(0.0, 1.0, n);
e = random_normal(0.0, 0.5, n);
@result float m = mean((x + e) * x);
printf("%f", m);
""")
    folder.run("sweep -n draws.df -p n=3,4", err="each point is a run by itself: `printf` prints, draws.df:6:1")


def a_pattern_of_files_is_told(folder):
    folder.write("names.df", '@param string f = "";\n@result int n = strlen(f);\n'.replace("@param", "import string;\n@param"))
    for name in ("a.txt", "b.txt"):
        folder.write(name, "")
    folder.run("sweep names.df -p f=*.txt", err="f = *.txt is one value, not a point for each of the 2 files: "
               "`(echo f; ls *.txt) > files.csv` writes a table of them, for `--from files.csv`")
    expect("not a point" in folder.run("sweep names.df -p f=*.none").stderr, False)
    folder.write("files.csv", "f\na.txt\nb.txt\n")
    folder.run("sweep names.df --from files.csv -o -", err="2 points")


def models_that_draw_are_one_kernel(folder):
    """Many points at a time, each with the numbers that `raddle run --seed` has; repeats of a point differ."""
    model = """import arrays;
import random;
@param float p = 0.5;
@param int steps = 30;
(float y) step(float x, float p) { if (random() < p) { y = x + random_exponential(); } else { y = x - 1.0; } }
float y;
int t;
for (y = 0.0, t = 0; t < steps && y < 9.0; y = step(y, p), t = t + 1) {}
float noise[:] = random_normal(8);
@result float last = y + 0.01 * sum(noise);
@result int rounds = t;
@result int die = randint(1, 7);
"""
    folder.write("walk.df", model)
    folder.run("sweep -n walk.df -p p=0:1:0.25", err="thousands of points are computed together")
    folder.run("sweep -j1 walk.df -p p=0:1:0.25 --repeats 40 --seed 5 -o table.csv")

    def rows_of(table):  # parameters, rep, seed, results
        return [row.split(",")[:6] for row in folder.read(table).splitlines()[1:]]

    rows = rows_of("table.csv")
    expect(len({row[3] for row in rows}), 200)
    folder.write("prints.df", model + 'trace("a run by itself");\n')
    folder.run("sweep -j1 prints.df -p p=0:1:0.25 --repeats 40 --seed 5 -o by_runs.csv")
    expect(rows_of("by_runs.csv"), rows)
    for row in rows[::37]:
        told = folder.run(f"run --results --seed={row[2]} walk.df --p={row[0]}").stdout
        expect([line.split(" = ")[1] for line in told.splitlines()], row[3:])
    folder.write("fails.df", "import random;\n@param int k = 1;\n@result int die = randint(1, k);\n@result float z = random_normal(0.0, itof(3 - k));\n")
    expect(folder.column("sweep fails.df -p k=1:4", "outcome", "reason", code=4),
           ["failed fails.df:3:19: randint: the start 1 is not below the end 1", "ok ", "ok ",
            "failed fails.df:4:19: random_normal: the standard deviation is negative"])


def bar_has_no_colour(folder):
    """NO_COLOR leaves the bar, TERM=dumb takes it away."""
    line = "sweep -p a=1:3 -j1 --no-cache -- sleep 0.2"
    for term, has_bar in (("xterm", True), ("dumb", False)):
        terminal, other_end = pty.openpty()
        with subprocess.Popen([folder.raddle, *shlex.split(line)], cwd=folder.path, stdout=subprocess.DEVNULL, stderr=other_end,
                              env={**os.environ, "NO_COLOR": "1", "TERM": term}):
            pass
        expect(b"\r\x1b[K[##" in os.read(terminal, 1 << 16), has_bar)
        os.close(other_end)
        os.close(terminal)


def script_does_not_fit(folder):
    folder.write("model.df", "@param float alpha = 1.0;\n@param int n = 2;\n@result float r = alpha * itof(n);\n")
    folder.write("plain.df", "int x = 1;\ntrace(x);\n")
    folder.write("wrong.df", "int x = y;\n")
    folder.write("table.csv", "alpha,m\n1,2\n")
    for line, part in (
            ("sweep model.df -p alph=1", "  -p alph=1\n     ^^^^\n  = help: did you mean `alpha`?"),
            ("sweep model.df -p x=1", "= help: its parameters are alpha, n"),
            ("sweep model.df -p n=1,2.5", "  -p n=1,2.5\n         ^^^\n  = help: the script declares `n` as int"),
            ("sweep model.df -p alpha=1,x", "`x` is no float"),
            ("sweep model.df --from table.csv", "the script has no parameter `m`"),
            ("sweep model.df -p alpha=1 -- echo", "a sweep has a script, `model.df`, or a command, not both"),
            ("sweep model.df --alpha=1", "a parameter is set by -p NAME=VALUE"),
            ("sweep model.df -p n=1 --stats", "unknown option `--stats`; `raddle run` has one of that name"),
            ("run model.df --repeats 3", "the script has no parameter `repeats`; `--repeats` is an option of `raddle sweep`\n"),
            ("run model.df --jobs=3", "`--jobs` is an option of `raddle sweep`, as `--workers` is of `raddle run`\n"),
            ("run model.df --stats", "those of raddle stand before it: type `raddle run --stats model.df`"),
            ("sweep model.df other.df -p alpha=1", "a sweep has one script, and no arguments behind it: `other.df`"),
            ("sweep plain.df -p a=1", "`@param float a = 1.0;` declares one")):
        folder.run(line, code=2, err=part)
    folder.run("sweep wrong.df -p y=1", code=3, err="wrong.df:1:9: error")
    folder.run("sweep model.df -p alpha=1,2 -n", out="raddle run model.df --alpha=1\nraddle run model.df --alpha=2\n")


def errors(folder):
    folder.write(".raddle", "in the way")
    folder.run("sweep -p a=1 -- echo {a}", code=1, err="can not make the folder `.raddle`")
    (folder.path / ".raddle").unlink()
    for line, part in (
            ("sweep -p a=1:x -- echo", "  -p a=1:x\n         ^"),
            ("sweep -p a=1 -- echo --x={b}", "  --x={b}\n      ^^^"),
            ("sweep -p beta=1 -- echo {bta}", "did you mean `{beta}`?"),
            ("sweep -p 'a~U(0,1)' -- echo {a}", "--random N, --lhs N or --sobol N"),
            ("sweep -p a=1,2 -p b=1 --zip a,b -- echo", "`b` has 1 value, but `a` has 2"),
            ("sweep -p a=1 --where 'a <' -- echo", "--where:1:4: error: unexpected end of the condition, expected an expression"),
            ("sweep -p a=1 --where 'a > (' -- echo", "--where:1:6: error: unexpected end of the condition, expected an expression"),
            ("sweep -p a=1 --where '(a > 1' -- echo", "--where:1:7: error: expected `)`"),
            ("sweep -p a=1 --where 'a > 1)' -- echo", "--where:1:6: error: unexpected `)`, expected the end of the condition"),
            ("sweep -p a=1 --where 'a > 1; a' -- echo", "--where:1:6: error: unexpected `;`, expected the end of the condition"),
            ("sweep -p a=1 --where 'import math; a > 1' -- echo", "--where:1:1: error: unexpected `import`, expected an expression"),
            ("sweep -p a=1 --where 'a b' -- echo", "--where:1:2: error: expected the end of the condition"),
            ("sweep -p a=1 --where 'a > 1 /* b' -- echo", "--where:1:7: error: unterminated comment"),
            ("sweep -p a=1 --where 'a + 1' -- echo", "--where:1:1: error"),
            ("sweep -p a=1 --where 'b > 1' -- echo", "unknown variable `b`"),
            ("sweep -p a=1 --shard 4/3 -- echo", "a shard is i/n"),
            ("sweep -p a=1 --shard 3/2 -- echo", "= help: of 2 the last is 2/2; --shard 2/3 is one of 3\n"),
            ("sweep -p a=1 --shard 0/2 -- echo", "= help: --shard 3/20\n"),
            ("sweep -p a=0.4:0.1:-1 -- echo", "one value only, 0.4: its step of -1 goes beyond 0.1\n  -p a=0.4:0.1:-1\n       ^^^^^^^^^^\n"
             "  = help: FROM:TO:STEP, as in `0.4:0.1:-0.1`"),
            ("sweep -p a=1:4:5 -- echo", "one value only, 1: its step of 5 goes beyond 4"),
            ("sweep -p a=0.4:0.1 -- echo", "= help: 0.4:0.1:-0.1 counts down"),
            ("sweep -p a=4:1 -- echo", "= help: 4:1:-1 counts down"),
            ("sweep -p a=0.4:0.1:0.1 -- echo", "= help: 0.4:0.1:-0.1 counts down"),
            ("sweep -p a=1:3:-1 -- echo", "= help: 1:3:1 counts up"),
            ("sweep -p a=1 --max-fails x -- echo", "it is a number, or a percentage"),
            ("sweep -p a=1 --collect jsn: -- echo", "no such kind of result"),
            ("sweep -p a=1 --group-by b -- echo", "there is no parameter `b`"),
            ("sweep -p a=1 -o x.txt -- echo", "a table is .csv, .jsonl or .parquet"),
            ("sweep -p a=1 -o nowhere/x.csv -- echo", "can not write into `nowhere`"),
            ("sweep -p a=1 --timeout -1 -- echo", "--timeout: `-1` is no time; 90, 90s, 5m or 2h are\n"),
            ("sweep -p a=1 --timeout 1y -- echo", "--timeout: `1y` is no time"),
            ("sweep -p a=0.1:0.5 -- echo {a}", "the range has one value only, 0.1"),
            ("sweep -p a=0.1..0.5 -- echo {a}", "a range is written with colons"),
            ("sweep -p a=0.1..0.5:0.1 -- echo {a}", "as in `0.1:0.5:0.1`"),
            ("sweep -p a={1..9} -- echo {a}", "as in `1:9:STEP`"),
            ("sweep -p a=1", "no script, and no command: a command stands behind `--`"),
            ("sweep -p a=1 echo {a}", "a command stands behind `--`"),
            ("sweep model.df -p a=1", "can not read `model.df`"),
            ("sweep --from nowhere.csv -- echo", "can not read `nowhere.csv`"),
            ("sweep --job 3 -- echo", "did you mean `--jobs`?"),
            ("sweep --random 3 --lhs 3 -p 'a~U(0,1)' -- echo", "exclude each other")):
        folder.run(line, code=2, err=part)
    folder.run("sweep -p a=3,2,1,0 -p s=x,y --where '6 %/ a > 2' -- echo {a}{s}", code=1, err="raddle: --where: division by zero, at a = 0, s = x\n")
    folder.run("sweep -n -p a=0:3 --where '6 %/ a > 2' -- echo {a}", code=1, err="raddle: --where: division by zero, at a = 0\n")
    folder.run("sweep -p s=1,x,y --where 'string2int(s) > 0' -- echo {s}", code=1, err=", at s = x\n")
    folder.run("sweep -p a=0:3 --where 'a > 2 // and no more' -- echo {a}", err="1 point, ")
    folder.run("sweep -p a=0:3 --where 'a > 5' -- echo {a}", err="raddle: --where leaves none of 4 points\n")
    folder.run("sweep --help", out=folder.run("sweep -h").stdout)



def one_name_is_one_result(folder):
    both = "'train: loss={x}' 'test: loss=7'"
    folder.run(f"sweep -p x=1,2 --collect 'regex:train: loss=(.*)' --collect 'regex:test: loss=(.*)' -- printf '%s\\n' {both}",
               code=2, err="two results have the name `loss`")
    folder.run("sweep -p x=1,2 --collect 'regex:a=(.*) a=(.*)' -- echo a={x} a=3", code=2, err="two results have the name `a`")
    folder.write("both.sh", """echo '{"E": 1}' | tee a$1.json > b$1.json\n""")
    folder.run("sweep -p x=1 --collect json:a{x}.json --collect json:b{x}.json -- sh both.sh {x}", code=4, err="two results have the name `E`")
    folder.write("model.df", "@param int n = 1;\n@result int loss = 2 * n;\ntrace(\"loss=%i\" % n);\n")
    folder.run("sweep model.df -p n=1,2 --collect 'regex:loss=(.*)'", code=2,
               err="two results have the name `loss`: the script assigns one that is named so")
    folder.write("model.df", "import io;\n@param int n = 1;\n@result int loss = 2 * n;\nprintf(\"{\\\"loss\\\": 1}\");\n")
    folder.run("sweep model.df -p n=1 --collect json:", code=4, err="two results have the name `loss`: the script assigns one of them")


def words_that_are_lost_are_told(folder):
    folder.run("sweep -p x=1 -o a.csv -o b.csv -- echo {x}", code=2, err="the table is written to one file: -o stands there twice")
    expect((folder.path / "b.csv").exists(), False)
    folder.run("sweep -p x=1 -o a.csv -- echo {x}")
    folder.run("sweep --resume -o b.csv", err="1 from the record")  # in place of that of the run
    expect(folder.read("b.csv"), folder.read("a.csv"))
    folder.run("rerun -o a.csv -o b.csv", code=2, err="-o stands there twice")
    for verb in ("sweep -p x=1 --where '' -- echo {x}", "rerun --where ' '"):
        folder.run(verb, code=2, err="the expression is empty")


def truth_beside_numbers_is_told(folder):
    line = "sweep -p x=1:4 --collect 'regex:v=(.*)' --group-by x --agg mean -- sh -c 'test {x} = 1 && echo v=true || echo v={x}'"
    folder.run(line, err="1 value of `v` is true or false: beside numbers its statistics count that as 1 or 0")
    done = folder.run("sweep -p x=1:2 --collect 'regex:v=([a-z]+)' --agg mean -- echo v=true {x}")
    expect("warning" in done.stderr, False)


def summary_is_json(folder):
    command = "sweep --json -j1 -k -p a=1:4 -- sh -c 'test {a} -lt 3 || exit 3'"
    told = json.loads(folder.run(command, code=4, err="2 failed").stdout)
    expect((told["schema"], told["exit_code"], told["run"]["state"], told["run"]["ok"], told["run"]["failed"]), (1, 4, "failed", 2, 2))
    expect([(group["count"], group["what"], group["point"], group["command"]) for group in told["failures"]],
           [(2, "exit code 3", 3, "sh -c 'test 3 -lt 3 || exit 3'")])
    told = json.loads(folder.run("sweep --json -p a=1:2 -o x.csv -- echo {a}").stdout)
    expect((told["run"]["points"], told["failures"], folder.read("x.csv").count("\n")), (2, [], 3))
    folder.run("sweep --json -o - -p a=1 -- echo {a}", code=2, err="--json: standard output is that of the table")
    folder.run("sweep --json -n -p a=1 -- echo {a}", code=2, err="--json: standard output is")
    expect(folder.run("rerun -o -").stdout.startswith("a,"), True)  # --json is of the one command line
    stopped = json.loads(folder.run("sweep --json -j1 -p a=1:9 --max-fails 0 -- false {a}", code=75).stdout)
    expect((stopped["run"]["state"], stopped["exit_code"]), ("stopped", 75))


def quiet_and_verbose(folder):
    """-q: errors only; -v: a line for each point that ends, which is not repeated when the run is gone on with."""
    command = "-- sh -c 'exit {a}'"
    expect(folder.run("sweep -q --progress plain -p a=1 -p b=1,2 -- echo").stderr, "")
    folder.run(f"sweep -q -p a=0,3 {command}", code=4, err="raddle: 1 failed: exit code 3")
    expect(len(folder.run(f"sweep -q -p a=0,4 {command}", code=4).stderr.splitlines()), 2)
    told = folder.run(f"sweep -v -j1 -p a=5,0 --retries 1 {command}", code=4).stderr.splitlines()
    expect([line.rpartition(", ")[0] for line in told[:2]],
           ["raddle: point 1: a = 5: exit code 5, is tried again", "raddle: point 1: a = 5: exit code 5"])
    expect(any("point 2" in line for line in told), False)  # taken from the record
    expect("raddle: point 1:" in folder.run("sweep --resume", code=4).stderr, False)
    folder.run("rerun --failed -v", code=4, err="raddle: point 1: a = 5: exit code 5")
    folder.write("numbers.df", "@param int n = 1;\n@result int y = 12 %/ n;\nint unread = 3;\n")
    told = folder.run("sweep -v numbers.df -p n=0:2000", code=4).stderr
    expect_in("raddle: point 1: n = 0: ", told)
    expect_in(" to 2,001: ok, ", told)
    expect_in("unread", told)
    expect("unread" in folder.run("sweep -q numbers.df -p n=0:2000", code=4).stderr, False)


def time_limit_starts_nothing_new(folder):
    """What runs may end; it is gone on with."""
    folder.run("sweep -p a=1:50 -j2 --time-limit 2 -- sh -c 'sleep 0.2; echo {a} >> ended'", code=75,
               err=" running, which may end")
    ended = len(folder.read("ended").split())
    expect(ended < 50, True)
    folder.run("sweep --resume --time-limit 10m -j20", err=f"50 points, {ended} from the record")
    folder.run("sweep -p a=1,2 --time-limit 10m -- echo {a}", err="2 points")
    folder.run("sweep -j2 -p a=1,2 --time-limit 2 -- sleep 4.{a}", err=" running, which are the last")
    folder.run("sweep -p a=1,2 --time-limit never -- echo {a}", code=2, err="`never` is no time")


STUCK = 'import files;\nimport io;\n@param int n = 0;\n@result int y;\nif (n == 1) { y = size(read(input("pipe"))); } else { y = n; }\n'
STUCK_CALL = '@library="libc.so.6" (int left) sleep(int seconds);\n@param int n = 0;\n@result int y = n + sleep(600 * (n %% 2));\n'


def a_point_that_does_not_come_back_keeps_no_other_one(folder):
    """It is given up when its time is up, and another thread goes on."""
    os.mkfifo(folder.path / "pipe")
    for name, text in (("read.df", STUCK.replace("size(", "strlen(").replace("import io", "import string")), ("call.df", STUCK_CALL)):
        folder.write(name, text)
        told = folder.run(f"sweep {name} -j 1 -p n=0:2 --timeout 0.3 -o out.csv", code=4).stderr
        expect_in("1 failed: ended by --timeout, without a function that does not come back", told)
        rows = [line.split(",") for line in folder.read("out.csv").splitlines()]
        expect([row[:3] for row in rows[1:]], [["0", "0", "ok"], ["1", "", "timeout"], ["2", "2", "ok"]])


def one_signal_ends_a_sweep_of_a_script(folder):
    """Whatever its points wait for. What has ended is in the record."""
    folder.write("call.df", STUCK_CALL.replace("@result", 'import files;\nfile begun<"begun%i" % n> = write("");\n@result'))
    for sent, code in ((signal.SIGTERM, 75), (signal.SIGINT, 130)):
        with subprocess.Popen([folder.raddle, "sweep", "call.df", "-j", "2", "-p", "n=0:1", "--no-cache"], cwd=folder.path,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as sweep:
            wait_for(lambda: (folder.path / "begun0").exists() and (folder.path / "begun1").exists(), "both points to begin")
            wait_for(lambda: "1 ok" in folder.run("runs").stdout.splitlines()[-1], "the first one's end")
            sweep.send_signal(sent)
            expect(sweep.wait(timeout=60), code)
        expect_in("stopped" if sent == signal.SIGTERM else "interrupted", folder.run("runs").stdout.splitlines()[-1])
        (folder.path / "begun1").unlink()


def counts_at_a_signal_add_up(folder):
    """Points that are computed together: what is told is what the record has."""
    folder.write("many.df", "@param int x = 1;\n"
                 "(float n) steps(int x) { for (n = 0.0, int i = 0; i < 100000; i = i + 1, n = next) { float next = n * 0.999 + itof(x); } }\n"
                 "@result float y = steps(x);\n")
    number = r"([0-9,]+)"
    line = "sweep many.df -p x=1:1000000 -j2 --progress none"
    before = 0
    for sent in (signal.SIGINT, signal.SIGTERM):
        sweep = folder.start(line)
        wait_for(lambda: processor_s(sweep.pid) > 0.5, "points that are computed")
        sweep.send_signal(sent)
        error = sweep.communicate(timeout=30)[1]
        stop = re.search(rf"\nraddle: {number} running, ended now: up to {number} of 1,000,000 points left; resume with", error)
        end = re.search(rf"\nraddle: run \S+: {number} of 1,000,000 points, ", error)
        expect(stop is not None and end is not None, True)
        running, left, through = (int(text.replace(",", "")) for text in (*stop.groups(), end[1]))
        expect(0 < running <= left and 1_000_000 - left <= through < 1_000_000, True)
        told = json.loads(folder.run("runs list --json").stdout)["runs"][-1]
        expect((told["ok"] + told["from_record"], told["from_record"], told["failed"]), (through, before, 0))
        preview = folder.run(line + " -n").stderr
        expect_in(f"{through:,} " + ("of them in the record" if "of them" in preview else "are in the record"), preview)
        before = through


TESTS = [points_share_the_workers, a_pattern_of_files_is_told, models_with_arrays_are_one_kernel, models_that_draw_are_one_kernel, counts_at_a_signal_add_up, a_point_that_does_not_come_back_keeps_no_other_one, one_signal_ends_a_sweep_of_a_script, quiet_and_verbose, time_limit_starts_nothing_new, grid_is_run_and_extended, points_of_every_kind, points_are_lazy, script_does_the_same, script_is_swept, one_name_is_one_result, words_that_are_lost_are_told, truth_beside_numbers_is_told, summary_is_json,
         blocks_tell_each_point, recorded_points_in_another_form, script_acts_at_each_point,
         points_write_files_of_their_own, draws_are_those_of_the_value, parquet_says_what_csv_says,
         changed_table_is_noticed, tables_say_what_is_known, points_and_their_number, script_does_not_fit,
         bar_has_no_colour, errors]


if __name__ == "__main__":
    main("sweeps", "Tests `raddle sweep`.", TESTS, SweepFolder)
