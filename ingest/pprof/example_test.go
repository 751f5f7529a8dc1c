package pprof_test

import (
	"bytes"
	"io"
	"log"
	"os"

	"github.com/google/pprof/profile"

	"gprof/convert"
	"gprof/ingest/pprof"
	"gprof/stream"
)

// A profile is one process, whose samples are events. Here they are written as
// folded stacks.
func ExampleOpen() {
	work := &profile.Function{ID: 1, Name: "main.work"}
	shop := &profile.Mapping{ID: 1, File: "/srv/shop"}
	at := &profile.Location{ID: 1, Mapping: shop, Line: []profile.Line{{Function: work, Line: 12}}}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}},
		Sample:     []*profile.Sample{{Location: []*profile.Location{at}, Value: []int64{3}}},
		Mapping:    []*profile.Mapping{shop},
		Location:   []*profile.Location{at},
		Function:   []*profile.Function{work},
	}
	var data bytes.Buffer
	if err := p.WriteUncompressed(&data); err != nil {
		log.Fatal(err)
	}
	file, err := pprof.Open(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data.Bytes())), nil })
	if err != nil {
		log.Fatal(err)
	}
	t := &stream.Tables{Processes: file.Processes()}
	format, options, err := convert.ByFormat("folded")
	if err != nil {
		log.Fatal(err)
	}
	sink, err := format.New(os.Stdout, options)
	if err != nil {
		log.Fatal(err)
	}
	if err := stream.Copy(sink, file.Source(t, []stream.ProcessID{1}, 0), stream.CopyOptions{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// shop;shop;main.work 3
}
