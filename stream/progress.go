package stream

// A report is made after another 256th of the whole, but not more often than
// after minStep bytes or rows, which take about a tenth of a second or less.
const (
	reports = 256
	minStep = 1 << 18
)

// meter reports progress, now and then. It has no clock: how often it reports
// depends on the input alone.
type meter struct {
	report      func(done, total int64, phase string)
	phase       string
	done, total int64
	last        int64 // done as reported
}

// to says that done of total is done.
func (m *meter) to(done, total int64) {
	m.done, m.total = done, total
	if m.report != nil && done-m.last >= max(total/reports, minStep) {
		m.last = done
		m.report(done, total, m.phase)
	}
}

// finish reports the end of the phase.
func (m *meter) finish() {
	if m.report != nil {
		m.report(m.done, max(m.done, m.total), m.phase)
	}
}
