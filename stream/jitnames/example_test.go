package jitnames_test

import (
	"fmt"

	"gprof/stream/jitnames"
)

// Runtimes write into the name of a function where it stands in the source.
func ExampleSplit() {
	for _, name := range []string{"JS:*add /srv/cart.js:2:13", "py::add:/srv/cart.py", "add"} {
		function, file, line := jitnames.Split(name)
		fmt.Printf("%s %q %d, %s\n", function, file, line, jitnames.Category(name).Name)
	}
	// Output:
	// JS:*add "/srv/cart.js" 2, JavaScript
	// py::add "/srv/cart.py" 0, Python
	// add "" 0, JIT
}
