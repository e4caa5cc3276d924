#!/usr/bin/env python3
"""The record of runs when something goes wrong with it: damage, locks, disks that are full, several sweeps at once."""

import collections
import contextlib
import fcntl
import os
import random
import re
import resource
import signal
import sqlite3
import subprocess

from folder_tests import Fault, expect, expect_in, main, wait_for
from sweep_folder import SweepFolder, run_id

MODEL = "@param int n = 1;\n@result int y = n * n;\n@result float z = 1.0 / itof(n);\n"


def without_times(table):
    """Cells without the durations, row by row."""
    rows = [line.split(",") for line in table.splitlines()]
    return [[cell for name, cell in zip(rows[0], row) if name != "duration_s"] for row in rows]


def flipped_bits_give_no_wrong_table(folder):
    """Whichever bit of the record is another one: each table is the right one, or the fault is told and ends it."""
    folder.write("model.df", MODEL)
    folder.write("text.df", 'import string;\n@param int n = 1;\n@result string s = sprintf("%i!", n);\n')
    sweeps = ("sweep model.df -p n=1:200 -o -", "sweep text.df -p n=1:9 -o -", "sweep -p a=1:20 -o - -- echo {a}")
    right = [without_times(folder.run(line).stdout) for line in sweeps]
    whole = (folder.path / ".raddle" / "runs.db").read_bytes()
    chance = random.Random(28)
    told = 0
    for flip in range(60):
        at = chance.randrange(8 * len(whole))
        damaged = bytearray(whole)
        damaged[at // 8] ^= 1 << at % 8
        for number in range(len(sweeps) if flip % 3 == 0 else 1):
            replace_record(folder, damaged)
            line = sweeps[(flip + number) % len(sweeps)]
            told += is_right_or_told(folder, line, right[(flip + number) % len(sweeps)], at)
    return f"{told} of the flips were met and told"


def replace_record(folder, content):
    """With nothing beside it that belongs to the one before."""
    for beside in ("-wal", "-shm"):
        (folder.path / ".raddle" / f"runs.db{beside}").unlink(missing_ok=True)
    (folder.path / ".raddle" / "runs.db").write_bytes(content)


def is_right_or_told(folder, line, right, at):
    """Returns whether something was told."""
    done = folder.start(line)
    out, error = done.communicate(timeout=60)
    is_told = "damaged" in error
    if done.returncode == 0 and without_times(out) != right:
        raise Fault(f"bit {at}: {line}: {out!r}, {error!r}")
    if done.returncode != 0 and not (done.returncode == 1 and is_told):
        raise Fault(f"bit {at}: {line}: exit code {done.returncode}: {error!r}")
    return is_told


def told_by(process, part):
    """Reads its standard error up to a line with `part`."""
    lines = []
    for line in process.stderr:
        lines.append(line)
        if part in line:
            return
    raise Fault(f"expected {part!r} on stderr, found {lines!r}")


def recorded(folder, query="SELECT count(*) FROM point WHERE outcome = 0"):
    with contextlib.closing(sqlite3.connect(folder.path / ".raddle" / "runs.db")) as record:
        return record.execute(query).fetchone()[0]


def lines_of(folder, name):
    path = folder.path / name
    return path.read_text(encoding="utf-8").split() if path.exists() else []


def damaged_record_is_told_with_a_remedy(folder):
    folder.run("sweep -p a=1,2 -- echo {a}")
    whole = (folder.path / ".raddle" / "runs.db").read_bytes()
    for damaged in (whole[:100] + bytes(4000) + whole[4100:], whole[:4096] + b"x" * (len(whole) - 4096), b"no database" * 100):
        replace_record(folder, damaged)
        for line in ("runs list", "sweep -p a=1,2 -- echo {a}", "sweep --resume"):
            folder.run(line, code=1, err="= help: move it away, with all that is called so, and it is begun anew: "
                                         "mkdir damaged && mv .raddle/runs.db* damaged/")
    subprocess.run("mkdir damaged && mv .raddle/runs.db* damaged/", shell=True, cwd=folder.path, check=True)
    expect(folder.column("sweep -p a=1,2 -o - -- echo {a}", "a", "stdout"), ["1 1", "2 2"])


def damaged_index_hides_no_row(folder):
    """What an index does not lead to is found without it, and the damage is told; a later row goes before an earlier one."""
    line = "sweep -p a=1:9 -o - -- sh -c 'cat value; echo {a}'"
    for value in ("old ", "new "):
        folder.write("value", value)
        right = folder.run(line.replace("sweep", "sweep --no-cache", 1)).stdout
    key = recorded(folder, "SELECT key FROM point WHERE number = 5")
    page_bytes = 4096
    with contextlib.closing(sqlite3.connect(folder.path / ".raddle" / "runs.db")) as record:
        record.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = (folder.path / ".raddle" / "runs.db").read_bytes()
    damaged = bytearray(whole)
    index_pages = (2, 10)
    in_index = [found.start() for found in re.finditer(re.escape(key), whole)
                if whole[found.start() // page_bytes * page_bytes] in index_pages]
    expect(len(in_index), 2)
    for at in in_index[:1], in_index[1:], in_index:
        damaged = bytearray(whole)
        for each in at:
            damaged[each] ^= 1
        replace_record(folder, damaged)
        expect(folder.run("runs table", err="warning: an index of the record `.raddle/runs.db` is damaged").stdout, right)
    folder.run("report -o x.html", err="an index of the record")
    expect("not run" in folder.read("x.html"), False)


def programs_of_scripts_are_no_damage(folder):
    """They have no key, by which a point would be looked for."""
    folder.write("app.df", 'app (file o) f(int i) { "echo" i @stdout=o }\nfile r[];\nforeach i in [1:2] { r[i] = f(i); }\n')
    folder.run("run app.df")
    folder.run("sweep -p a=1:5 -- sh -c 'test {a} != 3 || test -e ok'", code=4)
    folder.write("ok", "")
    for line in ("rerun last --failed", "runs table"):
        expect("damaged" in folder.run(line).stderr, False)


def damaged_names_are_told_with_a_remedy(folder):
    folder.run("sweep -p a=1,2 -- echo {a}")
    damaged = bytearray((folder.path / ".raddle" / "runs.db").read_bytes())
    damaged[damaged.find(b"duration_s", damaged.find(b"CREATE TABLE point"))] ^= 1
    replace_record(folder, damaged)
    folder.run("runs table", code=1, err="is damaged: no such column: duration_s\n  = help: move it away")


def locked_record_loses_nothing(folder):
    """However long somebody else holds it locked: what has ended is kept beside it, also of a run that is killed meanwhile."""
    line = "sweep -j2 -p a=1:500 -o x.csv --progress=none -- sh -c 'sleep 0.02; echo {a} >> done; echo {a}'"
    for is_killed in (True, False):
        before = len(lines_of(folder, "done"))
        process = folder.start(line)
        wait_for(lambda before=before: len(lines_of(folder, "done")) > before, "the first point")
        with contextlib.closing(sqlite3.connect(folder.path / ".raddle" / "runs.db", isolation_level=None, timeout=20)) as other:
            other.execute("BEGIN EXCLUSIVE")
            told_by(process, "another process holds the record `.raddle/runs.db` locked: nothing is lost")
            done = len(lines_of(folder, "done"))
            wait_for(lambda: len(lines_of(folder, "done")) >= min(500, done + 20), "points that end meanwhile")
            if is_killed:
                process.kill()
                process.communicate()
            other.execute("COMMIT")
        if is_killed:
            expect(len(list((folder.path / ".raddle").glob("spilled-*.db"))), 1)
            done = len(lines_of(folder, "done"))
            folder.run("runs list")
            if recorded(folder) < done - 25:  # those that had just ended
                raise Fault(f"{recorded(folder)} of {done} points are recorded")
        else:
            process.communicate(timeout=60)
            expect(process.returncode, 0)
    expect(list((folder.path / ".raddle").glob("spilled-*.db")), [])
    expect(recorded(folder), 500)
    expect(recorded(folder, "SELECT count(DISTINCT key) FROM point"), 500)
    expect([row.split(",")[:3] for row in folder.read("x.csv").splitlines()[1:]], [[str(a), str(a), "ok"] for a in range(1, 501)])


def what_is_spoilt_beside_the_record_is_put_away(folder):
    """Rows that a killed run could not move: the record is used without them, and they are kept."""
    folder.run("sweep -p a=1:20 -- echo {a}")
    with contextlib.closing(sqlite3.connect(folder.path / ".raddle" / "runs.db")) as record:
        record.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        run = record.execute("SELECT id FROM run").fetchone()[0]
    whole = (folder.path / ".raddle" / "runs.db").read_bytes()
    spilled = folder.path / ".raddle" / f"spilled-{run}.db"
    other_format = whole[:60] + (999).to_bytes(4, "big") + whole[64:]
    for spoilt in (b"no database" * 1000, whole[:100] + bytes(4000) + whole[4100:], whole[:4096] + b"x" * (len(whole) - 4096), whole[:6000], other_format):
        spilled.write_bytes(spoilt)
        folder.run("runs list", err=f"raddle: what a run could not write into the record can not be read: it is kept in `.raddle/spilled-{run}.db.damaged`\n")
        expect((spilled.exists(), spilled.with_name(spilled.name + ".damaged").read_bytes() == spoilt), (False, True))
        expect(folder.run("runs list").stderr, "")
    spilled.write_bytes(b"")  # killed before the first row: nothing to tell
    expect((folder.run("runs list").stderr, spilled.exists()), ("", False))
    folder.run("sweep -p a=1:20 -- echo {a}", err="20 from the record")


def points_of_a_locked_record_are_run_once(folder):
    """What has ended while somebody else holds the record is not there for others to read: nobody begins what they may have."""
    line = "sweep -j2 -p a=1:60 -o {0}.csv --progress=none -- sh -c 'sleep 0.02; echo {{a}} >> done; echo {{a}}'"
    first = folder.start(line.format("x"))
    wait_for(lambda: lines_of(folder, "done"), "the first point")
    second = folder.start(line.format("y"))
    wait_for(lambda: recorded(folder, "SELECT count(DISTINCT run) FROM point") == 2, "the second run's first point")
    with open(folder.path / ".raddle" / "runs.db-shm", "r+b") as shared:
        fcntl.lockf(shared, fcntl.LOCK_EX, 8, 120)  # all locks of the write-ahead log: nobody reads, either
        told_by(second, "another process holds the record `.raddle/runs.db` locked: ")
    for process, name in ((first, "x"), (second, "y")):
        process.communicate(timeout=60)
        expect(process.returncode, 0)
        expect([row.split(",")[:3] for row in folder.read(f"{name}.csv").splitlines()[1:]], [[str(a), str(a), "ok"] for a in range(1, 61)])
    expect(collections.Counter(lines_of(folder, "done")), collections.Counter({str(a): 1 for a in range(1, 61)}))


def a_signal_ends_the_wait_for_a_lock(folder):
    """Also at the end of a sweep, and what it has computed is kept."""
    for sent, code in ((signal.SIGTERM, 75), (signal.SIGINT, 130)):
        line = f"sweep -j2 -p a=1:20 -p s={code} -- sh -c 'sleep 0.02; echo {{a}} >> done; echo {{a}} {{s}}'"
        process = folder.start(line.replace("sweep", "sweep --progress=none -o x.csv", 1))
        wait_for(lambda code=code: len(lines_of(folder, "done")) > (code == 130) * 20, "the first point")
        with contextlib.closing(sqlite3.connect(folder.path / ".raddle" / "runs.db", isolation_level=None, timeout=20)) as other:
            other.execute("BEGIN EXCLUSIVE")
            told_by(process, "another process holds the record `.raddle/runs.db` locked: nothing is lost")  # after all points
            process.send_signal(sent)
            error = process.communicate(timeout=30)[1]
            other.execute("COMMIT")
        expect(process.returncode, code)
        expect_in("another process holds the record `.raddle/runs.db` locked: it was not waited for; what has ended is kept\n"
                  "  = help: it goes on with: raddle sweep --resume=", error)
        expect("can not be recorded" in error, False)
        folder.run("sweep --resume", err="20 points, 20 from the record")
        expect(len(folder.read("x.csv").splitlines()), 21)
        os.remove(folder.path / "x.csv")


def full_disk_is_told_as_it_is(folder):
    """A limit on the size of files stands for it. What is counted is what is recorded."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    command = [folder.raddle, "sweep", "-p", "a=1:3000", "-o", "x.csv", "--progress=none", "--", "printf", "%0200d", "{a}"]
    done = subprocess.run(command, cwd=folder.path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
                          preexec_fn=limit)
    expect(done.returncode, 1)
    ended = int(re.search(r"run \S+: ([\d,]+) of 3,000 points", done.stderr)[1].replace(",", ""))
    expect(ended, recorded(folder))
    expect_in("= help: it goes on with: raddle sweep --resume=", done.stderr)
    if ended == 0 or ended == 3000:
        raise Fault(f"{ended} points: it shows nothing")
    folder.run("sweep --resume", err=f"3,000 points, {ended:,} from the record")


def points_that_a_sweep_counts_on_stay(folder):
    """A run is not removed while another one goes on that has taken points from it."""
    slow = "sh -c 'sleep 0.05; echo {a}'"
    folder.run(f"sweep -p a=1:9 -- {slow}")
    first = run_id(folder, 0)
    process = folder.start(f"sweep -j2 -p a=1:40 --progress=none -o x.csv -- {slow}")
    wait_for(lambda: recorded(folder) > 10, "the first of the other points")
    told = folder.run(f"runs rm {first}", code=1).stderr
    expect(told, f"raddle: run {run_id(folder, 1)} is running, and may count on the points of {first}\n")
    process.communicate(timeout=60)
    expect(process.returncode, 0)
    expect("not run" in folder.read("x.csv"), False)
    folder.run(f"runs rm --force {first}")


def points_that_are_gone_are_told(folder):
    """However they went: what ends well has no row that is `not run`."""
    slow = "sh -c 'sleep 0.05; echo {a}'"
    folder.run(f"sweep -p a=1:9 -- {slow}")
    process = folder.start(f"sweep -j2 -p a=1:40 --progress=none -o x.csv -- {slow}")
    wait_for(lambda: recorded(folder) > 10, "the first of the other points")
    with contextlib.closing(sqlite3.connect(folder.path / ".raddle" / "runs.db", timeout=20)) as record:
        record.execute("DELETE FROM point WHERE run = 1 AND number < 5")
        record.commit()
    error = process.communicate(timeout=60)[1]
    expect(process.returncode, 1)
    expect_in("point 4 is `not run` in the table, and perhaps others are", error)
    folder.run(f"sweep -p a=1:40 -o x.csv -- {slow}", err="40 points, 36 from the record")


SCRIPT = """import sys;
app (void v) note(int n) { "sh" "-c" (strcat("sleep 0.03; echo ", fromint(n), " >> begun")) }
import string;
@param int a = 1;
@result int y;
note(a) => y = 2 * a;
"""


def what_another_run_runs_is_not_run_here(folder):
    """Of programs, of a script with programs, with retries, with points that fail; of a script that only computes numbers."""
    folder.write("act.df", SCRIPT)
    for line, code in (("sweep -j3 -p a=1:60 -- sh -c 'echo {a} >> begun; sleep 0.03; echo {a}'", 0),
                       ("sweep -j2 act.df -p a=1:30", 0),
                       ("sweep -j3 -p a=1:30 --retries 1 -- sh -c 'echo {a} >> begun; sleep 0.02; test -e again_{a} || {{ touch again_{a}; exit 1; }}'", 0)):
        (folder.path / "begun").unlink(missing_ok=True)
        words = line.replace("sweep", "sweep --progress=none -o {}.csv", 1)
        processes = [folder.start(words.replace("{}", name, 1)) for name in "xyz"]
        for process in processes:
            error = process.communicate(timeout=60)[1]
            expect((process.returncode, error), (code, error))
        times = collections.Counter(lines_of(folder, "begun"))
        expect(set(times.values()), {2 if "retries" in line else 1})
        tables = [without_times(folder.read(f"{name}.csv")) for name in "xyz"]
        expect(tables[0] == tables[1] == tables[2] and all(row[-2] == "ok" for row in tables[0][1:]), True)
    folder.write("model.df", SUM)
    for process in [folder.start(f"sweep model.df -j2 -p n=1:40000 --progress=none -o {name}.csv") for name in "xyz"]:
        error = process.communicate(timeout=60)[1]
        expect((process.returncode, error), (0, error))
    expect(recorded(folder, "SELECT sum(count) FROM block"), 40000)
    expect(without_times(folder.read("x.csv")) == without_times(folder.read("z.csv")), True)


SUM = """@param int n = 1;
(float s) work(int n) { for (s = 0.0, int i = 1; i <= n; i = i + 1, s = s + 1.0 / itof(i)) {} }
@result float sum = work(2000 + n %% 7);
"""


def points_of_a_killed_run_are_taken_over(folder):
    line = "sweep --progress=none -p a=1:40 -j2 -o {}.csv -- sh -c 'echo {a} >> begun; sleep 0.05; echo {a} >> ended; echo {a}'"
    first, second = (folder.start(line.replace("{}", name, 1)) for name in "xy")
    wait_for(lambda: len(lines_of(folder, "ended")) > 8, "some points")
    first.kill()
    first.communicate()
    error = second.communicate(timeout=60)[1]
    expect((second.returncode, error), (0, error))
    expect([row[:3] for row in without_times(folder.read("y.csv"))[1:]], [[str(a), str(a), "ok"] for a in range(1, 41)])
    again = sum(collections.Counter(lines_of(folder, "begun")).values()) - 40
    if again > 6:  # of two that ran, and of some that had just ended
        raise Fault(f"{again} points were begun twice")


def all_anew_waits_for_nobody(folder):
    line = "sweep --progress=none --no-cache -p a=1:10 -j2 -- sh -c 'echo {a} >> begun; sleep 0.05'"
    for process in [folder.start(line), folder.start(line)]:
        process.communicate(timeout=60)
        expect(process.returncode, 0)
    expect(collections.Counter(lines_of(folder, "begun")), collections.Counter({str(a): 2 for a in range(1, 11)}))


def what_killed_runs_leave_is_removed(folder):
    folder.write("files.df", 'import files;\nimport sys;\nfile a = write("text");\ntrace(filename(a)) => sleep(string2float(argv("s"))) => trace(read(a));\n')
    kept = {"raddle_notes.txt", "x.csv.old.tmp", "x.csv"}
    for name in kept:
        folder.write(name, "of the user")
    env = {"TMPDIR": str(folder.path), "TMP": "", "SWIFT_TMP": ""}
    process = folder.start("run files.df --s=60", env=env)
    wait_for(lambda: list(folder.path.glob("raddle_*_1")), "a temporary file")
    process.kill()
    process.communicate()
    left = "x.csv.999999-00000000000000ff.tmp"
    folder.write(left, "")
    names = lambda: {path.name for path in folder.path.iterdir()} - {"files.df", ".raddle"}
    expect(len(names()), len(kept) + 3)
    folder.run("run files.df --s=0", env=env)
    expect(names(), kept | {left})
    folder.run("sweep -p a=1,2 -o x.csv -- echo {a}", env=env)
    expect(names(), kept)


def files_that_killed_runs_write_are_removed(folder):
    """A copy that was not finished, an app's outputs, also of before the machine was started anew: a lock tells, no number."""
    folder.write("copy.df", 'import files;\nfile a = input("in.dat");\nfile b<"out/b.dat"> = a;\n')
    folder.write("in.dat", "")
    os.truncate(folder.path / "in.dat", 1 << 38)
    process = folder.start("run copy.df")
    wait_for(lambda: list(folder.path.glob("out/b.dat.*.tmp")), "the copy's beginning")
    process.kill()
    process.communicate()
    expect(len(list((folder.path / "out").iterdir())), 1)
    os.truncate(folder.path / "in.dat", 3)
    folder.run("run copy.df")
    expect([path.name for path in (folder.path / "out").iterdir()], ["b.dat"])
    folder.write("app.df", 'app (file o) slow(int s) { "sh" "-c" "echo x; touch begun; sleep $0" s @stdout=o }\n@param int s = 0;\n'
                           'file r <"out/r.txt"> = slow(s);\n')
    process = folder.start("run app.df --s=60")
    wait_for((folder.path / "begun").exists, "the program's start")
    process.kill()
    process.communicate()
    left = [path for path in (folder.path / "out").iterdir() if path.name.startswith(".raddle-")]
    expect(len(left), 1)
    living = folder.start("run app.df --s=60")
    wait_for(lambda: not left[0].exists(), "the removal of what is left")
    wait_for(lambda: list((folder.path / "out").glob(".raddle-*/*")), "the folder of who lives")
    left[0].with_name(".raddle-1-1").mkdir()  # of process 1, which lives, and had that id before, too
    folder.run("run app.df")
    expect(len(list((folder.path / "out").glob(".raddle-*"))), 1)  # of who lives
    living.send_signal(signal.SIGTERM)
    living.communicate(timeout=60)
    expect(sorted(path.name for path in (folder.path / "out").iterdir()), ["b.dat", "r.txt"])


TESTS = [flipped_bits_give_no_wrong_table, damaged_record_is_told_with_a_remedy, damaged_index_hides_no_row, programs_of_scripts_are_no_damage,
         damaged_names_are_told_with_a_remedy, locked_record_loses_nothing, what_is_spoilt_beside_the_record_is_put_away, points_of_a_locked_record_are_run_once, a_signal_ends_the_wait_for_a_lock, full_disk_is_told_as_it_is,
         points_that_a_sweep_counts_on_stay, points_that_are_gone_are_told, what_another_run_runs_is_not_run_here,
         points_of_a_killed_run_are_taken_over, all_anew_waits_for_nobody, what_killed_runs_leave_is_removed,
         files_that_killed_runs_write_are_removed]


if __name__ == "__main__":
    main("record", "Tests the record of runs when something goes wrong with it.", TESTS, SweepFolder)
