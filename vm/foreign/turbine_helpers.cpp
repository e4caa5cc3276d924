// Note [pointers]. Packages that SWIG has made know a pointer as text: `_`, the bytes of the address in hexadecimal,
// and
// `_p_TYPE`. Code around them has blobs, {address length}, and goes from one to the other by the commands blobutils_*.
// An `int` of theirs has 4 bytes, a `float` is a double.
#include "vm/foreign/turbine_commands.hpp"

namespace raddle::vm {

const char* const turbine_helpers = R"tcl(
# what Turbine defines for everyone
proc ::show {args} { foreach name $args { puts "$name: [uplevel 1 [list set $name]]" } }
proc ::puts* {args} { puts [join $args {}] }
proc ::putsn {args} { puts [join $args \n] }
proc ::printf {format args} { puts [format $format {*}$args] }
proc ::check {condition text} { if {![uplevel 1 [list expr $condition]]} { error $text } }
interp alias {} ::assert {} ::check
proc ::nonempty {args} {
  foreach name $args {
    upvar 1 $name value
    if {![info exists value] || $value eq {}} { error "`$name` is empty" }
  }
}
proc ::log* {args} {}
proc ::turbine_error {args} { error [join $args { }] }
interp alias {} ::turbine::turbine_error {} ::turbine_error

# Note [pointers]
proc ::raddle::pointer {address type} {
  return [expr {$address == 0 ? {NULL} : "_[binary encode hex [binary format w $address]]_p_$type"}]
}
proc ::raddle::address {pointer} {
  if {$pointer eq {NULL}} { return 0 }
  if {[string is wideinteger -strict $pointer]} { return $pointer }
  if {![regexp {^_([0-9a-f]{16})_p_} $pointer all digits]} { error "`$pointer` is no pointer" }
  binary scan [binary decode hex $digits] w address
  return $address
}
proc ::raddle::element {code size pointer index} {
  binary scan [memory read [expr {[address $pointer] + $size * $index}] $size] $code value
  return $value
}
proc ::raddle::set_element {code size pointer index value} {
  memory write [expr {[address $pointer] + $size * $index}] [binary format $code $value]
}
foreach {type code size} {float d 8  int i 4  int32 i 4  int64 w 8} {
  interp alias {} blobutils_get_$type {} ::raddle::element $code $size
  interp alias {} blobutils_set_$type {} ::raddle::set_element $code $size
  proc blobutils_sizeof_$type {} [list return $size]
}
proc blobutils_sizeof_ptr {} { return 8 }
proc blobutils_get_ptr {pointer index} { ::raddle::pointer [::raddle::element w 8 $pointer $index] void }
proc blobutils_set_ptr {pointer index value} {
  ::raddle::set_element w 8 $pointer $index [::raddle::address $value]
}
proc blobutils_malloc {bytes} { ::raddle::pointer [::raddle::memory allocate $bytes] void }
proc blobutils_free {pointer} { ::raddle::memory release [::raddle::address $pointer] }
proc blobutils_ptr_add {pointer offset} {
  ::raddle::pointer [expr {[::raddle::address $pointer] + $offset}] void
}
proc blobutils_zeroes_float {pointer count} {
  ::raddle::memory write [::raddle::address $pointer] [binary format x[expr {8 * $count}]]
}
proc blobutils_cast_string_to_ptr {text} { ::raddle::pointer [lindex [::raddle::blob $text] 0] void }
proc blobutils_cast_to_string {pointer} {
  set text {}
  for {set at [::raddle::address $pointer]} {[set byte [::raddle::memory read $at 1]] ne "\0"} {incr at} {
    append text $byte
  }
  return [encoding convertfrom utf-8 $text]
}
foreach to {int long lli int64} { interp alias {} blobutils_cast_to_$to {} ::raddle::address }
foreach {cast type} {
  to_ptr void  lli_to_ptr void  int64_to_ptr void  char_ptrptr_to_ptr void  to_ptrptr p_void
  to_char_ptrptr p_char  to_char_ppp p_p_char  to_int_ptr int  to_int32_ptr int  to_int64_ptr long
  to_dbl_ptr double  int_to_int_ptr int  int_to_const_int_ptr int  int_to_dbl_ptr double
  int_to_const_dbl_ptr double  long_to_int_ptr int  long_to_const_int_ptr int  long_to_dbl_ptr double
  long_to_const_dbl_ptr double
} {
  proc blobutils_cast_$cast {value} "::raddle::pointer \[::raddle::address \$value\] $type"
}
unset to type code size cast
)tcl";

}  // namespace raddle::vm
