package trigger

import (
	"fmt"
	"testing"
	"time"
)

// look looks at a rule ten times a second for 20 s, at readings that step gives by the second, and returns
// when it acted and how often it was held back.
func look(t *testing.T, text string, step func(second float64, tr *Trigger, r *Readings)) (acted []float64, held uint64) {
	t.Helper()
	rule, err := ParseOne(text, false)
	if err != nil {
		t.Fatal(err)
	}
	tr := &Trigger{Rule: rule}
	r := Readings{Known: true, Processors: 2}
	for i := range 200 {
		r.Now = time.Duration(i) * 100 * time.Millisecond
		step(r.Now.Seconds(), tr, &r)
		if f, fires := tr.Look(&r); fires {
			acted = append(acted, r.Now.Seconds())
			held += f.Held
		}
	}
	return acted, held + tr.TakeHeld()
}

func TestConditions(t *testing.T) {
	busy := func(from, to float64, share float64) func(float64, *Trigger, *Readings) {
		return func(s float64, _ *Trigger, r *Readings) {
			if s >= from && s < to {
				r.CPU += time.Duration(share * float64(100*time.Millisecond))
			}
		}
	}
	for _, c := range []struct {
		rule string
		step func(float64, *Trigger, *Readings)
		want string // when it acted within 20 s, and how often it was held back
	}{
		// Of two processors 1.8 are 90 %, over a little more than 5 s.
		{"cpu>80% for 5s: mark", busy(10, 17, 1.8), "[14.8] 0"},
		{"cpu>80% for 5s: mark", busy(10, 14, 2), "[] 0"},
		{"cpu>80% for 5s: mark", busy(10, 60, 1.5), "[] 0"},
		// For ever: each second, but once in 5 s.
		{"cpu>80%: mark every 5s", busy(0, 100, 2), "[1 6.5 12 17.5] 14"},
		{"goroutines>10 for 1s: mark every 3s", func(s float64, _ *Trigger, r *Readings) {
			r.Goroutines = 10
			if s >= 2 && s < 2.9 || s >= 4 {
				r.Goroutines = 11
			}
		}, "[5 8 11 14 17] 10"},
		{"heap>90%: mark every 10s", func(s float64, _ *Trigger, r *Readings) { r.Memory = s / 10 }, "[9.1 19.1] 107"},
		{"heap>90%: mark", func(s float64, _ *Trigger, r *Readings) { r.Memory, r.Known = 1, false }, "[] 0"},
		// Garbage collection counts where the program does something.
		{"gc>25%: mark", func(s float64, _ *Trigger, r *Readings) { r.CPU += 50e6; r.GC += 20e6 }, "[1] 17"},
		{"gc>25%: mark", func(s float64, _ *Trigger, r *Readings) { r.CPU += 5e6; r.GC += 4e6 }, "[] 0"},
		{"request>1s: mark every 2s", counts(func(s float64) (all, over uint64) { return 0, uint64(s / 5) }), "[5 10 15] 0"},
		{"request>1s: mark every 2s", counts(func(s float64) (all, over uint64) { return 0, uint64(s * 10) }), "[0.1 2.1 4.1 6.1 8.1 10.1 12.1 14.1 16.1 18.1] 189"},
		// One in a hundred is no more than that; with fewer than a hundred nobody knows.
		{"p99(request)>1s: mark", counts(func(s float64) (all, over uint64) { return uint64(s * 100), uint64(s) }), "[] 0"},
		{"p99(request)>1s: mark", counts(func(s float64) (all, over uint64) { return uint64(s * 100), uint64(s * 1.2) }), "[10] 0"},
		{"p99(request)>1s: mark", counts(func(s float64) (all, over uint64) { return uint64(s * 9), uint64(s * 9) }), "[] 0"},
		{"p50(request)>1s for 1s: mark every 5s", counts(func(s float64) (all, over uint64) { return uint64(s * 10), uint64(s * 9) }), "[1 6 11 16] 15"},
	} {
		if acted, held := look(t, c.rule, c.step); fmt.Sprint(acted, held) != c.want {
			t.Errorf("%s: %v %d, want %s", c.rule, acted, held, c.want)
		}
	}
}

// counts has a rule read what was counted by some second.
func counts(of func(second float64) (all, over uint64)) func(float64, *Trigger, *Readings) {
	return func(s float64, tr *Trigger, r *Readings) {
		tr.Read = func() Counted {
			all, over := of(s)
			return Counted{All: all, Over: over, Longest: time.Second}
		}
	}
}

// That a rule is held back can be told at once, the first time after it acted; a limit is named.
func TestHeldFirst(t *testing.T) {
	rule, err := ParseOne("heap>70%: mark every 10s", false)
	if err != nil {
		t.Fatal(err)
	}
	tr, got := &Trigger{Rule: rule}, ""
	for s := range 23 {
		f, fires := tr.Look(&Readings{Known: true, Now: time.Duration(s) * time.Second, Memory: 0.9, Limit: "GOMEMLIMIT"})
		if fires {
			got += fmt.Sprintf("%d %s, ", s, f.Value)
		}
		if tr.HeldFirst() {
			got += fmt.Sprintf("%d held %d, ", s, tr.TakeHeld())
		}
	}
	if want := "0 90 % of GOMEMLIMIT, 1 held 1, 10 90 % of GOMEMLIMIT, 11 held 1, 20 90 % of GOMEMLIMIT, 21 held 1, "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A rule whose work failed waits; one that is switched off does nothing.
func TestPauseAndOff(t *testing.T) {
	tr := &Trigger{Rule: Rule{On: Own, Every: time.Second}, Check: func() bool { return true }}
	r := Readings{}
	if _, fires := tr.Look(&r); !fires {
		t.Error("it does not fire")
	}
	tr.Pause(0, time.Minute)
	r.Now = 59 * time.Second
	if _, fires := tr.Look(&r); fires || tr.Held != 1 {
		t.Errorf("it fires, or was held back %d times", tr.Held)
	}
	r.Now = time.Minute
	if f, fires := tr.Look(&r); !fires || f.Held != 1 {
		t.Errorf("%v, %v", f, fires)
	}
	tr.Off = "for a reason"
	r.Now = time.Hour
	if _, fires := tr.Look(&r); fires || tr.TakeHeld() != 0 {
		t.Error("it fires while it is off")
	}
}
