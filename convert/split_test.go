package convert

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"gprof/stream"
	"gprof/stream/split"
	"gprof/stream/streamtest"
)

// neighbours are two processes that have nothing in common but the kinds of
// their rows: each name ends with that of its process.
func neighbours() *streamtest.Builder {
	b := streamtest.NewBuilder()
	for i, name := range []string{"Abel", "Berta"} {
		p := b.Process(stream.Process{Instance: uint64(i + 1), Pid: i + 1, Name: "prog" + name, Service: "service" + name, Host: "host" + name, Start: 1e9, End: 9e9})
		module := b.Tables.Modules.Intern(stream.Module{Build: fmt.Sprint("c0ffee", i), Name: "module" + name, Path: "/lib/module" + name})
		text := func(s string) stream.StringID { return b.Tables.Strings.Intern(s + name) }
		event := b.Event(stream.Event{Name: "event" + name, Fields: []stream.EventField{{Name: "field" + name, Type: stream.Text}}})
		track := p.Track("track" + name)
		track.Sample(2e9, b.StackOf(stream.Frame{Module: module, Offset: 16, Function: text("function"), File: text("/file"), Line: 3}))
		track.Mark(3e9, stream.Instant, event, "text"+name)
		p.Count(4e9, p.Counter(stream.Counter{Name: "counter" + name, Category: "Memory"}), 5, 1)
		p.Log(5e9, stream.LogInfo, "log"+name)
		b.Tables.Ledger.Add(stream.Line{Process: fmt.Sprintf("%016x", i+1), Reason: stream.ReasonGap, What: "what" + name, Count: 1})
	}
	return b
}

// unpacked is an output as it is before compression.
func unpacked(t *testing.T, data []byte) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return string(data)
	}
	all, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

// A file of one process holds nothing of another's, in any format.
func TestSplitHoldsItsOwn(t *testing.T) {
	for _, f := range Formats() {
		if f.Directory() {
			continue // is not split
		}
		t.Run(f.Name, func(t *testing.T) {
			files := map[string]*bytes.Buffer{}
			split := &split.Sink{Kinds: f.Kinds, Open: func(p split.Part) (stream.Sink, error) {
				files[p.Process.Name] = new(bytes.Buffer)
				return f.New(files[p.Process.Name], Options{Gzip: f.Packed})
			}}
			if err := stream.Copy(stream.NewOutput(split), neighbours().Source(), stream.CopyOptions{}); err != nil {
				t.Fatal(err)
			}
			for name, other := range map[string]string{"Abel": "Berta", "Berta": "Abel"} {
				text := unpacked(t, files["prog"+name].Bytes())
				if at := strings.Index(text, other); at >= 0 {
					t.Errorf("%s knows %s: %q", name, other, text[max(0, at-200):min(len(text), at+200)])
				}
				if !f.Binary && !strings.Contains(text, "function"+name) {
					t.Errorf("%s does not have its own function: %.1000s", name, text)
				}
			}
		})
	}
}

// Outputs that share cores are those of a run by itself.
func TestShareCores(t *testing.T) {
	b := neighbours()
	write := func(jobs int, cores Cores, to *bytes.Buffer, f Format) stream.Sink {
		sink, err := f.New(to, Options{Gzip: true, Jobs: jobs, Cores: cores})
		if err != nil {
			t.Fatal(err)
		}
		return stream.NewOutput(sink)
	}
	formats := slices.DeleteFunc(Formats(), Format.Directory)
	jobs, cores := ShareCores(2, len(formats))
	together := make([]bytes.Buffer, len(formats))
	var sinks []stream.Sink
	for i, f := range formats {
		sinks = append(sinks, write(jobs, cores, &together[i], f))
	}
	if err := stream.Copy(stream.Tee(sinks...), b.Source(), stream.CopyOptions{Jobs: 2, Outputs: len(sinks)}); err != nil {
		t.Fatal(err)
	}
	for i, f := range formats {
		var alone bytes.Buffer
		if err := stream.Copy(write(1, nil, &alone, f), b.Source(), stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(alone.Bytes(), together[i].Bytes()) {
			t.Errorf("%s: %d bytes among others, alone %d", f.Name, together[i].Len(), alone.Len())
		}
	}
}
