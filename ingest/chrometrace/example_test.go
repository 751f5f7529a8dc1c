package chrometrace_test

import (
	"fmt"
	"log"
	"strings"

	"gprof/ingest/chrometrace"
)

// Each pid of a trace is a process.
func ExampleOpen() {
	const text = `[{"ph":"M","pid":7,"tid":7,"name":"process_name","args":{"name":"shop"}},
		{"ph":"X","pid":7,"tid":8,"ts":100,"dur":20,"name":"query"}]`
	f, err := chrometrace.Open(strings.NewReader(text), int64(len(text)))
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range f.Processes() {
		fmt.Println(p.Name, p.Pid, p.End-p.Start, "ns")
	}
	// Output:
	// shop 7 20000 ns
}
