package convert

import (
	"bytes"
	"strings"
	"testing"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// Profiles for the viewer tell whose goroutine a marker is, where that is known,
// and nothing where it is not.
func TestGoroutinesOfMarkers(t *testing.T) {
	for _, name := range []string{"gecko", "firefox"} {
		b := streamtest.NewBuilder()
		e := b.Event(stream.Event{Name: "step", Fields: []stream.EventField{{Name: "goroutine", Type: stream.Int}}})
		p := b.Process(stream.Process{Name: "shop", Start: 1})
		for i, of := range []int64{0, 17} {
			p.Main.Add(streamtest.Row{Series: stream.Series{Kind: stream.Markers, Event: e}, Time: stream.Time(i + 1), Args: []any{i}, Owner: stream.Owner{Goroutine: of}})
		}
		text := profile(t, name, b)
		for _, want := range []string{`{"type":"step","goroutine":0}`, `{"type":"step","goroutine":1,"goroutine_":17}`, `{"key":"goroutine_","format":"integer"}`} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %s in\n%s", name, want, text)
			}
		}
		none := streamtest.NewBuilder()
		none.Process(stream.Process{Name: "shop", Start: 1}).Main.Mark(1, stream.Instant, none.Event(stream.Event{Name: "step"}))
		if text := profile(t, name, none); strings.Contains(text, "goroutine") {
			t.Errorf("%s: of no goroutine something is said:\n%s", name, text)
		}
	}
}

func profile(t *testing.T, name string, b *streamtest.Builder) string {
	t.Helper()
	format, o, err := ByFormat(name)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	sink, err := format.New(&out, o)
	if err == nil {
		err = stream.Copy(sink, b.Source(), stream.CopyOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}
