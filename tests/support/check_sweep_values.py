#!/usr/bin/env python3
"""What values sweeps have, and what becomes of them in tables and on terminals. Each test has a folder of its own.

    check_sweep_values.py [--raddle PATH] [FILTER]
"""

import csv
import io
import json
import os
import pty
import shlex
import subprocess

from folder_tests import expect, expect_in, main
from sweep_folder import SweepFolder


def rows_of(folder, line, form="jsonl", code=0):
    folder.run(f"sweep --no-cache -q -o x.{form} {line}", code)
    return [json.loads(row) for row in folder.read(f"x.{form}").splitlines()]


def on_terminal(folder, line, **variables):
    """What a terminal is sent, where it is both outputs."""
    terminal, other_end = pty.openpty()
    coloured = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    with subprocess.Popen([folder.raddle, *shlex.split(line)], cwd=folder.path, stdin=other_end, stdout=other_end, stderr=other_end,
                          env={**coloured, "TERM": "xterm", **variables}) as process:
        os.close(other_end)
        sent = b""
        try:
            while piece := os.read(terminal, 1 << 16):
                sent += piece
        except OSError:  # the other end is closed
            pass
        process.wait()
    os.close(terminal)
    return sent


def ranges_are_exact(folder):
    expect(folder.column("sweep -p n=9007199254740993:9007199254740994 -- echo {n}", "n", "stdout"),
           ["9007199254740993 9007199254740993", "9007199254740994 9007199254740994"])
    expect(len(folder.column("sweep -p t=123456789.0123456:123456789.0123459:0.0000001 -- echo {t}", "t")), 4)
    expect(folder.column("sweep -p 'a=lin(-1e308,1e308,3)' -- echo {a}", "stdout"), ["-1e+308", "0", "1e+308"])
    folder.write("next.df", "@param int n = 1;\n@result int m = n - 1;\n")
    expect(folder.column("sweep next.df -p n=9223372036854775806:9223372036854775807", "m"),
           ["9223372036854775805", "9223372036854775806"])
    folder.run("sweep -n -p n=9223372036854775807:9223372036854775808 -- echo {n}", code=2, err="a range of ints goes from -9223372036854775808")
    values = folder.column("sweep --random 50 -p 'u~U(-1e308,1.5e308)' -p 'l~logU(1e-300,1e300)' -- echo {u} {l}", "stdout")
    expect(any("inf" in value for value in values), False)
    folder.write("same.df", "@param float x = 1.0;\n@param int n = 1;\n@result float y = x;\n")
    expect(folder.column("sweep same.df -p x=1e-400,inf,-1e-400", "y"), ["0.0", "Inf", "-0.0"])
    expect(folder.column("sweep -p x=1e-400,1e400 -- echo {x}", "stdout"), ["1e-400", "1e400"])
    for values in ("x=1,1e400", "x=1,-1e400"):
        folder.run(f"sweep same.df -p {values}", code=2, err="1e400` is beyond what a float can be, -1.8e308 to 1.8e308")
    folder.run("sweep same.df -p n=9223372036854775808", code=2, err="is beyond what an int can be")
    for values in ("x=9007199254740992:9007199254740995", "x=-9007199254740995:-9007199254740993", "x=1e9:1000000000.0001:0.00000001"):
        folder.run(f"sweep same.df -p {values}", code=2, err="would be rounded: floats are farther apart there than the values of the range")
    expect(len(folder.column("sweep same.df -p x=9007199254740992:9007199254740996:2", "x")), 3)
    expect(len(folder.column("sweep same.df -p x=0:1:0.1", "x")), 11)
    folder.write("t.csv", "x\n1\n1e400\n")
    folder.run("sweep same.df --from t.csv", code=2, err="`1e400` is beyond what a float can be")
    folder.run("sweep --random 5 -p 'x~N(0,1e308)' -- echo {x}", code=2, err="some draws would lie beyond the largest float")


