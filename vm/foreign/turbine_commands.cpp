// Note [procedures]. A procedure gets the numbers of its outputs and inputs instead of values, and stores and retrieves
// by them. It is called when its inputs are set, so their data is there at once. Its rules run after it, on the same
// worker, each when what it waits for is stored, in the order in which they were made; data that they make lives as
// long as the call. What rules say of places, priorities and reference counts has no meaning here.
#include "vm/foreign/turbine_commands.hpp"

namespace raddle::vm {

const char* const turbine_commands = R"tcl(
package provide turbine 1.5.2
# Communicators are numbers as MPICH has them. There is one machine, so rank 0 is the only leader.
namespace eval ::adlb {
  variable NULL_ID 0
  variable RANK_ANY -100
  variable comm [expr {0x44000000}]
  variable worker_comm $comm
  variable self_comm [expr {0x44000001}]
  variable null_comm [expr {0x04000000}]
  variable leader_comm [expr {$::raddle::rank == 0 ? $self_comm : $null_comm}]
  foreach type {INTEGER FLOAT STRING BLOB FILE_REF STRUCT CONTAINER MULTISET REF} {
    variable $type [string tolower $type]
  }
}
namespace eval ::c {
  # a program and its words; the first three are files for its standard streams, or empty
  proc sync_exec {input output errors args} {
    set streams {}
    foreach {sign file} [list < $input > $output 2> $errors] { if {$file ne {}} { lappend streams $sign $file } }
    if {$output eq {}} { lappend streams >@stdout }
    if {$errors eq {}} { lappend streams 2>@stderr }
    exec {*}$args {*}$streams
    return
  }
}
namespace eval ::turbine::c {}
namespace eval ::julia {}
namespace eval ::r {}
namespace eval ::turbine {
  variable CONTROL CONTROL
  variable WORK WORK
  variable WORK_TASK WORK
  variable LOCAL LOCAL
  variable ENGINE CONTROL
  variable mode WORK
  variable n_workers $::raddle::workers
}

# data of the call: `value` by number; `closed` of what rules may go on with; rules as {inputs action}
namespace eval ::raddle {
  variable last 0
  variable rules {}
  variable value
  variable closed
  array set value {}
  array set closed {}

  proc create {args} { variable last; return [incr last] }

  proc store {id data} {
    variable value
    variable closed
    if {[info exists closed($id)]} { error "<$id> is stored twice" }
    set value($id) $data
    set closed($id) 1
    return
  }
  proc store_number {id data} {
    if {[scan $data %lld%c number rest] != 1} { error "store_integer: `$data` is no integer" }
    store $id $number
  }
  proc retrieve {id} {
    variable value
    if {![info exists value($id)]} { error "<$id> is not stored yet: wait for it with turbine::rule" }
    return $value($id)
  }
  proc rule {inputs action args} {
    variable rules
    lappend rules [list $inputs $action]
    return
  }
  proc allocate {args} {
    set id [create]
    if {[llength $args] > 1} { uplevel 1 [list set [lindex $args 0] $id] }
    return $id
  }
  proc allocate_container {args} {
    variable value
    set id [create]
    set value($id) {}
    if {[llength $args] > 2} { uplevel 1 [list set [lindex $args 0] $id] }
    return $id
  }
  proc literal {args} {
    set id [create]
    store $id [lindex $args end]
    if {[llength $args] > 2} { uplevel 1 [list set [lindex $args 0] $id] }
    return $id
  }
  proc insert {id key data type args} {
    variable value
    variable closed
    if {[info exists closed($id)]} { error "<$id> is closed" }
    if {[info exists value($id)] && [dict exists $value($id) $key]} { error "<$id>\[$key\] is stored twice" }
    dict set value($id) $key $data
    if {[lindex $args 0] > 0} { set closed($id) 1 }
    return
  }
  proc close_container {id args} {
    variable value
    variable closed
    if {![info exists value($id)]} { set value($id) {} }
    set closed($id) 1
    return
  }
  proc build {id elements args} {
    set data {}
    set key -1
    foreach element $elements { lappend data [incr key] $element }
    store $id $data
  }
  proc enumerate {id what {count all} {offset 0}} {
    set data [retrieve $id]
    switch $what {
      subscripts { return [dict keys $data] }
      members { return [dict values $data] }
      dict { return $data }
      count { return [dict size $data] }
    }
    error "enumerate: `$what` is none of subscripts, members, dict, count"
  }

  # packages are looked for here before all other places
  proc look_in {folder} {
    if {$folder ni $::auto_path} { set ::auto_path [linsert $::auto_path 0 $folder] }
  }

