package recorder

import (
	"runtime"
	"testing"

	"gprof/chunks/session"
	"gprof/rawformat"
)

// What was lost before a stop is told before it, too: afterwards there is no
// chunk for it but those that hold something.
func TestLossesBeforeAStop(t *testing.T) {
	r := beginInternal(t, Options{Limit: 4 << 20})
	control, err := session.Open(r.session, session.Options{Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	r.rec.Lose(rawformat.LostTooBig, 3, 0)
	generation, err := control.Command(rawformat.CommandStop)
	if err != nil {
		t.Fatal(err)
	}
	for obeyed := false; !obeyed; runtime.Gosched() {
		slots, err := control.Slots()
		if err != nil {
			t.Fatal(err)
		}
		obeyed = len(slots) == 1 && slots[0].Obeyed == generation
	}
	if got := losses(t, r.dir)[rawformat.LostTooBig]; got != 3 {
		t.Errorf("%d losses are told, want 3", got)
	}
	before := r.keeper.Ring().Discarded()
	if err := r.Stop(); err != nil || r.keeper.Ring().Discarded() != before {
		t.Errorf("%v, %d chunks discarded by Stop", err, r.keeper.Ring().Discarded()-before)
	}
}
