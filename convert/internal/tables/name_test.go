package tables

import (
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
		return stream.Line{Process: instance(process), Reason: stream.ReasonTorn, What: what, Count: 1}
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
