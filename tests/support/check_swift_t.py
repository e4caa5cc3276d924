#!/usr/bin/env python3
"""`raddle swift-t`, also by its own name: run scripts as published workflows have them, each option, hooks and variables of Turbine."""

import os
import re
import subprocess

from folder_tests import expect, main

def run_shell(folder, command, env=None):
    """Where `swift-t` is in PATH. @return exit code, lines of both outputs"""
    (folder.path / "bin").mkdir(exist_ok=True)
    if not (folder.path / "bin" / "swift-t").exists():
        (folder.path / "bin" / "swift-t").symlink_to(folder.raddle)
    environment = {**os.environ, "PATH": f"{folder.path / 'bin'}:{os.environ['PATH']}", **(env or {})}
    done = subprocess.run(["bash", "-c", command], cwd=folder.path, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False, text=True)
    return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()


RUN_SCRIPT = """#!/bin/bash
set -eu
export EMEWS_PROJECT_ROOT=$( cd $( dirname $0 )/.. ; /bin/pwd )
export TURBINE_OUTPUT=$EMEWS_PROJECT_ROOT/experiments/$1
mkdir -p $TURBINE_OUTPUT
export PROCS=4 QUEUE=short WALLTIME=00:10:00 TURBINE_JOBNAME="$1_job"
export TURBINE_RESIDENT_WORK_WORKERS=1
export RESIDENT_WORK_RANKS=$(( PROCS - 2 ))
MACHINE=""
set -x
swift-t -n $PROCS $MACHINE -p -I $EMEWS_PROJECT_ROOT/lib -r $EMEWS_PROJECT_ROOT/lib -e X=1 -e TURBINE_OUTPUT \\
    -i extra -t i:./init.sh -m slurm -l -O3 $EMEWS_PROJECT_ROOT/swift/main.swift --a=b --points=3 "${@:2}"
"""
MAIN_SWIFT = """# a comment, as there is no preprocessor
import io;
import string;
import sys;
(int o) doubled(int i) "project" "1.0" [ "set <<o>> [ project::doubled <<i>> ]" ];
string ranks[] = split(getenv("RESIDENT_WORK_RANKS"), ",");
printf("%s %s %s %i %s", argv("a"), argv("points"), getenv("X"), turbine_workers(), ranks[0]);
printf("%s %i %s", greeting(), doubled(21), argp(1));
"""


