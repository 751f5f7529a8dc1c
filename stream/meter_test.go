package stream

import "testing"

// Reports come in order, at least every 256th of the whole, but no more often
// than that or than the smallest step.
func TestMeter(t *testing.T) {
	for _, test := range []struct{ total, known, step, want int64 }{
		{10 * minStep, 10 * minStep, minStep / 4, 11},
		{10 * minStep, 0, minStep / 4, 11},
		{1000 * minStep, 1000 * minStep, minStep, 251},
		{minStep - 1, minStep - 1, 1000, 1},
		{0, 0, 1, 1},
	} {
		calls, last := int64(0), int64(0)
		m := meter{phase: PhaseReading, report: func(done, total int64, phase string) {
			if done < last || total != test.known && done != test.total || phase != PhaseReading {
				t.Errorf("%+v: %d of %d after %d, %s", test, done, total, last, phase)
			}
			calls, last = calls+1, done
		}}
		for done := int64(0); done < test.total; done += test.step {
			m.to(done, test.known)
		}
		m.to(test.total, test.known)
		m.finish()
		if last != test.total || calls < test.want-1 || calls > test.want+1 {
			t.Errorf("%+v: %d calls, the last for %d", test, calls, last)
		}
	}
}