def statistics_count_all_numbers(folder):
    line = "-p g=1 --group-by g --agg mean,std,n,min,max,sum -o - -- sh -c 'echo $0' {v} {g}"
    expect(folder.run(f"sweep -q -p v=-1,inf,1 {line}").stdout.splitlines()[1], "1,inf,nan,3,-1,inf,inf")
    expect(folder.run(f"sweep -q -p v=1,nan,2 {line}").stdout.splitlines()[1], "1,nan,nan,3,nan,nan,nan")
    large = ",".join(str(1700000000000000000 + 100 * i) for i in range(10))
    expect(folder.run(f"sweep -q -p v={large} {line}").stdout.splitlines()[1],
           "1,1.7000000000000005e+18,302.7650354097492,10,1700000000000000000,1700000000000000900,17000000000000004500")
    found = folder.run(f"sweep -q -p v=1.7e308,1.5e308 {line}").stdout.splitlines()[1].split(",")
    expect(found[1:2] + found[3:], ["1.6e+308", "2", "1.5e+308", "1.7e+308", "inf"])
    expect(abs(float(found[2]) / (0.2e308 / 2 ** 0.5) - 1) < 1e-15, True)
    found = folder.run(f"sweep -q -p v=9007199254742036,9007199254741474,9007199254743021 {line}").stdout.splitlines()[1].split(",")
    expect(found[1], "9007199254742176")  # rounded once
    folder.run(f"sweep -p v=1,x,2,y {line}", err="2 values of `stdout` are no numbers, as `x`: its statistics leave that out")
    folder.write("inverse.df", "@param float x = 1.0;\n@result float y = 1.0 / x;\n")
    folder.run("sweep inverse.df -p x=0,1,2")
    expect("duration" in folder.run("plot").stdout, False)  # y has an infinity, and is a number still
    folder.run(f"sweep -p v=x,y {line}", err="no value of `stdout` is a number: its statistics are empty")


def strings_stay_strings(folder):
    """Of parameters, of what is printed, of JSON, CSV and tables; a column has one type."""
    expect(rows_of(folder, "-p id=7e013608 -- true {id}")[0]["id"], "7e013608")
    expect([row["id"] for row in rows_of(folder, "-p id=7e013608,12345678 -- true {id}")], ["7e013608", "12345678"])
    expect([row["id"] for row in rows_of(folder, "-p id=007,12 -- true {id}")], ["007", "12"])
    expect([row["id"] for row in rows_of(folder, """-p 'id="7e01","1"' -- true {id}""")], ["7e01", "1"])
    expect([row["x"] for row in rows_of(folder, "-p x=1,2.50,inf,.5 -- true {x}")], [1, 2.5, None, 0.5])
    expect([row["b"] for row in rows_of(folder, "-p b=true,false -- true {b}")], [True, False])
    expect([row["b"] for row in rows_of(folder, "-p b=true,1 -- true {b}")], ["true", "1"])
    expect([row["stdout"] for row in rows_of(folder, "-p a=12,13 -- echo {a}")], [12, 13])
    expect([row["stdout"] for row in rows_of(folder, "-p a=1.5,true -- echo {a}")], ["1.5", "true"])
    expect([row["stdout"] for row in rows_of(folder, "-p a=1.5,12 -- echo {a}")], [1.5, 12])
    expect([row["stdout"] for row in rows_of(folder, "-p a=12,x7 -- echo {a}")], ["12", "x7"])
    expect([row["stdout"] for row in rows_of(folder, "-p a=12,13 --collect json: -- echo '{{\"stdout\": \"{a}\"}}'")], ["12", "13"])
    expect([row["stdout"] for row in rows_of(folder, "-p a=7e013608,12 -- echo {a}")], ["7e013608", "12"])
    folder.write("w.sh", 'echo "{\\"zip\\": \\"0123$1\\", \\"s\\": \\"$1\\", \\"n\\": $1, \\"t\\": \\"true\\", \\"big\\": 1e400, \\"in\\": {\\"x\\": NaN}}"')
    row = rows_of(folder, "-p a=5 --collect json: -- sh w.sh {a}")[0]
    expect([row[name] for name in ("zip", "s", "n", "t", "big")], ["01235", "5", 5, "true", "1e400"])
    expect(row["in.x"], None)
    folder.write("points.csv", "id,k\n7e013608,1\n42,2\n")
    expect([(row["id"], row["k"]) for row in rows_of(folder, "--from points.csv -- echo {id} {k}")], [("7e013608", 1), ("42", 2)])
    folder.run("sweep --no-cache -p id=7e013608,12345678 -- echo {id}")
    log = json.loads(folder.run("runs logs /1 --json").stdout)["log"]
    expect((log["parameters"], log["results"]), ({"id": "7e013608"}, {"stdout": "7e013608"}))
    expect(json.loads(folder.run("runs logs /2 --json").stdout)["log"]["parameters"], {"id": "12345678"})
    folder.write("s.df", "@param string s = \"\";\n@param int n = 0;\n@result string t = s;\n@result int m = n;\n")
    expect([[row[name] for name in "sntm"] for row in rows_of(folder, "s.df -p s=1,02 -p n=+3")],
           [["1", 3, "1", 3], ["02", 3, "02", 3]])
    try:
        import pyarrow.parquet
    except ImportError:
        return
    folder.run("sweep -q -p id=7e013608,12345678 -o x.parquet -- echo {id}")
    expect(pyarrow.parquet.read_table(folder.path / "x.parquet").column("id").to_pylist(), ["7e013608", "12345678"])


