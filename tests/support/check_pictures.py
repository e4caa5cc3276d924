#!/usr/bin/env python3
"""What `raddle report`, `raddle plot`, `raddle trace`, `raddle run --trace` and `raddle graph` draw. Each test has a folder of its own.

    check_pictures.py [--raddle PATH] [FILTER]

Pages are read as HTML, and their data compared with the table; where Chromium is installed, it draws them, too.
"""

import csv
import gzip
import html.parser
import io
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree

from folder_tests import Fault, expect, expect_in, main

BROWSER = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
VOID = {"meta", "br", "hr", "input", "link", "img"}

MODEL = """
import math;
@param float a = 1.0;
@param int n = 2;
@param string how = "plain";
@result float root = sqrt(a) * itof(n);
@result int part = 12 %/ (n - 2);
"""


class Page(html.parser.HTMLParser):
    """A page whose elements are closed in order, that asks for nothing outside of itself."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.texts, self.ids, self.data = [], {}, set(), None
        self.feed(text)
        self.close()
        expect(self.open, [])

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("src", "href", "action", "data") or name.startswith("on"):
                raise Fault(f"<{tag} {name}={value}>")
            if name == "id":
                self.ids.add(value)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script" and dict(attrs).get("id") == "data":
            self.data = ""

    def handle_endtag(self, tag):
        expect(self.open.pop(), tag)

    def handle_data(self, data):
        if self.data == "":
            self.data = json.loads(data)
        elif self.open and self.open[-1] not in ("script", "style"):
            self.texts.setdefault(self.open[-1], []).append(data)


def cell_of(column, text):
    """What the page's data has for a cell of the table."""
    if text == "":
        return None
    if column["kind"] == "category":
        return column["names"].index(text)
    return text if column["kind"] == "text" else float(text)


def expect_same_table(page, table):
    rows = list(csv.reader(io.StringIO(table)))
    expect([column["name"] for column in page.data["columns"]], rows[0])
    expect((page.data["rows"], page.data["shown"]), (len(rows) - 1, len(rows) - 1))
    for i, column in enumerate(page.data["columns"]):
        if column["role"] != "duration":  # other digits
            expect(column["cells"], [cell_of(column, row[i]) for row in rows[1:]])


def expect_text(page, tag, part):
    expect_in(part, "\n".join(page.texts[tag]))


def report(folder, run=""):
    text = folder.run(f"report {run}").stdout
    expect(len(text) < 2_000_000, True)
    return text


def page_of(folder, run=""):
    return Page(report(folder, run))


def changed_table_is_said(folder):
    """The points of --from are others by now: what the run has done is shown all the same."""
    folder.write("model.df", "import assert;\n@param int n = 1;\nassert(n != 2, \"two\");\n@result int y = 2 * n;\n")
    folder.write("points.csv", "n\n1\n2\n3\n")
    folder.run("sweep model.df --from points.csv", code=4)
    folder.run("sweep --from points.csv -- echo {n}")
    for change in ("n\n5\n7\n8\n9\n", None):
        if change is None:
            (folder.path / "points.csv").unlink()
        else:
            folder.write("points.csv", change)
        runs = [run["id"] for run in json.loads(folder.run("runs list --json").stdout)["runs"]]
        page = page_of(folder, runs[0])  # two points were computed together, and have no parameters of their own
        expect([sorted(map(str, column["cells"])) for column in page.data["columns"] if column["name"] in ("y", "reason")],
               [["2", "6", "None"], ["0", "None", "None"]])
        expect_in("The points in `points.csv` are not those of the run any more: only what it has done is shown. The "
               "parameters of 2 of them are not known", " ".join(page.texts["p"]))
        page = page_of(folder, runs[1])  # each by itself: all is in the record
        expect([sorted(column["cells"]) for column in page.data["columns"] if column["name"] == "n"], [[1, 2, 3]])  # in the order of their ends


