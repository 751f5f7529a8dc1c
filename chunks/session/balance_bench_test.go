package session

import (
	"fmt"
	"testing"
	"time"

	"gprof/rawformat"
)

// The cost of a tick: while there is room, and while a process waits for room that no
// other can give. The probe for dead owners is left out.
//
//	go -C chunks test ./session -run '^$' -bench Balance
func BenchmarkBalance(b *testing.B) {
	for _, processes := range []int{8, 64, 1000} {
		for _, want := range []int64{0, testFile} {
			b.Run(fmt.Sprintf("processes=%d/waiting=%v", processes, want > 0), func(b *testing.B) {
				s := crowd(b, processes)
				s.want = want
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
func crowd(b *testing.B, processes int) *Slot {
	c := openTestControl(b, b.TempDir(), Options{Limit: int64(processes) * 4 * testFile})
	s := &Slot{}
	for i := range processes {
		s = &Slot{c: c, member: Member{Instance: uint64(i + 1)}}
		must(b, c.locked(0, s.take))
		c.publish(s.at, &rawformat.Slot{Held: 4 * testFile, Chunk: testFile, Oldest: [3]int64{int64(1000 - i)}})
	}
	return s
}
