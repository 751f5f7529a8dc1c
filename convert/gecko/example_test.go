package gecko_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"

	"gprof/convert"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// The profile is one JSON object, in which each track is a thread.
func Example() {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 7, Name: "shop"})
	p.Track("worker").Sample(1000, b.Stack("main.main", "main.work"))

	format, options, err := convert.ByFormat("gecko")
	if err != nil {
		log.Fatal(err)
	}
	var out bytes.Buffer
	sink, err := format.New(&out, options)
	if err != nil {
		log.Fatal(err)
	}
	if err := stream.Copy(sink, b.Source(), stream.CopyOptions{}); err != nil {
		log.Fatal(err)
	}
	var profile struct {
		Meta    struct{ Version int }
		Threads []struct{ Name string }
	}
	if err := json.Unmarshal(out.Bytes(), &profile); err != nil {
		log.Fatal(err)
	}
	fmt.Println(profile.Meta.Version, profile.Threads)
	// Output:
	// 36 [{GeckoMain} {worker}]
}
