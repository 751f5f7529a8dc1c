package stream

import (
	"errors"
	"testing"
)

// Batches come in order, the error after them, and stop ends the calls at any point, whether batches are small or large.
func TestAhead(t *testing.T) {
	done := errors.New("done")
	rows := func(i int) int { return i % 7 / 6 * (smallRows + 1) } // each seventh is large
	const all = 3*groupBatches + 1
	for asked := range all + 2 {
		calls := 0
		a := startAhead(func(b *Batch) error {
			b.Reset(Series{Process: ProcessID(calls)}, 1)
			for range rows(calls) {
				b.Time = append(b.Time, Time(calls))
				b.Args[0].AppendText([]byte{byte(calls)})
			}
			if calls++; calls > all {
				return done
			}
			return nil
		})
		var b Batch
		for i := range asked {
			if err := a.next(&b); i < all && err != nil || i == all && err != done || b.Series.Process != ProcessID(i) || b.Len() != rows(i) || b.Len() > 0 && (b.Time[0] != Time(i) || string(b.Args[0].TextAt(0)) != string([]byte{byte(i)})) {
				t.Errorf("call %d gives batch %d of %d rows, error %v", i, b.Series.Process, b.Len(), err)
			}
		}
		a.stop()
		if most := asked + (aheadGroups+1)*groupBatches; calls < asked || calls > most {
			t.Errorf("%d calls for %d batches, want at most %d", calls, asked, most)
		}
	}
}
