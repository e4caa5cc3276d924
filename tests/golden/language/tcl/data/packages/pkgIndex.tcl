package ifneeded greet 1.2 [list source [file join $dir greet.tcl]]
package ifneeded procedures 0.1 [list source [file join $dir procedures.tcl]]