def draw(folder, probe=""):
    """What stands on the report once the browser has drawn it and run `probe`; nothing where there is no browser."""
    if BROWSER is None:
        return None
    path = folder.path / "drawn.html"
    path.write_text(report(folder).replace("</body>", f"<script>{probe}</script></body>"), encoding="utf-8")
    done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,2000",
                           f"--user-data-dir={folder.path / 'browser'}", "--dump-dom", path.as_uri()],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60, check=False, text=True)
    if '<p id="fault" class="note" hidden=""></p>' not in done.stdout:
        raise Fault("the page's script has failed: " + "".join(re.findall('<p id="fault".*?</p>', done.stdout)))
    return done.stdout


def report_has_the_table(folder):
    folder.write("model.df", MODEL)
    folder.run("""sweep model.df -p a=1:30 -p n=1:4 -p 'how=x,<b onclick="f()">&</script>' -o table.csv""", code=4)
    page = page_of(folder)
    expect_same_table(page, folder.read("table.csv"))
    expect([column["kind"] for column in page.data["columns"]],
           ["number", "number", "category", "number", "number", "category", "number", "category"])
    marginal = next(one for one in page.data["marginals"] if (one["parameter"], one["result"]) == (1, 4))
    expect(marginal["bins"], [[1, 1, 60, -12, -12, -12], [3, 3, 60, 12, 12, 12], [4, 4, 60, 6, 6, 6]])
    expect(sum(count for _, _, count in page.data["durations"]), 240)
    expect_text(page, "td", "division by zero")
    expect_text(page, "code", "raddle run model.df --a=1 --n=2")
    folder.run("report -o page.html", out="")
    expect(Page(folder.read("page.html")).data["rows"], 240)


def report_is_drawn(folder):
    folder.write("model.df", MODEL)
    folder.run("sweep model.df -p a=1:30 -p n=1:4 -p how=x,y", code=4)
    probe = """
      const svg = document.querySelector('#parallel svg'), box = svg.getBoundingClientRect();
      const area = svg.querySelectorAll('rect[style]')[1], where = area.getBoundingClientRect();
      area.setPointerCapture = () => {};
      for (const [kind, y] of [['pointerdown', where.bottom], ['pointermove', where.top + 30], ['pointerup', where.top + 30]])
        area.dispatchEvent(new PointerEvent(kind, {clientX: where.left + 5, clientY: y, pointerId: 1}));
      document.title = `kept ${shown.length}`;
      document.getElementById('across').value = 1;
      document.getElementById('across').onchange();
    """
    drawn = draw(folder, probe)
    if drawn is None:
        return "drawn by no browser: chromium is not installed"
    expect_in("<title>kept 180</title>", drawn)  # n = 4 is out of the part that was drawn
    for name, least in (("parallel", 5), ("scatter", 5), ("marginals", 9), ("durations", 3), ("timeline", 3)):
        part = drawn.split(f'id="{name}"')[1].split("</section>")[0]
        expect_in("<svg", part)
        expect((name, part.count("<path") + part.count("<rect") >= least), (name, True))
    return None


def report_of_many_points(folder):
    folder.write("model.df", "@param float x = 1.0;\n@param float y = 1.0;\n@result float z = x * y;\n")
    folder.run("sweep model.df -p 'x~U(0,1)' -p 'y~U(0,1)' --random 200000 -o table.csv")
    page = page_of(folder)
    expect((page.data["rows"], page.data["shown"]), (200000, 5000))
    expect_text(page, "p", "5,000 points drawn by chance out of 200,000")
    expect([sum(bin[2] for bin in one["bins"]) for one in page.data["marginals"]], [200000, 200000])
    draw(folder)
    expect(page.data, page_of(folder).data)  # the same ones again


