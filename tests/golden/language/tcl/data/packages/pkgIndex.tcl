package ifneeded greet 1.2 [list source [file join $dir greet.tcl]]
