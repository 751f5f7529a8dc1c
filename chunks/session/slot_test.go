package session

import (
	"sync"
	"testing"

	"gprof/rawformat"
)

// The session never holds more than its limit, even if many processes grow at once, and a
// process that was refused holds what it held before.
func TestSlotGrow(t *testing.T) {
	const processes, limit = 8, 50 * testFile
	session := t.TempDir()
	c := openTestControl(t, session, Options{Limit: limit})
	slots := make([]*Slot, processes)
	for i := range slots {
		lockInstance(t, session, uint64(i+1))
		var err error
		slots[i], err = c.Join(Member{Instance: uint64(i + 1)})
		must(t, err)
	}
	grown := make([]int64, processes)
	var work sync.WaitGroup
	for i, s := range slots {
		work.Go(func() {
			for range 100 {
				if s.Grow(testFile) {
					grown[i] += testFile
				}
			}
		})
	}
	work.Wait()
	sum := int64(0)
	for i, s := range slots {
		sum += grown[i]
		if held := int64(s.load(rawformat.OffSlotHeld)); held != grown[i] {
			t.Errorf("slot %d holds %d, want %d", i, held, grown[i])
		}
	}
	if sum > limit || sum < limit/2 {
		t.Errorf("%d bytes in all, limit %d", sum, limit)
	}
	if room := limit - sum; room > 0 && !slots[0].Grow(room) || slots[0].Grow(1) {
		t.Error("what is free is not granted, or what is not is")
	}
}
