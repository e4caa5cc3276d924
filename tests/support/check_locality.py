#!/usr/bin/env python3
"""raddle_locality: runs of the reference simulator repeated, what is said of files that do not read, one program's table, the bench.

    check_locality.py [--raddle PATH] [FILTER]    the tool that is tried lies beside raddle
"""

import csv
import json
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

from folder_tests import ROOT, Fault, Folder, expect, expect_in, main

GOLDEN = ROOT / "tests/golden/locality/golden_small.json"
TILE = 33177600


class LocalityFolder(Folder):
    """Commands are words of raddle_locality."""

    def __init__(self, raddle, path):
        super().__init__(str(pathlib.Path(raddle).with_name("raddle_locality")), path)


def records():
    return json.loads(GOLDEN.read_text(encoding="utf-8"))


def golden_of(folder, changed):
    folder.write("changed.json", json.dumps(changed))
    return "--golden changed.json"


def every_record_agrees(folder):
    folder.run(f"--golden {GOLDEN}", out="248 of 248 records agree\n")


def a_difference_is_told(folder):
    changed = records()[:3]
    changed[1]["loads"] = 16
    changed[1]["order_crc32"] = "00000000"
    done = folder.run(golden_of(folder, changed), code=1)
    expect(done.stdout, 'record 1: chol of 5 tiles, lws: loads is 16, here 15; order_crc32 is "00000000", here "7f900b49"\n'
                "2 of 3 records agree\n")


def files_that_do_not_read(folder):
    folder.run("--golden none.json", code=2, err="raddle_locality: can not read `none.json`")
    folder.write("text.json", "[{")
    folder.run("--golden text.json", code=2, err="`text.json` is no JSON: ")
    folder.run(golden_of(folder, {"app": "lu"}), code=2, err="`changed.json` has no array of records, as tests/golden/locality/golden_small.json has")
    folder.run(golden_of(folder, [3]), code=2, err="`changed.json`, record 0: it is no object; it is to have what the reference simulator writes")


def records_that_mean_nothing(folder):
    for name, value, text in (("app", "qr", "no program `qr`"), ("sched", "best", "no policy `best`"),
                              ("n", 0, "`n` is 0, not an integer from 1 to 1000"),
                              ("ngpu", 65, "`ngpu` is 65, not an integer from 1 to 64"),
                              ("mem_bytes", "2G", '`mem_bytes` is "2G", not an integer'),
                              ("hints", 1, "`hints` is 1, not true or false"), ("bus", "ring", "`bus` is `ring`, not shared or private"),
                              ("mem_bytes", TILE, "task 1 has operands of 66355200 bytes, a device has memory for 33177600")):
        record = {**records()[0], name: value}
        folder.run(golden_of(folder, [records()[1], record]), code=2, err=f"`changed.json`, record 1: {text}")
    for name in ("app", "depth", "loads", "lb"):
        record = {key: value for key, value in records()[0].items() if key != name}
        folder.run(golden_of(folder, [record]), code=2, err=f"`changed.json`, record 0: no member `{name}`")


def a_program_has_a_table(folder):
    out = folder.run(f"--program lu --tiles 10 --devices 4 --memory {36 * TILE} --peers --policy eager,darts --drop-dead").stdout
    lines = out.splitlines()
    expect(lines[0], f"lu: 385 tasks, 100 data of {TILE} bytes; 4 device(s) of {36 * TILE} bytes")
    expect(lines[1], "least loads: 100 compulsory, 100.0 proved, 111.1 by the leading term")
    expect([line.split()[0] for line in lines[2:]], ["policy", "eager", "darts"])
    words = f"--program lu --tiles 10 --memory {36 * TILE} --policy dmdas --priorities"
    tables = {folder.run(f"{words} {priorities}").stdout for priorities in ("given", "bottom", "none")}
    expect(len(tables), 3)
    everything = folder.run(f"--tiles 6 --memory {12 * TILE} --time").stdout
    expect_in("policy ns/task", everything)
    expect(len(everything.splitlines()), 3 + 8)


def a_table_for_programs(folder):
    out = folder.run(f"--csv --program mm-noC --tiles 5 --memory {8 * TILE} --policy eager,darts-order").stdout
    rows = list(csv.DictReader(out.splitlines()))
    expect([row["policy"] for row in rows], ["eager", "darts-order"])
    expect([rows[0][name] for name in ("program", "tiles", "devices", "loads", "compulsory", "bound")], ["mm-noC", "5", "1", "10", "10", "10.0"])
    folder.run("--csv --time --memory 1G", code=2, err="--time excludes --csv")


def transfers_go_in_few_messages(folder):
    lines = folder.run("--transfers").stdout.splitlines()
    expect(len(lines), 11)
    expect(lines[6].split(), ["Horner,", "degree", "10", "13", "2", "2", "2", "201", "91", "91", "91"])


def the_bench_runs(folder):
    """A table, means, a verdict, all figures and a picture."""
    words = [sys.executable, str(ROOT / "tests/bench/locality.py"), "--small", f"--folder={folder.path}", f"--tool={folder.raddle}"]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=60, check=True)
    lines = done.stdout.splitlines()
    expect(lines[0].split()[:2], ["program", "devices"])
    expect_in("what does not fit: geometric means", done.stdout)
    expect_in(" of 16 points", done.stdout)
    rows = list(csv.DictReader((folder.path / "locality.csv").read_text(encoding="utf-8").splitlines()))
    expect(len(rows), 16 * 8)
    expect(lines[1].split()[0], rows[0]["program"])
    for row in rows:  # as property B1 has it
        if int(row["loads"]) + int(row["peer_loads"]) < float(row["proved"]):
            raise Fault(f"fewer loads than can be: {row}")
    picture = xml.etree.ElementTree.parse(folder.path / "locality.svg").getroot()
    drawn = [element.tag.rpartition("}")[2] for element in picture.iter()]
    if drawn.count("polyline") < 2 * 8 * 8:
        raise Fault(f"{drawn.count('polyline')} lines are drawn")


def words_that_mean_nothing(folder):
    folder.run("--program qr --memory 1G", code=2, err="no program `qr`: cholesky, lu, mm, mm-noC, mm-3d")
    folder.run("--memory 1G --priorities best", code=2, err="no priorities `best`: given, bottom, none")
    folder.run("--program lu", code=2, err="--memory BYTES is missing")
    folder.run("--memory 1G --policy best", code=2, err="no policy `best`")
    folder.run("--memory lots", code=2, err="--memory")
    folder.run("--memory 1M", code=2, err="task 0 has operands of 33177600 bytes, a device has memory for 1048576")
    folder.run("--memory 1G --devices 65", code=2, err="--devices")


if __name__ == "__main__":
    main("locality", "Placement policies on simulated devices.",
         [every_record_agrees, a_difference_is_told, files_that_do_not_read, records_that_mean_nothing, a_program_has_a_table,
          a_table_for_programs, the_bench_runs, transfers_go_in_few_messages, words_that_mean_nothing], LocalityFolder)
