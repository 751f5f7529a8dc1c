package perf_test

import (
	"io"
	"log"
	"os"
	"strings"

	"gprof/convert"
	"gprof/ingest/perf"
	"gprof/stream"
)

// The output of perf script is read as events, and written here as folded
// stacks.
func ExampleOpenScript() {
	text := `shop 7/8 100.000001:     250000 cpu-clock:
	          401010 main.work+0x10 (/srv/shop)
	          402020 main.main+0x20 (/srv/shop)

`
	file, err := perf.OpenScript(func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil })
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
	// shop · pid 7;shop 8;main.main;main.work 1
}
