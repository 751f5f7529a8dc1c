package wording_test

import (
	"fmt"

	"gprof/stream"
	"gprof/stream/wording"
)

// The end of a process is a word, and how it came to it.
func ExampleEnd() {
	word, how := wording.End(stream.Exit{Known: true, Reason: "killed", Code: 9}, true)
	fmt.Println(word + how)
	// Output:
	// killed by signal 9 (SIGKILL)
}

// A text of a recording can't steer the terminal that shows it.
func ExamplePrintable() {
	fmt.Printf("%+q\n", wording.Printable("/cart\x1b[2J"))
	// Output:
	// "/cart\ufffd[2J"
}
