package jitcode_test

import (
	"fmt"

	"gprof/rawformat/jitcode"
)

// A line of perf-PID.map says where a function is. Of functions at one address
// the one that was listed later counts.
func ExampleList() {
	var functions jitcode.List
	for _, line := range []string{"1000 200 JS:~add /srv/cart.js:2:13", "1000 80 JS:*add /srv/cart.js:2:13"} {
		if f, ok := jitcode.ParseLine(line); ok {
			functions.Add(f)
		}
	}
	if f, ok := functions.At(0x1010); ok {
		fmt.Printf("%s, %#x bytes\n", f.Name, f.Size)
	}
	// Output:
	// JS:*add /srv/cart.js:2:13, 0x80 bytes
}