def empty_strings_are_values(folder):
    """What is not there is something else: no key, null in the other forms of JSON."""
    expect([row["s"] for row in rows_of(folder, """-p 's="",a' -- true {s}""")], ["", "a"])
    expect([row["s"] for row in rows_of(folder, """-p 's="",1' -- true {s}""")], ["", "1"])
    folder.write("e.sh", 'echo "{\\"e\\": \\"$1\\"}"\n')
    expect([row["e"] for row in rows_of(folder, """-p 's="",a' --collect json: -- sh e.sh {s}""")], ["", "a"])
    for line in ("""-p 's="",1' -- echo {s}""", """-p 's="",1' --collect 'regex:stdout=(.*)' -- echo stdout={s}"""):
        expect([row.get("stdout") for row in rows_of(folder, line)], [None, 1])  # a text that is printed says no type
    folder.write("s.df", "import string;\n@param string s = \"\";\n@param int n = 0;\n@result string t = s;\n@result int m = 1 %/ n;\n")
    rows = rows_of(folder, """s.df -p 's="",a' -p n=1,0""", code=4)
    expect([(row["s"], row.get("t"), row.get("m")) for row in rows], [("", "", 1), ("", None, None), ("a", "a", 1), ("a", None, None)])
    expect(["reason" in row for row in rows], [False, True, False, True])
    folder.write("w.sh", """echo '{"e": "", "v": '$1'}'""")
    rows = rows_of(folder, "-p a=null,2.5 --collect json: -- sh w.sh {a}")
    expect([(row["e"], row.get("v")) for row in rows], [("", None), ("", 2.5)])
    expect(json.loads(folder.run("runs logs /1 --json").stdout)["log"]["results"], {"e": "", "v": None})
    rows = rows_of(folder, "-p a=,2.5 --collect csv: -- printf 'v,w\\n{a},1\\n'".replace("a=,", 'a=\'"",').replace("2.5 ", "2.5' "))
    expect([row.get("v") for row in rows], [None, 2.5])
    expect([row.get("v") for row in rows_of(folder, """-p 'a="",2.5' --collect 'regex:v=(\\S*)' -- echo v={a}""")], [None, 2.5])
    expect(["stdout" in row for row in rows_of(folder, "-p a=1 -- true {a}")], [False])  # there is no line
    folder.write("points.csv", "k,s\n1,a\n,\n2,b\n")  # no number, and an empty string
    expect([(row.get("k"), row.get("s")) for row in rows_of(folder, "--from points.csv -- echo {k} {s}")],
           [(1, "a"), (None, ""), (2, "b")])
    folder.write("one.csv", 's\nx\n""\n\n')
    expect([row["s"] for row in rows_of(folder, "--from one.csv -- true {s}")], ["x", ""])
    expect(folder.run("""sweep -q -p 's="",a' --collect json: --group-by s --agg n -o - -- echo '{{}}' """, code=4).stdout, 's\n""\na\n')
    folder.write("before.df", "@param int n = 0;\n@result string t = \"\";\n")
    folder.run("sweep before.df -p n=1")
    folder.write("before.df", "@param int n = 0;\n@result string t = \"x\";\n")
    folder.run("sweep before.df -p n=1")
    ids = [run["id"] for run in json.loads(folder.run("runs list --json").stdout)["runs"]][-2:]
    expect_in('t: "" -> x', folder.run(f"runs diff {ids[0]} {ids[1]}").stdout)
    try:
        import pyarrow.parquet
    except ImportError:
        return
    folder.run("""sweep -q -p 's="",a' -o x.parquet -- true {s}""")
    table = pyarrow.parquet.read_table(folder.path / "x.parquet")
    expect((table.column("s").to_pylist(), table.column("stdout").to_pylist()), (["", "a"], [None, None]))


