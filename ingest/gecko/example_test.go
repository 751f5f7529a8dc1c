package gecko_test

import (
	"fmt"
	"log"
	"strings"

	"gprof/ingest/gecko"
	"gprof/stream"
)

// A Gecko profile is opened; its processes are told before anything else is read.
func ExampleOpen() {
	text := `{"meta":{"version":36,"interval":1,"startTime":1767225600000,"processType":0,"product":"Firefox","stackwalk":1},
		"libs":[],"threads":[{"name":"GeckoMain","processName":"Parent Process","pid":7,"tid":7,
		"samples":{"schema":{"stack":0,"time":1},"data":[[null,5]]},
		"markers":{"schema":{"name":0,"startTime":1,"endTime":2,"phase":3,"category":4,"data":5},"data":[]},
		"stackTable":{"schema":{"prefix":0,"frame":1},"data":[]},
		"frameTable":{"schema":{"location":0},"data":[]},"stringTable":[]}],"processes":[]}`
	profile, err := gecko.Open(strings.NewReader(text), int64(len(text)))
	if err != nil {
		log.Fatal(err)
	}
	t := &stream.Tables{Processes: profile.Processes()}
	src := profile.Source(t, []stream.ProcessID{1}, 0)
	if err := stream.Copy(stream.Discard, src, stream.CopyOptions{}); err != nil {
		log.Fatal(err)
	}
	for _, p := range t.Processes {
		fmt.Println(p.Pid, p.Name, t.Tracks.Len(), "track")
	}
	// Output:
	// 7 Firefox 1 track
}
