//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package census

import (
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gprof/recorder/internal/rt"
)

// A goroutine that has moved to another place is seen there, even if its stack pointer is the
// same; one that stands still is not read again.
func TestStacksFollowTurns(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // while it has a stack, the goroutine is not seen
	last := &places{at: map[uint64]int32{}}
	c, err := Open(last)
	if err != nil {
		t.Fatal(err)
	}
	var steps atomic.Int32
	wake, began := make(chan bool), make(chan [2]uint64)
	go func() {
		began <- [2]uint64{uint64(rt.OwnG()), rt.GoroutineNumber()}
		for {
			steps.Add(1)
			if !waitLeft(wake) {
				return
			}
			steps.Add(1)
			if !waitRight(wake) {
				return
			}
		}
	}()
	who := <-began
	defer close(wake)
	var clock rt.Clock
	c.Round(&clock, time.Minute, 1, 1) // to know how long the list is
	for step := range int32(20) {
		for steps.Load() != step+1 || c.layout.state(static(uintptr(who[0]))).status != statusWaiting {
			runtime.Gosched()
		}
		want := []string{".waitLeft", ".waitRight"}[step%2]
		c.Round(&clock, time.Minute, 1, 1)
		at := last.at[who[1]]
		if !strings.Contains(last.stacks[at], want) {
			t.Fatalf("step %d: seen at %s, want %s", step, last.stacks[at], want)
		}
		if c.Round(&clock, time.Minute, 1, 1); last.at[who[1]] != at {
			t.Fatalf("step %d: the stack was read again", step)
		}
		wake <- true
	}
}

// While all goroutines stand still a round may stand for several, so that what they waited adds up.
func TestStill(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var rows counter
	c, err := Open(&rows)
	if err != nil {
		t.Fatal(err)
	}
	wake, moved := make(chan bool), make(chan bool)
	go func() {
		for waitLeft(wake) {
			moved <- true
		}
	}()
	defer close(wake)
	var clock rt.Clock
	still := func() {
		for c.Still() < 3 {
			c.Round(&clock, time.Minute, 1, 1)
			time.Sleep(time.Millisecond)
		}
	}
	still()
	wake <- true
	<-moved
	if c.Round(&clock, time.Minute, 1, 1); c.Still() > 0 {
		t.Errorf("still for %d rounds, but a goroutine has moved", c.Still())
	}
	still()
	c.Tally()
	before := rows
	if c.Round(&clock, time.Minute, 1, 8); rows.rounds-before.rounds != 8*(rows.rows-before.rows) {
		t.Errorf("%d rows of %d rounds, want 8 each", rows.rows-before.rows, rows.rounds-before.rounds)
	}
	if tally := c.Tally(); tally.Rounds != 1 || tally.Idle != 7 {
		t.Errorf("%+v", tally)
	}
}

//go:noinline
func waitLeft(c chan bool) bool { return <-c }

//go:noinline
func waitRight(c chan bool) bool { return <-c }

// places notes where each goroutine was seen last.
type places struct {
	stacks []string
	at     map[uint64]int32
}

func (p *places) Stack(calls []uintptr, _ Doing) int32 {
	frames := runtime.CallersFrames(append([]uintptr(nil), calls...))
	text := ""
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		text += " " + f.Function
	}
	p.stacks = append(p.stacks, text)
	return int32(len(p.stacks) - 1)
}

func (p *places) Row(goroutine uint64, stack int32, _ uint32, _ rt.Tick) { p.at[goroutine] = stack }