def json_of_every_size(folder):
    folder.write("deep.py", "print('{\"a\":' * 20000 + '1' + '}' * 20000)")
    folder.run("sweep -p a=1 --collect json: -- python3 deep.py {a}", code=4, err="no result: objects in more than 100 objects in standard output")
    folder.write("wide.py", "print('{' + ','.join('\"m%d\":%d' % (i, i) for i in range(100000)) + '}')")
    for collect in ("json:", "json: --agg n"):
        table = folder.run(f"sweep -q -p a=1,2 --collect {collect} -o - -- python3 wide.py {{a}}").stdout.splitlines()
        expect(len(table[0].split(",")) >= 100000, True)
    folder.write("wide.csv", ",".join(f"c{i}" for i in range(200000)) + "\n" + ",".join("1" for i in range(200000)) + "\n")
    expect(folder.column("sweep -q --from wide.csv -- echo {c7}", "c199999", "stdout"), ["1 1"])
    expect(folder.column("""sweep -q -p a=1 --collect json: -- echo '{{"x": 1e400, "y": -1e999, "z": 2}}'""", "x", "y", "z"),
           ["1e400 -1e999 2"])


def text_is_utf8(folder):
    """`run` decodes all of it."""
    line = "sweep -p a=1 -o x.csv -- sh -c 'printf \"caf\\351\\n\"; printf \"caf\\351\\n\" >&2; exit $0' {a}"
    folder.run(line, code=4, err="caf\ufffd")
    expect_in("caf\ufffd", folder.read("x.csv"))
    for verb in ("runs table", "runs logs", "runs logs --json", "runs show", "report", "why /1"):
        folder.run(verb)
    expect_in("caf\ufffd", folder.run("runs table").stdout)
    expect_in("caf\ufffd", folder.run("report").stdout)
    value = b"caf\xe9"
    done = subprocess.run([folder.raddle, "sweep", "-n", "-p", b"a=" + value, "--", "echo", "{a}"], cwd=folder.path, capture_output=True, check=True)
    expect(done.stdout, b"echo $'caf\\351'\n")
    done = subprocess.run([folder.raddle, "sweep", "-p", b"a=" + value, "-o", "-", "--", "echo", "{a}"], cwd=folder.path, capture_output=True, check=True)
    expect(done.stdout.decode().splitlines()[1].split(",")[:2], ["caf\ufffd", "caf\ufffd"])
    folder.run("runs list")


