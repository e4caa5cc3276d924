package provide procedures 0.1
namespace eval procedures {
  proc add {outputs inputs} {
    lassign $inputs a b
    turbine::rule $inputs "procedures::add_body $outputs $a $b" name "add" type $::turbine::WORK
  }
  proc add_body {o a b} {
    turbine::store_integer $o [expr {[turbine::retrieve_integer $a] + [turbine::retrieve_integer $b]}]
  }
  # two steps: the second rule waits for data of the first
  proc scaled {outputs inputs} {
    set middle [turbine::allocate float]
    turbine::rule $middle [list procedures::finish $outputs $middle]
    turbine::rule $inputs [list procedures::start $middle {*}$inputs]
  }
  proc start {middle x} { turbine::store_float $middle [expr {[turbine::retrieve_float $x] * 2}] }
  proc finish {o middle} { turbine::store_float $o [expr {[turbine::retrieve_decr_float $middle] + 0.5}] }
  # a string, an array, nothing
  proc several {outputs inputs} {
    lassign $outputs text numbers done
    turbine::store_string $text "<[turbine::retrieve_string [lindex $inputs 0]]>"
    turbine::array_build $numbers {4 5 6} 1 integer
  }
  proc total {outputs inputs} {
    set sum 0
    foreach {k v} [adlb::enumerate [lindex $inputs 0] dict all 0] { incr sum $v }
    store_integer $outputs $sum
  }
  proc count {outputs inputs} { turbine::store_integer $outputs [llength $inputs] }
  proc touch {outputs inputs} {
    lassign $outputs n f
    set c [open [turbine::retrieve_string [turbine::get_file_path $f]] w]
    puts -nonewline $c made
    close $c
    turbine::store_integer $n 1
  }
  proc nothing {outputs inputs} {}
  proc waits {outputs inputs} { turbine::rule [turbine::allocate integer] "puts never" }
  proc twice {outputs inputs} { turbine::store_integer $outputs 1; turbine::store_integer $outputs 2 }
  proc early {outputs inputs} { turbine::retrieve_integer [turbine::allocate integer] }
  proc wrong {outputs inputs} { turbine::store_integer $outputs word }
}