  # a procedure of the package's namespace, else of that name
  proc find {package name} {
    # what the package `turbine` has beside its namespace is none of its procedures
    foreach command [expr {$package eq {turbine} ? "::turbine::$name" : [list ::${package}::$name ::$name]}] {
      if {[info commands $command] ne {}} { return $command }
    }
    error "the package `$package` has no procedure `$name`"
  }

  # outputs: {name kind} each, kind file, void or value; arguments: the files of outputs, then the inputs
  proc call {package name outputs arguments} {
    variable last 0
    variable rules {}
    variable value
    variable closed
    array unset value
    array unset closed
    set output_ids {}
    foreach output $outputs {
      set id [create]
      lappend output_ids $id
      if {[lindex $output 1] eq {file}} {
        set value($id) [lindex $arguments 0]
        set arguments [lrange $arguments 1 end]
      }
    }
    set input_ids {}
    foreach argument $arguments { lappend input_ids [literal $argument] }
    uplevel #0 [list [find $package $name] $output_ids $input_ids]
    run_rules
    set results {}
    foreach output $outputs id $output_ids {
      lassign $output output_name kind
      if {$kind eq {file}} continue
      if {$kind eq {void}} { set value($id) {} }
      if {![info exists value($id)]} { error "output `$output_name` was not stored" }
      lappend results $value($id)
    }
    give {*}$results
  }
  proc is_ready {inputs} {
    variable closed
    foreach id $inputs { if {![info exists closed($id)]} { return 0 } }
    return 1
  }
  proc run_rules {} {
    variable rules
    while {$rules ne {}} {
      set at 0
      foreach each $rules { if {[is_ready [lindex $each 0]]} break; incr at }
      if {$at == [llength $rules]} { error "a rule waits for data that is never stored: [lindex $rules 0 1]" }
      set action [lindex $rules $at 1]
      set rules [lreplace $rules $at $at]
      uplevel #0 $action
    }
  }

