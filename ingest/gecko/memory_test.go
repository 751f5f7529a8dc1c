package gecko

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// crowds are files of which each value takes memory while the file is read: rows, names
// and what is known of them.
func crowds() map[string]string {
	const n = 4000
	gecko := func(thread string) string {
		return `{"meta":{"version":36},"libs":[],"threads":[{"name":"a","samples":{"schema":{"time":0},"data":[[1]]},"stringTable":["0x10"],` + thread + `}]}`
	}
	numbered := func(format string) string {
		var out strings.Builder
		for i := range n {
			fmt.Fprintf(&out, format+",", i)
		}
		return out.String()
	}
	rows := strings.Repeat("[0],", n) + "[0]"
	markers := `"markers":{"schema":{"name":0,"startTime":1,"data":2},"data":[`
	return map[string]string{
		"schemas": `{"meta":{"version":36,"markerSchema":[` + numbered(`{"name":"%d","data":[{"key":"a"}]}`) + `{}]},"threads":[]}`,
		"members": `{"meta":{"version":36,"x":{` + numbered(`"%d":0`) + `"z":0}},"threads":[]}`,
		"frames":  gecko(`"frameTable":{"schema":{"location":0},"data":[` + rows + `]}`),
		"stacks":  gecko(`"frameTable":{"schema":{"location":0},"data":[[0]]},"stackTable":{"schema":{"frame":0},"data":[` + rows + `]}`),
		"types":   gecko(markers + numbered(`[0,1,{"type":"%d"}]`) + `[0,1]]}`),
		"libs":    `{"meta":{"version":36},"libs":[` + numbered(`{"name":"%d"}`) + `{}],"threads":[{"name":"a","samples":{"schema":{"time":0},"data":[[1]]}}]}`,
		"functions": `{"meta":{"version":36,"preprocessedProfileVersion":50},"libs":[],"threads":[{"name":"a","samples":{"length":1,"time":[1],"stack":[null]},` +
			`"stringArray":["a"],"funcTable":{"name":[` + strings.Repeat("0,", n) + `0]}}]}`,
	}
}

// The memory that reading a file takes counts against the ceiling: the run ends with the
// size that it needs. After the file it counts no more.
func TestHeldMemory(t *testing.T) {
	for name, text := range crowds() {
		t.Run(name, func(t *testing.T) {
			var tooMuch *stream.ErrMemory
			if err := stream.Copy(stream.Discard, sourceOf(t, text, 1), stream.CopyOptions{Memory: 128 << 10}); !errors.As(err, &tooMuch) {
				t.Errorf("under a small ceiling: %v", err)
			}
			if name != "frames" && name != "schemas" { // of the others something stays in the tables
				return
			}
			const files = 24 // one of which has room, but not all of them
			if err := stream.Copy(stream.Discard, sourceOf(t, text, files), stream.CopyOptions{Memory: 8 << 20}); err != nil {
				t.Errorf("%d files: %v", files, err)
			}
		})
	}
}

// sourceOf reads a file some times.
func sourceOf(t *testing.T, text string, times int) stream.Source {
	t.Helper()
	var sources []stream.Source
	tables := new(stream.Tables)
	for range times {
		p, err := Open(strings.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatal(err)
		}
		var ids []stream.ProcessID
		for _, row := range p.Processes() {
			tables.Processes = append(tables.Processes, row)
			ids = append(ids, stream.ProcessID(len(tables.Processes)))
		}
		sources = append(sources, p.Source(tables, ids, 0))
	}
	return stream.Merge(tables, sources...)
}

// Processes and threads of a file have a limit. Beyond it there is an error, and those
// before it are read.
func TestTooMany(t *testing.T) {
	for what, text := range map[string]string{
		"processes": `{"meta":{"version":36},"threads":[],"processes":[` + strings.Repeat(`{},`, maxProcesses) + `{}]}`,
		"threads":   `{"meta":{"version":36},"threads":[` + strings.Repeat(`{},`, maxThreads) + `{}]}`,
		"pids": func() string {
			var out bytes.Buffer
			for pid := range maxProcesses + 1 {
				fmt.Fprintf(&out, `{"pid":%d},`, pid)
			}
			return `{"meta":{"preprocessedProfileVersion":50},"threads":[` + out.String() + `{}]}`
		}(),
	} {
		p, err := Open(strings.NewReader(text), int64(len(text)))
		if !errors.Is(err, jsonfile.ErrMany) || p == nil {
			t.Fatalf("%s: %v", what, err)
		}
		if n := len(p.Processes()); what != "threads" && n != maxProcesses {
			t.Errorf("%s: %d processes", what, n)
		}
	}
}

// A file that was replaced after it was opened is an error.
func TestChanged(t *testing.T) {
	const two = `{"meta":{"version":36},"threads":[],"processes":[{}]}`
	const one = `{"meta":{"version":36},"threads":[],"processes":[  ]}`
	r := &changing{text: two}
	p, err := Open(r, int64(len(two)))
	if err != nil {
		t.Fatal(err)
	}
	r.text = one
	tables := &stream.Tables{Processes: p.Processes()}
	if err := stream.Copy(stream.Discard, p.Source(tables, []stream.ProcessID{1, 2}, 0), stream.CopyOptions{}); !errors.Is(err, errChanged) {
		t.Error(err)
	}
}

type changing struct{ text string }

func (c *changing) ReadAt(p []byte, off int64) (int, error) {
	return strings.NewReader(c.text).ReadAt(p, off)
}