def report_of_programs(folder):
    folder.run("sweep -p a=1:40 --collect 'regex:(\\S+)' --retries 1 -- sh -c 'echo {a}; exit $(({a} % 20 == 0))'", code=4)
    page = page_of(folder)
    expect([column["role"] for column in page.data["columns"]], ["parameter", "result", "outcome", "duration", "reason"])
    expect((len(page.data["timeline"]["bars"]), page.data["timeline"]["lanes"] > 0), (42, True))
    expect(page.texts["td"].count("exit code 1"), 1)
    folder.run("sweep -p a=1:60 --collect 'regex:(\\S+)' -- sh -c 'echo {a}; exit $(({a} % 20 == 0))'", code=4)
    expect(page_of(folder).data["rows"], 60)  # with those of the run before
    folder.run("sweep -p word=x -p other=y -- echo {word} {other}")
    draw(folder)  # nothing varies
    folder.run("sweep -p a=1 -p b=1:60 -- echo '<!-- {b} word {a}'")
    page = page_of(folder)
    expect((page.data["columns"][2]["kind"], page.data["columns"][2]["cells"][6]), ("text", "<!-- 7 word 1"))
    draw(folder)


DEVICES = """import stats;
@memo (int m) twice(int k) { m = 2 * k; }
float a[];
@cpu foreach i in [0:199999] { a[i] = itof(i); }
float b[];
foreach i in [0:199999] { b[i] = a[i] * 0.5; }
trace(sum_float(b), twice(3));
"""


def report_of_devices(folder):
    """Bytes per second are as many bytes as are copied; the line of the memory is what the device has."""
    folder.write("model.df", DEVICES)
    done = folder.run("run --stats --gpus simulated:h200:memory=2M model.df", out="trace: 9999950000.0,6\n")
    page = page_of(folder)
    device, = page.data["devices"]
    expect((device["name"], device["memory"]), ("device 0, H200 (model)", 2 << 20))
    part_s = (device["end"] - device["begin"]) / 300
    copied = {link["name"]: sum(link["bytes"]) * part_s for link in device["links"]}
    told = re.search(r"^bytes to device 0, H200 \(model\) (\d+), from it (\d+),", done.stderr, re.MULTILINE).groups()
    expect({name: abs(copied[name] / int(bytes_told) - 1) < 0.01 for name, bytes_told in zip(("from the host", "to the host"), told)},
           {"from the host": True, "to the host": True})
    most = int(re.search(r"^bytes on device 0, H200 \(model\), at most (\d+)$", done.stderr, re.MULTILINE)[1])
    expect(max(taken for _, taken in device["held"]), most)
    drawn = draw(folder)
    if drawn is not None:
        expect(drawn.split('id="devices"')[1].split("</section>")[0].count("<path") >= 4, True)
    folder.run("run --gpus none --no-cache model.df")
    page = page_of(folder)
    expect((page.data["devices"], "devices" in page.ids), ([], False))


def report_of_what_has_changed(folder):
    folder.write("model.df", MODEL)
    folder.run("sweep model.df -p a=1:3 -p n=1")
    folder.run("sweep model.df -p a=1:5 -p n=1")
    expect(page_of(folder).data["rows"], 5)
    folder.write("model.df", MODEL.replace("12", "13"))
    expect(page_of(folder).data["rows"], 5)
    folder.write("model.df", "int x = y;\n")
    page = page_of(folder)
    expect((page.data["rows"], sorted(page.data["columns"][0]["cells"])), (2, [4, 5]))
    expect_text(page, "p", "not the 3 that were taken from earlier runs")
    folder.run("sweep -p a=1:40 --max-fails 3 -j1 -- false", code=75)
    expect(page_of(folder).data["rows"], 4)


def slices_of(text):
    """Slices of a trace by lane, none of which may overlap another one but from within; the names of the lanes."""
    events = json.loads(text)["traceEvents"]
    lanes = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    slices = [event for event in events if event["ph"] == "X"]
    for lane in lanes:
        ends = []
        for one in sorted((event for event in slices if event["tid"] == lane), key=lambda event: (event["ts"], -event["dur"])):
            while ends and ends[-1] <= one["ts"] + 0.002:  # times are rounded
                ends.pop()
            if ends and one["ts"] + one["dur"] > ends[-1] + 0.002:
                raise Fault(f"slices overlap in lane {lane}: {one}")
            ends.append(one["ts"] + one["dur"])
    expect({event["tid"] for event in slices} <= set(lanes), True)
    return slices, lanes


