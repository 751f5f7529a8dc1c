package tables

import (
	"bytes"
	"strings"
	"testing"

	"gprof/stream"
)

// The name of a part tells what is missing from its processes, and nothing of what is
// missing from others.
func TestSessionOf(t *testing.T) {
	processes := []stream.Process{{Instance: 1}, {Instance: 2}, {Instance: 3}}
	nameOf := func(id stream.ProcessID, lines ...stream.Line) string {
		tables := &stream.Tables{Processes: processes}
		for _, l := range lines {
			tables.Ledger.Add(l)
		}
		s := &Sink{tables: tables, known: tables.Ledger.Lines()}
		return s.sessionOf([]stream.ProcessID{id})
	}
	lost := func(process uint64, what string) stream.Line {
		return stream.Line{Process: (&stream.Process{Instance: process}).InstanceName(), Reason: stream.ReasonTorn, What: what, Count: 1}
	}
	ofRun := stream.Line{Reason: stream.ReasonUnreadable, What: "files", Count: 1}
	for id := stream.ProcessID(1); id <= 3; id++ {
		whole := nameOf(id)
		for other := uint64(1); other <= 3; other++ {
			if got := nameOf(id, ofRun, lost(other, "pages")); (got == whole) != (other != uint64(id)) {
				t.Errorf("process %d: %s, and %s where %d lost something", id, whole, got, other)
			}
		}
		before, behind := lost(0, "pages"), lost(9, "pages")
		one, two := nameOf(id, before, lost(uint64(id), "blocks"), behind), nameOf(id, before, lost(uint64(id), "blocks"), lost(uint64(id), "pages"), behind)
		if one == two || one == whole {
			t.Errorf("process %d: %s whether it lost one thing or two", id, one)
		}
	}
}

// The name of a part stays when more is known of its process, and another part of it has another name.
func TestSessionOfWhat(t *testing.T) {
	nameOf := func(p stream.Process) string {
		return (&Sink{tables: &stream.Tables{Processes: []stream.Process{p}}}).sessionOf([]stream.ProcessID{1})
	}
	one, known, later := nameOf(stream.Process{Instance: 1}), nameOf(stream.Process{Instance: 1, Cores: 4, Traced: true}), nameOf(stream.Process{Instance: 1, End: 5})
	if one != known || one == later {
		t.Errorf("%s, %s if more is known, %s of more", one, known, later)
	}
}

// Names of directories are values that all readers take as they are, and as texts.
func TestFileName(t *testing.T) {
	for value, want := range map[string]string{
		"gc sweep": "gc sweep", "http.request": "http.request", "größe": "größe", "p(q), r+s@t-u_v": "p(q), r+s@t-u_v",
		"a/b": "a~2Fb", "a%20b": "a~2520b", "x=*?": "x~3D~2A~3F", "~": "~7E", "tab\t": "tab~09", "\xff": "~EF~BF~BD",
		"007": "~3007", "-1.5e3": "~2D1.5e3", "2026-11-18": "~32026-11-18", "True": "~54rue", "null": "~6Eull", "0x1f": "0x1f", "7 dwarfs": "7 dwarfs",
		".net": "~2Enet", "_gc": "~5Fgc", "..": "~2E.", " x": "~20x", "": "unknown",
	} {
		if got := fileName(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
	long := strings.Repeat("a", 300)
	if one, two := fileName(long+"1"), fileName(long+"2"); one == two || len(one) > 255 {
		t.Errorf("%q and %q", one, two)
	}
}

// Keys of arguments are different, whatever the fields are called.
func TestKeysOfFields(t *testing.T) {
	var fields []stream.EventField
	for _, name := range []string{"a", "a_2", "a", "a", "", "", `"q"`, "A"} {
		fields = append(fields, stream.EventField{Name: name})
	}
	got := string(bytes.Join(keysOfFields(fields), nil))
	if want := `"a":"a_2":"a_3":"a_4":"argument":"argument_2":"\"q\"":"A":`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
