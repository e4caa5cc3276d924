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
  proc model {outputs inputs args} {
    turbine::rule $inputs "procedures::model_body $outputs $inputs" {*}$args type $turbine::WORK
  }
  proc model_body {o k} {
    set comm [turbine::c::task_comm]
    set result [expr {2 * [retrieve_integer $k]}]
    if {[adlb::rank $comm] == 0} { store_integer $o $result }
  }
  proc squares {outputs inputs args} {
    deeprule $inputs 1 0 "procedures::squares_body $outputs $inputs" {*}$args type $turbine::WORK
  }
  proc squares_body {o a} {
    set count [adlb::container_size $a]
    dict for {i v} [adlb::enumerate $a dict all 0] {
      if {[adlb::lookup $a $i] != $v} { error $i }
      container_immediate_insert $o $i [expr {$v * $v}] integer
    }
    adlb::refcount_incr $o w -1
    if {[adlb::container_size $o] != $count || ![adlb::exists_sub $o 0]} { error $count }
  }
  proc scaled_blob {x by} {
    lassign $x address length
    set from [blobutils_cast_int_to_dbl_ptr $address]
    set count [expr {$length / [blobutils_sizeof_float]}]
    set pointer [blobutils_malloc $length]
    set to [blobutils_cast_to_dbl_ptr $pointer]
    for {set i 0} {$i < $count} {incr i} {
      blobutils_set_float $to $i [expr {$by * [blobutils_get_float $from $i]}]
    }
    return [list [blobutils_cast_to_int $pointer] $length]
  }
  proc pointers {} {
    set pointer [blobutils_malloc 16]
    set words [blobutils_cast_to_ptrptr $pointer]
    blobutils_set_ptr $words 1 [blobutils_cast_string_to_ptr "naïve"]
    set text [blobutils_cast_to_string [blobutils_get_ptr $words 1]]
    set ints [blobutils_cast_to_int_ptr $pointer]
    blobutils_set_int $ints 1 -7
    set types [list [regexp {^_[0-9a-f]{16}_p_int$} $ints] [regexp {^_[0-9a-f]{16}_p_p_void$} $words]]
    set result [list $text [blobutils_get_int $ints 0] [blobutils_get_int $ints 1] $types [blobutils_cast_int_to_dbl_ptr 0]]
    blobutils_free $pointer
    return $result
  }
}
