package compare

import (
	"math"
	"testing"

	"gprof/stream"
)

// Rates of a slice are those of the time that it holds, not of all that its processes lived.
func TestSecondsOfSlice(t *testing.T) {
	tables := &stream.Tables{Processes: []stream.Process{{Instance: 1, End: 100e9}, {Instance: 2, End: 100e9}}}
	tables.Ledger.Add(stream.Line{Process: tables.Process(1).InstanceName(), Reason: stream.ReasonLeftOut, Count: 1})
	s := New(math.MinInt64, math.MaxInt64)
	if err := s.Begin(tables); err != nil {
		t.Fatal(err)
	}
	s.first, s.last = 90e9, 95e9
	if sliced, whole := s.seconds(tables.Process(1)), s.seconds(tables.Process(2)); sliced != 5 || whole != 100 {
		t.Errorf("%g s of a slice, %g s of a whole recording", sliced, whole)
	}
}
