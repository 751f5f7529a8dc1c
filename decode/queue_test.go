package decode

import (
	"testing"

	"gprof/chunks"
)

// Processes with small dictionaries are prepared side by side. A process
// without room for its dictionaries waits until those before it are finished;
// the first never waits.
func TestLargeDictionariesTakeTurns(t *testing.T) {
	var all []*process
	for i, size := range []int64{300, 40, 10, 10} {
		found := &chunks.Process{Dicts: []*chunks.Dict{{Size: size}, {Size: size}}}
		all = append(all, &process{Input: Input{Found: found}, number: i})
	}
	q := newQueue(all)
	q.room = 145
	prepare := func(p *process) {
		t.Helper()
		if j, ok := q.take(); !ok || !j.prepare || j.process != p {
			t.Fatalf("got the job %+v, want to prepare process %d", j, p.number)
		}
	}
	waits := func(p *process) {
		t.Helper()
		if q.fits(p) {
			t.Fatalf("process %d is to wait: %d of %d bytes are held", p.number, q.held, q.room)
		}
	}
	prepare(all[0]) // takes more than there is room for, but nobody else does
	q.prepared(all[0])
	waits(all[1])
	q.finished(all[0])
	prepare(all[1]) // 120 with the file that is read, then 80
	waits(all[2])
	q.prepared(all[1])
	prepare(all[2]) // 110, then 100
	q.prepared(all[2])
	prepare(all[3])
	q.prepared(all[3])
	for _, p := range all[1:] {
		q.finished(p)
	}
	if q.held != 0 || q.open != 0 {
		t.Errorf("%d bytes of %d processes are held in the end", q.held, q.open)
	}
	if j, ok := q.take(); ok {
		t.Errorf("got the job %+v, want none", j)
	}
}
