package pattern_test

import (
	"fmt"

	"gprof/rawformat/pattern"
)

// Workers are wanted, except for one.
func ExampleTracks() {
	tracks := pattern.Tracks{"worker", "-=worker 3"}
	for _, name := range []string{"Worker 1", "worker 3", "main.worker", "compactor"} {
		fmt.Println(name, tracks.Want(name, 12))
	}
	// Output:
	// Worker 1 true
	// worker 3 false
	// main.worker true
	// compactor false
}
