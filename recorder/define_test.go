package recorder

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"gprof/rawformat"
	"gprof/recorder/internal/registry"
)

// forget undoes, at the end of a test, the definitions that the test makes.
func forget(t *testing.T) {
	t.Helper()
	t.Cleanup(registry.Defined.Sandbox(nil))
}

func defineMany(n int) (many []Event4[int, int, int, int]) {
	for i := range n {
		many = append(many, NewEvent4(fmt.Sprint("many ", i), Int("first"), Int("second"), Int("third"), Int("fourth")))
	}
	return many
}

// If there are more definitions than the dictionary takes, the first ones are used, and each of
// the others is counted once.
func TestMoreEventsThanFit(t *testing.T) {
	forget(t)
	many := defineMany(600)
	r := beginInternal(t, Options{Limit: 512 << 10})
	have := int(r.rec.Defined())
	if have < registry.Defined.Count()/4 || have == registry.Defined.Count() {
		t.Fatalf("%d of %d definitions written, want a part", have, registry.Defined.Count())
	}
	lost := func() uint64 { return r.rec.Lost(rawformat.LostDictionary) }
	if want := uint64(registry.Defined.Count() - have); lost() != want {
		t.Errorf("%d counted as lost, want %d", lost(), want)
	}
	before := lost()
	NewEvent("one more")
	if n := lost() - before; n != 1 {
		t.Errorf("one more definition counts %d", n)
	}
	before = lost()
	many[0].Mark(1, 2, 3, 4)
	if n := lost() - before; n != 0 {
		t.Error("the first event is not recorded")
	}
	many[599].Mark(1, 2, 3, 4)
	if n := lost() - before; n != 1 {
		t.Errorf("a marker without a definition counts %d", n)
	}
}

// A dictionary that takes no definition is an error, and no files stay behind.
func TestNoDefinitionFits(t *testing.T) {
	defer registry.Defined.Sandbox([][]byte{[]byte(strings.Repeat("x", 100<<10))})()
	dir := t.TempDir()
	if r, err := Start(Options{Dir: dir, Limit: 512 << 10}); !errors.Is(err, ErrSmall) {
		t.Errorf("%v, want %v", err, ErrSmall)
		r.Stop()
	}
	if left, _ := os.ReadDir(dir); len(left) > 1 {
		t.Errorf("left behind: %v", left)
	}
}
