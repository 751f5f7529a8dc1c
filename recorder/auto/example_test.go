package auto_test

import (
	"fmt"

	_ "gprof/recorder/auto"
)

// With GPROF=on in its environment this program records, without it does not.
func Example() {
	fmt.Println("at work")
	// Output: at work
}