def trace_has_each_point(folder):
    folder.run("sweep -p a=1:40 --retries 1 -- sh -c 'echo {a}; exit $(({a} % 20 == 0))'", code=4)
    folder.run("trace -o trace.json", out="")
    slices, _ = slices_of(folder.read("trace.json"))
    expect(sorted(one["name"] for one in slices), sorted([f"point {i}" for i in [*range(1, 41), 20, 40]]))
    again = next(one for one in slices if one["args"].get("attempt") == 2)
    expect((again["cat"], again["args"]["outcome"], again["args"]["exit_code"]), ("failed", "exit code", 1))
    expect(next(one["args"]["parameters"] for one in slices if one["name"] == "point 7"), {"a": 7})
    joined, _ = slices_of(folder.run("trace --limit 10").stdout)
    expect((len(joined) <= 10, sum(one["args"]["points"] for one in joined), sum(one["args"]["failed"] for one in joined)),
           (True, 42, 4))
    folder.run("trace -o trace.json.gz")
    expect(gzip.decompress((folder.path / "trace.json.gz").read_bytes()).decode(), folder.read("trace.json"))
    folder.write("model.df", "@param float x = 1.0;\n@result float y = x * x;\n")
    folder.run("sweep model.df -p x=1:100000")
    slices, _ = slices_of(folder.run("trace").stdout)
    expect(sum(one["args"].get("points", 1) for one in slices), 100000)


def trace_of_a_script(folder):
    folder.write("tasks.df", """
        app (void v) wait_for(float s) { "sleep" s }
        (int s) work(int n) { for (s = 0, int i = 0; i < n; i = i + 1, s = (s + i * i) %% 1000) {} }
        app (void v) fail() { "false" }
        int a[];
        foreach i in [0:99] { a[i] = work(2000000 + i); }
        wait_for(0.05) => wait_for(0.01);
        wait_for(0.05);
        foreach x in a { trace(x) => void done = make_void(); }
    """)
    folder.run("run --trace=trace.json --workers 2 --processes 2 tasks.df")
    slices, lanes = slices_of(folder.read("trace.json"))
    expect(set(lanes.values()) >= {"worker 1", "worker 2", "programs 1"}, True)
    programs = [one for one in slices if one["cat"] == "program"]
    expect(([one["name"] for one in programs], all(one["dur"] > 9000 for one in programs)), (["wait_for"] * 3, True))
    expect({one["name"] for one in slices} >= {"main", "work", "foreach in main"}, True)
    expect(next(one["args"]["at"] for one in slices if one["name"] == "work").startswith("tasks.df:6:"), True)
    folder.run("run --trace=trace.json --keep-going -e 'app (void v) fail() { \"false\" } fail();'", code=1)
    expect([one["args"]["failed"] for one in slices_of(folder.read("trace.json"))[0] if one["cat"] == "program"], [True])
    folder.run("run --trace=nowhere/t.json tasks.df", code=2, err="can not write into `nowhere`: no such file or directory")
    folder.run("run --trace=. tasks.df", code=2, err="can not write `.`: it is a folder")


GRAPH = """
import io;
import string;
@param int n = 3;
app (file o) sort_it(file i) { "sort" @stdin=i @stdout=o }
(string s) name_of(int i, boolean loud) {
  string word = sprintf("%i", i);
  if (loud) { s = trim(word); } else { s = word; }
}
string names[];
foreach i in [1:n] { names[i] = name_of(i, i > 1); }
printf("%s \\"quoted\\"", join(names, ",")) => printf("%i", n);
file sorted = sort_it(input("x<y>.txt"));
"""

