package session

import (
	"fmt"
	"testing"
	"time"

	"gprof/rawformat"
)

// The cost of a tick: while there is room, and while a process waits for room that no
// other can give; also where all others are children that ended cleanly. The probe for
// dead owners is left out.
//
//	go -C chunks test ./session -run '^$' -bench Balance
func BenchmarkBalance(b *testing.B) {
	for _, processes := range []int{8, 64, 1000} {
		for _, c := range []struct {
			want     int64
			children bool
		}{{}, {want: testFile}, {testFile, true}} {
			b.Run(fmt.Sprintf("processes=%d/waiting=%v/children=%v", processes, c.want > 0, c.children), func(b *testing.B) {
				s := crowd(b, processes, c.children)
				s.want = c.want
				now := time.Now()
				s.probed = now
				b.ReportAllocs()
				for b.Loop() {
					s.surveyed = time.Time{}
					if err := s.Balance(now); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// crowd is a slot in a full session of that many processes.
func crowd(b *testing.B, processes int, children bool) *Slot {
	c := openTestControl(b, b.TempDir(), Options{Limit: int64(processes) * 4 * testFile})
	s := &Slot{}
	for i := range processes {
		s = &Slot{c: c, member: Member{Instance: uint64(i + 1)}}
		must(b, c.locked(0, s.take))
		c.publish(s.at, &rawformat.Slot{Held: 4 * testFile, Chunk: testFile, Oldest: [3]int64{int64(1000 - i)}})
		if children && i < processes-1 {
			s.store(rawformat.OffSlotOwner, uint64(rawformat.SlotChild)<<32)
			s.store(rawformat.OffSlotParent, uint64(processes))
			s.store(rawformat.OffSlotEnded, uint64(i*7919%processes+1))
		}
	}
	return s
}