def values_in_quotes_and_empty_ones(folder):
    def values(words):
        table = folder.run(f"sweep -q {words} -o - -- echo {{a}}").stdout
        return [row["a"] for row in csv.DictReader(io.StringIO(table))]

    expect(values('-p \'a="a,b","1:3","say ""hi""",""\''), ["a,b", "1:3", 'say "hi"', ""])
    expect(values(r"-p 'a=a\,b,1\:3'"), ["a,b", "1:3"])
    expect(values("""-p 'a= "x" , y"z'"""), ["x", 'y"z'])
    folder.run("sweep -p a= -- echo {a}", code=2, err='an empty value is written `""`')
    folder.run("""sweep -p 'a="x,y' -- echo {a}""", code=2, err='  -p a="x,y\n       ^^^^\n')
    folder.run("""sweep -p 'a={{"x":1,"y":2}}' -- echo {a}""".replace("{{", "{").replace("}}", "}"), code=2, err="the quotes do not end with the value")
    folder.run("sweep -p b=1,2,1,1 -- echo {b}", err="warning: b = 1 is there 3 times: these points are the same")
    folder.run("sweep -p a=1,2,1 -p b=x,y,x --zip a,b -- echo {a} {b}", err="warning: a, b = 1, x is there 2 times")
    folder.write("f.df", "@param float x = 1.0;\n@result float y = x;\n")
    folder.run("sweep f.df -p x=1,1.0", err="warning: x = 1.0 is there 2 times: these points are the same")
    folder.run("sweep -p x=1,1.0,01 -- echo {x}", err="warning: x = 1.0 is there 3 times, spelled in different ways: for a command,")
    expect("is there" in folder.run("sweep -p x=1,1.5,x,X -- echo {x}").stderr, False)


def conditions_use_the_library(folder):
    expect(folder.column("sweep -p a=1,4 --where 'sqrt(a) > 1.5' -- echo {a}", "a"), ["4"])
    expect(folder.column("sweep -p E=1,4 --where 'sqrt(E) > 1.5 && PI > 3.0' -- echo {E}", "E"), ["4"])
    expect(folder.column("sweep -p s=ab,abc --where 'strlen(s) > 2' -- echo {s}", "s"), ["abc"])
    expect(folder.column("sweep -p n=1:4 --where 'max_integer(n, 3) == 3 && abs(n - 3) < 1' -- echo {n}", "n"), ["3"])


def terminals_obey_nobody(folder):
    escape = "\x1b"
    folder.write("say.sh", f"printf '{escape}[2Jout\\n'; printf '{escape}]0;title\\007{escape}[31mred{escape}[0m\\n' >&2; exit 3")
    sweep = f"sweep --progress none -p 'a=x{escape}[2Jy' -- sh say.sh {{a}}"
    for line in (sweep, sweep.replace("sweep ", "sweep -v ", 1), sweep.replace("sweep ", "sweep -n ", 1),
                 "runs list", "runs show", "runs logs", "runs table", "rerun --failed", "why /1", "report"):
        sent = on_terminal(folder, line)
        for part in (b"\x1b[2J", b"\x1b]0;", b"\x07"):
            expect((line, part in sent), (line, False))
    expect_in(b"red", on_terminal(folder, "runs logs"))
    folder.write("e.df", f'import assert;\nassert(false, "{escape}[2J{escape}[31mno");\n')
    sent = on_terminal(folder, "run e.df")
    expect((b"\x1b[2J" in sent, b"\\x1b[2Jno" in sent), (False, True))
    expect_in(b"\x1b[1;33mwarning", sent)  # the colours are our own
    expect_in("\x1b[2J", folder.run("runs logs --json").stdout.encode().decode("unicode_escape"))  # the record has it
    folder.run(f"sweep -n -p 'a=x{escape}y' -- echo {{a}}", out="echo $'x\\033y'\n")
    bytes_of_no_text = subprocess.run([folder.raddle, "sweep", "--print-script", "-p", b"a=caf\xe9", "--", "echo", "{a}"], cwd=folder.path,
                                      capture_output=True, check=False)
    expect(bytes_of_no_text.returncode, 1)
    expect_in(b"is no UTF-8", bytes_of_no_text.stderr)
    script = folder.run("sweep --print-script -p a=1 -- echo 'x\ntrace(1);' {a}").stdout
    expect(script.splitlines()[0], "// raddle sweep --print-script -p a=1 -- echo $'x\\ntrace(1);' '{a}'")
    for term in ("dumb", ""):
        sent = on_terminal(folder, "", TERM=term)
        expect((b"\x1b" in sent, b"TERM=dumb can not" in sent), (False, True))
        expect(on_terminal(folder, "-e 'trace(x);'", TERM=term).count(b"\x1b"), 0)
    expect(on_terminal(folder, "-e 'trace(x);'").count(b"\x1b") > 0, True)