DOT = """digraph script {
  label="graph.df"
  n0 [label="n", tooltip="int n, graph.df:4:12", input]
  n1 [label="names", tooltip="string[] names, graph.df:10:8", variable]
  n2 [label="sorted", tooltip="file sorted, graph.df:13:6", variable]
  n5 [label="join", tooltip="call of join, graph.df:12:25", library]
  n6 [label="printf", tooltip="call of printf, graph.df:12:1", library]
  n7 [label="printf", tooltip="call of printf, graph.df:12:46", library]
  n8 [label="input", tooltip="call of input, graph.df:13:23", library]
  n9 [label="sort_it", tooltip="call of sort_it, graph.df:13:15", program]
  subgraph cluster_1 {
    graph [label="foreach i"]
    n3 [label="i", tooltip="int i, graph.df:11:9", input]
    n4 [label="name_of", tooltip="call of name_of, graph.df:11:33", call]
  }
  subgraph cluster_2 {
    graph [label="(string s) name_of(int i, boolean loud)"]
    n10 [label="i", tooltip="int i, graph.df:6:24", input]
    n11 [label="loud", tooltip="boolean loud, graph.df:6:35", input]
    n12 [label="s", tooltip="string s, graph.df:6:9", output]
    n13 [label="word", tooltip="string word, graph.df:7:10", variable]
    n14 [label="sprintf", tooltip="call of sprintf, graph.df:7:17", library]
    n15 [label="loud", tooltip="branch, graph.df:8:3", decision]
    subgraph cluster_3 {
      graph [label="then"]
      n16 [label="trim", tooltip="call of trim, graph.df:8:19", library]
    }
    subgraph cluster_4 {
      graph [label="else"]
    }
  }
  n0 -> n3
  n3 -> n4
  n3 -> n1
  n4 -> n1
  n1 -> n5
  n5 -> n6
  n0 -> n7
  n6 -> n7 [style=dashed]
  n8 -> n9
  n9 -> n2
  n10 -> n14
  n14 -> n13
  n11 -> n15
  n13 -> n16
  n16 -> n12
  n15 -> n16 [style=dashed]
  n13 -> n12
  n15 -> n12 [style=dashed]
}
"""


def without_style(dot):
    """Without colours and shapes: what a node is, is told by its fill."""
    kinds = {'fillcolor="#ffffff"': "variable", "peripheries=2": "output", 'fillcolor="#e3ecf4"': "input", 'fillcolor="#dbeadb"': "call",
             'fillcolor="#f2f2ee"': "library", "shape=cds": "program", "shape=diamond": "decision"}
    lines = []
    for line in dot.splitlines():
        for mark, kind in kinds.items():
            if mark in line:
                line = line.split(", shape=")[0] + f", {kind}]"
                break
        if not re.match(r"  (graph|node|edge) \[", line):
            lines.append(line.replace(", labeljust=l, style=rounded, color=\"#a9afb5\"", ""))
    return "\n".join(lines) + "\n"


def graph_is_what_flows(folder):
    folder.write("graph.df", GRAPH)
    expect(without_style(folder.run("graph graph.df").stdout), DOT)
    folder.run("graph graph.df -o graph.mmd", out="")
    mermaid = folder.read("graph.mmd").splitlines()
    expect(mermaid[0], "flowchart TB")
    expect([line.strip() for line in mermaid if re.search("n(4|9|15|16)\\b", line)],
           ['n9[["sort_it"]]', 'n4["name_of"]', 'n15{"loud"}', 'n16["trim"]', "n3 --> n4", "n4 --> n1", "n8 --> n9", "n9 --> n2",
            "n11 --> n15", "n13 --> n16", "n16 --> n12", "n15 -.-> n16", "n15 -.-> n12"])
    folder.write("hostile.df", 'int x = 1; if (string2int("<\\"a&b`#") == x) { trace("c"); }\nimport string;\n')
    expect_in('{"string2int(#quot;#lt;\\#quot;a#amp;b#96;#35;#quot;) == x"}', folder.run("graph hostile.df --format mmd").stdout)
    if shutil.which("dot") is None:
        folder.run("graph hostile.df -o x.svg", code=1, err="apt-get install graphviz")
        return "no SVG: graphviz is not installed"
    for name in ("graph.df", "hostile.df"):
        folder.run(f"graph {name} -o x.svg")
        expect(xml.etree.ElementTree.parse(folder.path / "x.svg").getroot().tag, "{http://www.w3.org/2000/svg}svg")
    folder.run("graph hostile.df -o y.svg", code=1, err="apt-get install graphviz", env={"PATH": "/nowhere"})
    return None