def swift_t_runs_scripts_of_projects(folder):
    """A run script as projects have it, by the name under which the tool is installed."""
    folder.write("swift/run.sh", RUN_SCRIPT)
    folder.write("swift/main.swift", MAIN_SWIFT)
    folder.write("lib/extra.swift", '(string o) greeting() { o = "hello"; }\n')
    folder.write("lib/pkgIndex.tcl", 'package ifneeded project 1.0 [list source [file join $dir project.tcl]]\n')
    folder.write("lib/project.tcl", "package provide project 1.0\nnamespace eval project { proc doubled {i} { expr {2 * $i} } }\n")
    (folder.path / "bin").mkdir()
    (folder.path / "bin" / "swift-t").symlink_to(folder.raddle)
    environment = {**os.environ, "PATH": f"{folder.path / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "swift/run.sh", "one", "word"], cwd=folder.path, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False, text=True)
    expect((done.returncode, sorted(done.stdout.splitlines())), (0, ["b 3 1 3 2", "hello 42 word"]))
    line = "swift-t -n 4 -p -I lib -r lib -e X=1 -i extra swift/main.swift --a=b --points=3 word"
    expect(sorted(folder.run(line, env={"RESIDENT_WORK_RANKS": "2"}).stdout.splitlines()), ["b 3 1 3 2", "hello 42 word"])


def swift_t_has_its_own_words(folder):
    folder.run("swift-t -E 'import sys; trace(turbine_workers());'", out="trace: 1\n", env={"PROCS": ""})
    folder.run("swift-t -A k=v -E 'import sys; trace(turbine_workers(), argv(\"k\"));'", out="trace: 5,v\n", env={"PROCS": "6"})
    folder.run("swift-t -n 1 -E 'trace(1);'", code=2, err="-n 2 has one worker")
    folder.run("swift-t", code=2, err="no script given")
    folder.run("swift-t -v", out=folder.run("version").stdout)
    told = folder.run("swift-t -i nosuch -E 'import io; trace(1);'", code=3).stderr
    expect(told.splitlines()[:2], ["(command line):1:4: error: unknown module `nosuch` [unknown_module]", "  1 | -i nosuch"])
    folder.run("swift-t -A zz -E 'trace(1);'", code=2, err="-A zz: it is to be KEY=VALUE")
    folder.run("swift-t -e =1 -E 'trace(1);'", code=2, err="-e =1: it is to be NAME=VALUE, or the name of a variable")
    folder.run("swift-t -e RADDLE_NOT_SET -E 'trace(1);'", out="trace: 1\n", err="raddle: warning: -e RADDLE_NOT_SET: there is no such variable")
    for name, value in (("PROCS", "x"), ("PROCS", "0"), ("ADLB_SERVERS", "x"), ("ADLB_SERVERS", "0"), ("ADLB_SERVERS", "-1")):
        folder.run("swift-t -E 'trace(1);'", code=2, err=f"{name} is `{value}`: no number of", env={name: value})
    folder.run("swift-t -n 4 -E 'import sys; trace(turbine_workers());'", out="trace: 2\n", env={"ADLB_SERVERS": "2"})
    folder.run("swift-t --nowhere x.swift", code=2, err="--nowhere")
    told = folder.run("swift-t -v -m pbs -o x.tic -u -n 2 -E 'trace(1);'", out="trace: 1\n").stderr
    expect(told.splitlines()[0], folder.run("version").stdout.strip())
    expect([line for line in told.splitlines() if "tic" in line or "pbs" in line or "-u" in line],
           ["raddle: -m pbs: there is no other scheduler than raddle's own", "raddle: -o x.tic: nothing is kept of a compilation",
            "raddle: -u: a script is compiled in each run"])


def turbine_environment(folder):
    """Hooks, each rank's own variables, and where output goes."""
    folder.write("env.df", """import files;
import location;
import python;
import string;
app (file o) told() { "sh" "-c" "echo $ADLB_RANK_LEADER $DEVICE ${TURBINE_HOME:+home}" @stdout=o }
string code = "import os";
string names = "' '.join(os.environ[n] for n in ['ADLB_RANK_SELF', 'ADLB_RANK_OFFSET', 'DEVICE'])";
location last = locationFromRank(1);
string a = @location=last python(code, names);
wait (a) { trace(a, trim(read(told()))); }
""")
    hooks = {"TURBINE_WORKER_HOOK_STARTUP": "puts start$env(ADLB_RANK_OFFSET); set env(DEVICE) [expr {$env(ADLB_RANK_OFFSET) + 7}]",
             "TURBINE_LEADER_HOOK_STARTUP": "puts leader; exec touch staged",
             "TURBINE_LEADER_HOOK_SHUTDOWN": "c::sync_exec {} {} {} echo over"}
    told = folder.run("run -j 2 env.df", env=hooks).stdout.splitlines()
    expect(told[:3] + told[-1:], ["leader", "start0", "start1", "over"])
    expect(told[3] in ("trace: 1 1 8,0 7 home", "trace: 1 1 8,0 8 home"), True)
    expect((folder.path / "staged").exists(), True)
    folder.write("ranks.df", """import io;
import launch;
import location;
import string;
import sys;
(string o) by_tcl(int i) "turbine" "0.1" [ "set <<o>> [exec sh -c {echo $ADLB_RANK_SELF$ADLB_RANK_LEADER} | cat]" ];
(string o) by_pipe(int i) "turbine" "0.1" [ "set p [open {|sh -c {echo $ADLB_RANK_SELF}}]; set <<o>> [read -nonewline $p]; close $p" ];
(string o) none(int i) "turbine" "0.1" [ "catch {exec no_such_program 1} <<o>>" ];
location last = locationFromRank(1);
string out; int code;
(out, code) = system(["sh", "-c", "echo $ADLB_RANK_OFFSET$DEVICE"]);
printf("%s %s %s|%s|%s", @location=last by_tcl(1), @location=last by_pipe(1), trim(out), none(1), launch("sh", ["-c", "exit 3$ADLB_RANK_SELF"], 1));
""")
    told = folder.run("run -j 2 ranks.df", env={"TURBINE_WORKER_HOOK_STARTUP": "set env(DEVICE) d$env(ADLB_RANK_SELF)"}).stdout
    expect(bool(re.fullmatch(r'10 1 (0d0|1d1)\|couldn.t execute "no_such_program": no such file or directory\|3[01]\n', told)), True)
    folder.write("swept.df", "@param int n = 1;\n@result int r = n;\n")
    hook = {"TURBINE_LEADER_HOOK_STARTUP": "puts leader"}
    folder.run("sweep -p n=1,2 swept.df", env=hook, err="raddle: warning: TURBINE_LEADER_HOOK_STARTUP: a sweep does not run it")
    folder.run("run env.df", code=1, err="TURBINE_LEADER_HOOK_STARTUP: no", env={"TURBINE_LEADER_HOOK_STARTUP": "error no"})
    folder.write("one.df", "trace(1);\n")
    folder.run("run one.df", out="", env={"TURBINE_STDOUT": "out/out-%%%.txt"})
    expect(folder.read("out/out-000.txt"), "trace: 1\n")


EMEWS_UTILITIES = """
check_project() { [ -d "$EMEWS_PROJECT_ROOT/swift" ] || { echo "no project: $EMEWS_PROJECT_ROOT"; exit 1; }; }
log_script() { mkdir -p $TURBINE_OUTPUT; env | grep -c PROCS > $TURBINE_OUTPUT/cfg.log; cp $0 $TURBINE_OUTPUT; }
"""
EMEWS_RUN = """#!/usr/bin/env bash
set -eu
if [ "$#" -lt 1 ]; then echo "usage: $0 EXPERIMENT"; exit 1; fi
export EMEWS_PROJECT_ROOT=$( cd $( dirname $0 )/.. ; /bin/pwd )
source "${EMEWS_PROJECT_ROOT}/etc/utilities.sh"
check_project
export EXPID=$1
export TURBINE_OUTPUT=$EMEWS_PROJECT_ROOT/experiments/$EXPID
export PROCS=4 QUEUE=batch WALLTIME=00:10:00 PPN=16 TURBINE_JOBNAME="${EXPID}_job"
export RESIDENT_WORK_RANKS=$(( PROCS - 2 ))
export TURBINE_RESIDENT_WORK_WORKERS=1
EQPY=$EMEWS_PROJECT_ROOT/ext/EQ-Py
export PYTHONPATH=$EMEWS_PROJECT_ROOT/python:$EQPY
CMD_LINE_ARGS="--rounds=3 --param_file=data/none.txt"
MACHINE=""
if [ -n "$MACHINE" ]; then
  MACHINE="-m $MACHINE"
fi
USER_VARS=($CMD_LINE_ARGS)
log_script
set -x
swift-t -n $PROCS $MACHINE -p -I $EQPY -r $EQPY \\
    -e EMEWS_PROJECT_ROOT -e TURBINE_OUTPUT -e TURBINE_LOG=0 -e PYTHONPATH=$PYTHONPATH -e LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-} \\
    $EMEWS_PROJECT_ROOT/swift/workflow.swift $CMD_LINE_ARGS
"""
EQPY_SWIFT = """import location;
pragma worktypedef resident_work;

@dispatch=resident_work
(void v) run_code(string code, string expr="\\"\\"") "turbine" "0.1.0"
    [ "turbine::python 1 1 <<code>> <<expr>> "];
@dispatch=resident_work
(string output) value_of(string code, string expr) "turbine" "0.1.0"
    [ "set <<output>> [ turbine::python 1 1 <<code>> <<expr>> ]" ];

string start_code = "import exchange\\nexchange.start('%s')";
(void v) EQ_init(location loc, string name) { v = @location=loc run_code(start_code % name); }
(void v) EQ_stop(location loc) { v = @location=loc run_code("exchange.stop()"); }
(string result) EQ_get(location loc) { result = @location=loc value_of("", "exchange.to_workflow.get()"); }
(void v) EQ_put(location loc, string data) {
    string code = ----
exchange.to_python.put("%s")
----  % data;
    v = @location=loc run_code(code);
}
"""
EXCHANGE_PY = """import importlib, queue, threading, traceback
to_workflow, to_python = queue.Queue(), queue.Queue()
def start(name):
    global thread
    model = importlib.import_module(name)
    def work():
        try:
            model.run(to_workflow, to_python)
        except Exception:
            to_workflow.put('ABORT')
            to_workflow.put(traceback.format_exc().splitlines()[-1])
    thread = threading.Thread(target=work)
    thread.start()
def stop():
    thread.join()
"""
SEARCH_PY = """import json
def run(to_workflow, to_python):
    to_workflow.put('Settings')
    rounds = json.loads(to_python.get())['rounds']
    best, step = (0.0, 0.0), 4.0
    for i in range(rounds):
        points = [(best[0] + a * step, best[1] + b * step) for a in (-1, 0, 1) for b in (-1, 0, 1)]
        to_workflow.put(';'.join(json.dumps({'x': x, 'y': y}) for x, y in points).replace('"', "'"))
        results = [float(r) for r in to_python.get().split(';')]
        best, step = points[results.index(min(results))], step / 2
    if rounds == 0:
        raise ValueError('no rounds')
    to_workflow.put('DONE')
    to_workflow.put(f'best {best}')
"""
WORKFLOW_SWIFT = """import assert;
import files;
import io;
import location;
import string;
import sys;
import unix;
import EQPy;

string emews_root = getenv("EMEWS_PROJECT_ROOT");
string turbine_output = getenv("TURBINE_OUTPUT");
string resident_work_ranks = getenv("RESIDENT_WORK_RANKS");
string r_ranks[] = split(resident_work_ranks, ",");

app (file out, file err) run_model(file shfile, string param_line, string instance) {
    "bash" shfile param_line emews_root instance @stdout=out @stderr=err;
}
app (void o) make_dir(string dirname) { "mkdir" "-p" dirname; }

(string result) obj(string params, int round, int trial) {
    string instance = "%s/instance_%i_%i/" % (turbine_output, round, trial);
    make_dir(instance) => {
        file out <instance + "out.txt">;
        file err <instance + "err.txt">;
        (out, err) = run_model(input_file(emews_root + "/scripts/model.sh"), params, instance) =>
        string line = trim(read(input_file(instance + "result.txt"))) =>
        result = line;
    }
}

(void v) loop(location ME, int ME_rank) {
    for (boolean b = true, int i = 1; b; b = c, i = i + 1) {
        string params = EQ_get(ME);
        boolean c;
        if (params == "Settings") {
            EQ_put(ME, "{\\\\\\"rounds\\\\\\": %s}" % argv("rounds")) => c = true;
        } else if (params == "DONE") {
            string finals = EQ_get(ME);
            string fname = "%s/final_result_%i" % (turbine_output, ME_rank);
            file results_file <fname> = write(finals) =>
            printf("final result in final_result_%i", ME_rank) =>
            v = EQ_stop(ME) => c = false;
        } else if (params == "ABORT") {
            printf("the search stopped: %s", EQ_get(ME)) => v = make_void() => c = false;
        } else {
            string pop[] = split(params, ";");
            string fitnesses[];
            foreach s, k in pop { fitnesses[k] = obj(s, i, k); }
            string res = join(fitnesses, ";");
            EQ_put(ME, res) => c = true;
        }
    }
}

(void o) start(int ME_rank) {
    location ME = locationFromRank(ME_rank);
    EQ_init(ME, "search") => loop(ME, ME_rank) => o = propagate();
}

main() {
    assert(strlen(emews_root) > 0, "Set EMEWS_PROJECT_ROOT!");
    int ME_ranks[];
    foreach r_rank, i in r_ranks { ME_ranks[i] = toint(r_rank); }
    foreach ME_rank, i in ME_ranks { start(ME_rank) => printf("End rank: %d", ME_rank); }
}
"""
MODEL_SH = """#!/bin/bash
set -eu
cd $3
echo "$1" | tr -d "{}',:" | awk '{ print ($2 - 3) ^ 2 + ($4 + 1.5) ^ 2 }' > result.txt
"""


def model_exploration_of_a_project(folder):
    """Python hands out points, programs compute them: folders, a run script and its utilities as EMEWS projects have them."""
    for name, text in (("etc/utilities.sh", EMEWS_UTILITIES), ("swift/run.sh", EMEWS_RUN), ("swift/workflow.swift", WORKFLOW_SWIFT),
                       ("ext/EQ-Py/EQPy.swift", EQPY_SWIFT), ("ext/EQ-Py/exchange.py", EXCHANGE_PY), ("python/search.py", SEARCH_PY),
                       ("scripts/model.sh", MODEL_SH)):
        folder.write(name, text)
    code, told, errors = run_shell(folder, "bash swift/run.sh one")
    expect((code, told), (0, ["final result in final_result_2", "End rank: 2"]))
    expect({line.split("[")[-1] for line in errors if "warning:" in line or "error:" in line}, {"may_be_assigned_twice]"})
    expect(folder.read("experiments/one/final_result_2"), "best (3.0, -2.0)")
    expect(len(list((folder.path / "experiments" / "one").glob("instance_*_*/result.txt"))), 27)
    folder.write("swift/run.sh", EMEWS_RUN.replace("--rounds=3", "--rounds=0"))
    expect(run_shell(folder, "bash swift/run.sh two")[:2], (0, ["the search stopped: ValueError: no rounds", "End rank: 2"]))


CANDLE_RUN = """#!/bin/bash
set -eu
export THIS=$( cd $( dirname $0 ) ; /bin/pwd )
export PROCS=3 PPN=1 MODEL_NAME=stub OBJ_RETURN=loss
export TURBINE_OUTPUT=$THIS/out STAGED=$THIS/local
mkdir -p $TURBINE_OUTPUT
export TURBINE_LEADER_HOOK_STARTUP="$( sed 's/#.*//;s/$/;/' $THIS/hook.tcl )"
TURBINE_STDOUT="$TURBINE_OUTPUT/out-%%r.txt"
OBJ_DIR=${OBJ_DIR:-$THIS/obj}
WAIT_ARG="-t w"
swift-t -n $PROCS -o $TURBINE_OUTPUT/workflow.tic ${MACHINE:-} -p -I $OBJ_DIR -i obj_$1 \\
        -e LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-} -e MODEL_NAME -e OBJ_RETURN -e STAGED \\
        -e TURBINE_OUTPUT=$TURBINE_OUTPUT -e TURBINE_STDOUT=$TURBINE_STDOUT \\
        $WAIT_ARG $THIS/workflow.swift --params=$THIS/params.txt
"""
CANDLE_HOOK = """# Once per node.
set root $env(THIS)/data
set comm [ adlb::comm_get leaders ]
set rank [ adlb::comm_rank $comm ]

# The first of them looks for the files.
if { $rank == 0 } {
  set files [ lsort [ ::glob -type f $root/* ] ]
  puts "files: [ llength $files ]"
}
turbine::c::bcast $comm 0 files
file mkdir $env(STAGED)
foreach f $files {
  turbine::c::copy_to $comm $f $env(STAGED)
}
"""
CANDLE_OBJ_PY = """import python;
(string r) obj(string params, string id) {
  string code = ----
import json, os
p = json.loads('%s')
scale = float(open(os.environ['STAGED'] + '/scale.txt').read())
loss = scale * (p['batch'] - 32) ** 2 / 1024 + p['rate']
----  % params;
  r = python_persist(code, "str(loss)");
}
"""
CANDLE_OBJ_APP = """import files; import string; import sys;
app (file o) train(string params, string id) { "sh" "-c" "echo $0 $1 $MODEL_NAME $OBJ_RETURN > /dev/null; echo 0.5" params id @stdout=o }
(string r) obj(string params, string id) {
  string turbine_output = getenv("TURBINE_OUTPUT");
  file result <"%s/run/%s/result.txt" % (turbine_output, id)> = train(params, id);
  r = trim(read(result));
}
"""
CANDLE_WORKFLOW = """import files;
import io;
import stats;
import string;
import sys;
string lines[] = file_lines(input(argv("params")));
float losses[];
foreach line, i in lines { losses[i] = tofloat(obj(line, "%02i" % i)); }
printf("%i trainings, the least loss is %0.3f", size(losses), min(losses));
"""


def hyperparameters_of_a_project(folder):
    """The function that trains is chosen by -i; files are staged by a hook; output goes to a file, as a CANDLE run script has it."""
    for name, text in (("run.sh", CANDLE_RUN), ("hook.tcl", CANDLE_HOOK), ("workflow.swift", CANDLE_WORKFLOW), ("obj/obj_py.swift", CANDLE_OBJ_PY),
                       ("obj/obj_app.swift", CANDLE_OBJ_APP), ("data/scale.txt", "2"),
                       ("params.txt", "".join(f'{{"batch": {b}, "rate": {r}}}\n' for b in (16, 32, 64) for r in (0.1, 0.01)))):
        folder.write(name, text)
    expect(run_shell(folder, "bash run.sh py")[:2], (0, []))
    expect(sorted(folder.read("out/out-00r.txt").splitlines()), ["6 trainings, the least loss is 0.010", "files: 1"])
    expect(folder.read("local/scale.txt"), "2")
    expect(run_shell(folder, "bash run.sh app")[0], 0)
    expect("the least loss is 0.500" in folder.read("out/out-00r.txt"), True)
    expect(len(list((folder.path / "out" / "run").glob("*/result.txt"))), 6)
    folder.write("hook.tcl", "turbine::c::copy_to [ adlb::comm_get workers ] a b")
    code, _, errors = run_shell(folder, "bash run.sh py")
    expect((code, any("TURBINE_LEADER_HOOK_STARTUP: turbine::c::copy_to: only the leaders copy here" in line for line in errors)), (1, True))


HELLO = """#!/usr/bin/env -S swift-t -n 4
import io;
import sys;
printf("%i %s %s", turbine_workers(), argv("x", "none"), getenv("X"));
"""


def every_option_is_taken(folder):
    folder.write("hello.swift", HELLO)
    (folder.path / "hello.swift").chmod(0o755)
    folder.write("lib/extra.swift", '(int o) one() { o = 1; }\n')
    folder.write("settings.sh", "export PROCS=5\nX=set\necho told\n")
    for line, told in (("./hello.swift --x=5", "3 5 "), ("swift-t -n3 hello.swift -x=5", "2 5 "), ("swift-t -n 3 -e X=a=b hello.swift", "2 none a=b"),
                       ("X=y swift-t -e X hello.swift", "1 none y"), ("PROCS=4 swift-t hello.swift", "3 none "), ("swift-t -t n:4 hello.swift", "3 none "),
                       ("swift-t -t e:X=z hello.swift", "1 none z"), ("swift-t -m pbs -s settings.sh hello.swift", "4 none set"),
                       ("swift-t -s settings.sh -n 2 -e X=e hello.swift", "1 none e"), ("swift-t -A x=7 hello.swift", "1 7 "),
                       *((f"swift-t {option} hello.swift", "1 none ") for option in
                         ("-l", "-u", "-x", "-X", "-q", "-p", "-V", "-O0", "-O1", "-O2", "-O3", "-O 3", "-o w.tic", "-m slurm", "-t w", "-t f:hosts.txt", "-D A=1",
                          "-DB", "-I lib", "-r lib", "-I lib -i extra", "-i string", "-f hoist", "-F hoist", "-d dep", "-j java", "-C ic", "-L log", "-U dep"))):
        expect((line, *run_shell(folder, line, env={"PROCS": "", "X": ""} if "PROCS=" not in line else {"X": ""})[:2]), (line, 0, [told]))
    expect(run_shell(folder, "echo 'trace(1);' | swift-t -")[:2], (0, ["trace: 1"]))
    expect(run_shell(folder, "swift-t -i io -I lib -i extra -E 'printf(\"%i\", one());'")[:2], (0, ["1"]))
    code, _, errors = run_shell(folder, "swift-t -s nosuch.sh hello.swift")
    expect((code, "raddle: -s nosuch.sh: the shell could not read it, or it has failed" in errors), (2, True))


TESTS = [swift_t_runs_scripts_of_projects, model_exploration_of_a_project, hyperparameters_of_a_project, every_option_is_taken,
         swift_t_has_its_own_words, turbine_environment]


if __name__ == "__main__":
    main("swift-t", __doc__, TESTS)
