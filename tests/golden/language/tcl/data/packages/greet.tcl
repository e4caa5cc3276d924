package provide greet 1.2
proc greeting {name} { return "hello $name" }
