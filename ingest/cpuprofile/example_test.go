package cpuprofile_test

import (
	"fmt"
	"log"
	"strings"

	"gprof/ingest/cpuprofile"
)

// A profile tells how long it took, but not when that was.
func ExampleOpen() {
	const text = `{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"children":[2]},
		{"id":2,"callFrame":{"functionName":"add","scriptId":"7","url":"file:///srv/cart.js","lineNumber":3,"columnNumber":12}}],
		"startTime":5000,"endTime":8000,"samples":[2,2],"timeDeltas":[1000,1000]}`
	f, err := cpuprofile.Open(strings.NewReader(text), int64(len(text)))
	if err != nil {
		log.Fatal(err)
	}
	p := f.Processes()[0]
	fmt.Println(p.Name, p.End-p.Start, "ns")
	// Output:
	// JavaScript 3000000 ns
}