  foreach {turbine own} {
    rule rule  allocate allocate  allocate_container allocate_container  literal literal
    create_integer create  create_float create  create_string create  create_void create  create_blob create
    create_ref create  create_struct create  create_container create
    store_integer store_number  store_float store  store_string store  store_blob store  store_ref store
    retrieve retrieve  retrieve_decr retrieve
    container_insert insert  container_immediate_insert insert  array_build build  slot_drop close_container
  } { interp alias {} ::turbine::$turbine {} ::raddle::$own }
  foreach type {integer float string blob ref struct} {
    proc ::turbine::retrieve_$type {id args} { ::raddle::retrieve $id }
    proc ::turbine::retrieve_decr_$type {id args} { ::raddle::retrieve $id }
    proc ::adlb::retrieve_$type {id args} { ::raddle::retrieve $id }
    proc ::adlb::retrieve_decr_$type {id args} { ::raddle::retrieve $id }
  }
  proc ::turbine::store_void {id} { ::raddle::store $id {} }
  proc ::turbine::store_struct {id data args} { ::raddle::store $id $data }
  proc ::turbine::array_kv_build {id data args} { ::raddle::store $id $data }
  proc ::turbine::multiset_build {id elements args} { ::raddle::store $id $elements }
  proc ::turbine::container_lookup {id key} { dict get [::raddle::retrieve $id] $key }
  proc ::turbine::container_size_local {id} { dict size [::raddle::retrieve $id] }
  proc ::turbine::deeprule {inputs levels are_files action args} { ::raddle::rule $inputs $action }
  proc ::turbine::container_list {id} { dict keys [::raddle::retrieve $id] }
  proc ::turbine::python {persist exceptions code args} {
    if {$args eq {}} {  # of old scripts, which do not say what exceptions are
      set args [list $code]
      set code $exceptions
      set exceptions 1
    }
    set expression [lindex $args 0]
    ::raddle::run_code [expr {$persist ? {python_persist} : {python}}] $exceptions $code $expression
  }
  proc ::turbine::r {exceptions code expression} { ::raddle::run_code R $exceptions $code $expression }
  proc ::r::eval {code expression} { ::raddle::run_code R 1 $code $expression }
  proc ::julia::eval {code} {
    try {
      exec julia -e {print(include_string(Main, ARGS[1]))} -- $code
    } trap {POSIX ENOENT} {} {
      error {julia: `julia` could not be started: no such file or directory; is Julia (julialang.org) installed?}
    }
  }
  # whether a communicator has this rank only; a call has one such, as it is made by one rank
  proc is_single {comm} {
    if {$comm == $::adlb::null_comm} { error "the communicator is null: this rank is not in it" }
    return [expr {$comm == $::adlb::self_comm}]
  }
  proc ::adlb::comm_rank [list [list comm $::adlb::comm]] {
    return [expr {[::raddle::is_single $comm] ? 0 : $::raddle::rank}]
  }
  proc ::adlb::comm_size [list [list comm $::adlb::comm]] {
    return [expr {[::raddle::is_single $comm] ? 1 : $::raddle::workers}]
  }
  interp alias {} ::adlb::rank {} ::adlb::comm_rank
  interp alias {} ::adlb::size {} ::adlb::comm_size
  proc ::adlb::worker_rank {} { return $::raddle::rank }
  proc ::adlb::workers {} { return $::raddle::workers }
  proc ::adlb::servers {} { return 0 }
  proc ::adlb::amserver {} { return 0 }
  proc ::adlb::comm_get {name} {
    switch $name {
      world - adlb { return $::adlb::comm }
      workers { return $::adlb::worker_comm }
      leaders { return $::adlb::leader_comm }
      null { return $::adlb::null_comm }
    }
    error "adlb::comm_get: `$name` is none of world, adlb, workers, leaders, null"
  }
  proc ::adlb::comm_leaders {} { return $::adlb::leader_comm }
  proc ::turbine::c::leader_comm {} { return $::adlb::leader_comm }
  proc ::turbine::c::task_comm {} { return $::adlb::self_comm }
  proc ::turbine::c::task_comm_int {} { return $::adlb::self_comm }
  # what the ranks of the communicator do together; the one leader, or the one rank of a call, has nothing to wait for
  proc ::turbine::c::bcast {comm args} {
    if {![::raddle::is_single $comm]} { error "turbine::c::bcast: only the leaders broadcast here" }
    if {[llength $args] == 1} { return [lindex $args 0] }
    upvar 1 [lindex $args 1] data
    return $data
  }
  proc ::turbine::c::copy_to {comm file folder} {
    if {![::raddle::is_single $comm]} { error "turbine::c::copy_to: only the leaders copy here" }
    file mkdir $folder
    file copy -force -- $file $folder
  }
  interp alias {} ::adlb::string2blob {} ::raddle::blob
  interp alias {} ::adlb::blob_from_string {} ::raddle::blob
  interp alias {} ::adlb::blob2string {} ::raddle::text
  interp alias {} ::adlb::blob_to_string {} ::raddle::text
  # a file is {path references is_mapped}
  proc ::turbine::create_local_file_ref {path {references 1} {is_mapped 1}} { list $path $references $is_mapped }
  proc ::turbine::local_file_path {file} { lindex $file 0 }
  proc ::turbine::local_file_mapped {file} { lindex $file 2 }
  proc ::turbine::swift_filename {variable} { upvar 1 $variable file; lindex $file 0 }
  proc ::turbine::swift_array_build {elements type args} {
    set result {}
    set key -1
    foreach element $elements {
      if {$type eq {file}} { set element [::turbine::create_local_file_ref $element 1] }
      lappend result [incr key] $element
    }
    return $result
  }
  proc ::turbine::get_file_path {id} { ::raddle::literal [lindex [::raddle::retrieve $id] 0] }
  proc ::turbine::get_file_status {id} { return $id }
  foreach ignored {
    read_refcount_incr read_refcount_decr write_refcount_incr free_blob free_local_blob log debug c::log
  } { proc ::turbine::$ignored {args} {} }
  interp alias {} ::turbine::write_refcount_decr {} ::raddle::close_container
  interp alias {} ::adlb::write_refcount_decr {} ::raddle::close_container
  interp alias {} ::adlb::enumerate {} ::raddle::enumerate
  interp alias {} ::adlb::retrieve {} ::turbine::retrieve_string
  interp alias {} ::adlb::retrieve_decr {} ::turbine::retrieve_string
  interp alias {} ::adlb::lookup {} ::turbine::container_lookup
  interp alias {} ::adlb::insert {} ::raddle::insert
  interp alias {} ::adlb::unique {} ::raddle::create
  proc ::adlb::exists {id args} { return [info exists ::raddle::closed($id)] }
  proc ::adlb::exists_sub {id key args} { dict exists [::raddle::retrieve $id] $key }
  proc ::adlb::container_size {id args} { ::turbine::container_size_local $id }
  proc ::adlb::refcount_incr {id type change} {
    if {$type in {w write} && $change < 0} { ::raddle::close_container $id }
  }
  proc ::adlb::create {id type args} { ::raddle::create }
  proc ::adlb::store {id type args} {
    ::raddle::store $id [lindex $args [expr {$type eq {container} ? 2 : $type eq {multiset} ? 1 : 0}]]
  }
  foreach ignored {
    read_refcount_incr read_refcount_decr write_refcount_incr blob_free local_blob_free
  } { proc ::adlb::$ignored {args} {} }
}
namespace eval ::turbine {
  namespace export rule deeprule allocate allocate_container literal retrieve* create_* store_* container_* \
    read_refcount_* write_refcount_* swift_array_build swift_filename local_file_* get_file_path slot_drop
}
namespace import ::turbine::*
)tcl";

}  // namespace raddle::vm
