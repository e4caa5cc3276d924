// Points of a model exploration in Python, which waits for results in the process of its own rank.
import location;
pragma worktypedef resident_work;

@dispatch=resident_work
(void v) _run(string code, string expr="\"\"") "turbine" "0.1.0"
    [ "turbine::python 1 1 <<code>> <<expr>>" ];

@dispatch=resident_work
(string o) _value(string code, string expr) "turbine" "0.1.0"
    [ "set <<o>> [ turbine::python 1 1 <<code>> <<expr>> ]" ];

(void v) exchange_start(location where, string name) {
    string code = "import %s as exploration\nexploration.start()" % name;
    v = @location=where _run(code);
}

(string o) exchange_get(location where) {
    o = @location=where _value("", "exploration.get()");
}

(void v) exchange_put(location where, string results) {
    string code = "exploration.put('''%s''')" % results;
    v = @location=where _run(code);
}