def long_words_are_cut(folder):
    folder.write("big.csv", "a\n" + "x" * 200000 + "\n")
    told = folder.run("sweep --from big.csv -v -- sh -c 'cat /dev/zero | head -c 100000 | tr \"\\0\" e >&2; exit 3' {a}", code=4).stderr
    expect(len(told) < 10000, True)
    expect_in(".. (200,0", told)
    folder.run("sweep -q -o - -p a=1 -- echo {a} " + "y" * 100000)
    for verb in ("runs list", "runs show", "why", "why /1"):
        sent = on_terminal(folder, verb)
        expect((len(sent) < 10000, b"yyy.. (100,0" in sent), (True, True))
        expect_in("y" * 100000, folder.run(verb).stdout)  # what is no terminal gets all of it


def files_are_not_lost(folder):
    """What is read-only stays, and nobody's links lead elsewhere."""
    folder.write("x.csv", "mine\n")
    folder.write("f.df", "int  x=1; trace(x);\n")
    for name in ("x.csv", "f.df"):
        (folder.path / name).chmod(0o444)
    folder.run("sweep -p a=1 -o x.csv -- echo {a}", code=2, err="can not write `x.csv`: permission denied")
    folder.run("fmt f.df", code=1, err="can not write `f.df`: permission denied")
    expect((folder.read("x.csv"), folder.read("f.df")), ("mine\n", "int  x=1; trace(x);\n"))
    folder.run("sweep -p a=1 -- echo {a}")
    folder.write("page.html", "old")
    (folder.path / "page.html").chmod(0o400)
    folder.run("report -o page.html", code=1, err="permission denied")
    folder.run("sweep -p a=1 -o y.csv -- echo {a}")
    expect([path.name for path in folder.path.iterdir() if ".tmp" in path.name], [])
    if os.geteuid() != 0:
        return
    common = folder.path / "common"
    common.mkdir()
    common.chmod(0o1777)
    folder.write("secret", "kept\n")
    os.symlink(folder.path / "secret", common / "t.csv")
    os.lchown(common / "t.csv", 65534, 65534)
    folder.run("sweep -p a=1 -o common/t.csv -- echo {a}", code=2, err="can not write `common/t.csv`: permission denied")
    expect(folder.read("secret"), "kept\n")


def counts_are_whole_numbers(folder):
    for line, part in (("--repeats 0", "--repeats: `0` is no whole number from 1 to"), ("--repeats -1", "`-1` is no whole number"),
                       ("--random -1", "--random: `-1` is no whole number from 1 to"), ("--lhs 0", "--lhs: `0` is no"),
                       ("--sobol 1.5", "`1.5` is no whole number"), ("--seed -1", "--seed: `-1` is no whole number from 0 to")):
        folder.run(f"sweep -p 'a~U(0,1)' {line} -- echo {{a}}", code=2, err=part)
    folder.run("sweep --random a=1:2 -- echo {a}", code=2, err="how many points to draw; from what is said for each parameter: -p 'a~U(0,1)' --random 100")
    folder.run("sweep --random 10 -p speed=1:2 -- echo {speed}", code=2, err="one that is drawn is given as -p 'speed~U(0,1)', in place of `=`")
    folder.run("trace --limit 0", code=2, err="`0` is no whole number from 1 to")


TESTS = [ranges_are_exact, statistics_count_all_numbers, strings_stay_strings, empty_strings_are_values, json_of_every_size, text_is_utf8,
         values_in_quotes_and_empty_ones, conditions_use_the_library, terminals_obey_nobody, long_words_are_cut,
         files_are_not_lost, counts_are_whole_numbers]


if __name__ == "__main__":
    main("sweep-values", "Tests values of `raddle sweep`, and what is written of them.", TESTS, SweepFolder)
