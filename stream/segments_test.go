package stream

import (
	"errors"
	"testing"
)

// Batches come in order, the error after them, and stop ends the calls at any point.
func TestAhead(t *testing.T) {
	done := errors.New("done")
	for asked := range 6 {
		calls := 0
		a := startAhead(func(b *Batch) error {
			b.Reset(Series{Process: ProcessID(calls)}, 0)
			if calls++; calls == 5 {
				return done
			}
			return nil
		})
		var b Batch
		for i := range asked {
			if err := a.next(&b); i < 4 && err != nil || i == 4 && err != done || b.Series.Process != ProcessID(i) {
				t.Errorf("call %d gives batch %d, error %v", i, b.Series.Process, err)
			}
		}
		a.stop()
		if most := asked + aheadBatches; calls < asked || calls > most {
			t.Errorf("%d calls for %d batches, want at most %d", calls, asked, most)
		}
	}
}