def errors(folder):
    folder.run("report", code=1, err="nothing was recorded in this folder")
    folder.run("sweep -p a=1 -- echo {a}")
    folder.run("report nonsense", code=2, err="no run is named `nonsense`")
    folder.run("report -o nowhere/x.html", code=1, err="can not write `nowhere/x.html`: no such file or directory")
    folder.run("report --ouput x.html", code=2, err="try `raddle report --help`")
    folder.write("wrong.df", "trace(x);\n")
    folder.run("graph wrong.df", code=3, err="wrong.df:1:7: error")
    folder.run("graph", code=2, err="FILE")
    folder.run("graph nothing.df", code=2, err="can not read `nothing.df`")
    folder.run("graph wrong.df -o x.png", code=2, err="`x.png` is none of .svg, .dot, .mmd; or say --format")
    folder.run("trace --limit 0", code=2, err="--limit")
    folder.run("report --help", out=folder.run("report -h").stdout)

def outputs_stay_what_they_are(folder):
    """Links, pipes and devices are written to, not replaced."""
    folder.run("sweep -p a=1,2 -- echo {a}")
    whole = folder.run("trace -o -").stdout
    folder.write("file.json", "old")
    (folder.path / "link.json").symlink_to("file.json")
    (folder.path / "new.json").symlink_to("made.json")
    for name in ("link.json", "new.json"):
        folder.run(f"trace -o {name}")
        expect(((folder.path / name).is_symlink(), folder.read(name)), (True, whole))
    os.mkfifo(folder.path / "pipe.json")
    reader = subprocess.Popen(["cat", "pipe.json"], cwd=folder.path, stdout=subprocess.PIPE, text=True)
    folder.run("trace -o pipe.json")
    expect((reader.communicate(timeout=60)[0], (folder.path / "pipe.json").is_fifo()), (whole, True))
    folder.run("trace -o pipe.json", code=1, err="can not write `pipe.json`: no such device or address")  # nobody reads
    done = subprocess.run(["bash", "-c", '"$0" trace -o >(cat)', folder.raddle], cwd=folder.path, stdout=subprocess.PIPE, timeout=60,
                          check=False, text=True)
    expect((done.returncode, done.stdout), (0, whole))
    (folder.path / "far.csv").symlink_to("nowhere/x.csv")
    folder.run("sweep -p a=1 -o far.csv -- echo {a}", code=2, err="can not write into `nowhere`")


def numbers_are_plotted(folder):
    """The parameter with most values against the first result; or what was asked for."""
    folder.write("model.df", MODEL)
    folder.run("sweep model.df -p a=1:9 -p n=3 -p how=b -o x.csv")
    lines = folder.run("plot").stdout.splitlines()
    expect((lines[0], len(lines), lines[-1].split()), ("root against a, 9 points", 22, ["1", "9"]))
    expect([line.split("│")[0].strip() for line in lines[1:-1]], ["9"] + [""] * 18 + ["3"])
    expect((lines[1][-1] != "\u2800", lines[-2].split("│")[1][0] != "\u2800", lines[1].split("│")[1][0]), (True, True, "\u2800"))
    expect(folder.run("plot -y a -x root --log-y").stdout.splitlines()[0], "log10(a) against root, 9 points")
    folder.run("plot -y how", code=2, err="there is no number in the column `how`")
    folder.run("plot -y roott", code=2, err="there is no column `roott`; did you mean `root`?")
    folder.run("plot -y nonsense", code=2, err="there is no column `nonsense`; there are a, n, how, root, part, outcome, duration_s, reason")
    folder.run("sweep -p a=x,y -- echo {a}")
    expect(folder.run("plot").stdout.splitlines()[0], "duration_s against row, 2 points")
    folder.run("plot -x duration_s -y stdout", code=2, err="there is no number in the column `stdout`")


TESTS = [report_has_the_table, report_is_drawn, report_of_many_points, report_of_programs, report_of_devices, report_of_what_has_changed, changed_table_is_said,
         trace_has_each_point, trace_of_a_script, graph_is_what_flows, numbers_are_plotted,
         outputs_stay_what_they_are, errors]


if __name__ == "__main__":
    main("pictures", "Tests the verbs that draw.", TESTS)
