package rt

import "testing"

// Waking allocates nothing, and neither does a sleep after the first.
func TestNapAllocates(t *testing.T) {
	var n Nap
	defer n.Close()
	n.Sleep(1)
	if allocs := testing.AllocsPerRun(100, func() { n.Wake(); n.Sleep(far) }); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}
