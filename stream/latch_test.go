package stream

import (
	"errors"
	"fmt"
	"sync"
	"testing"
)

func TestFailureLatch(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	var l FailureLatch
	l.Set(nil)
	l.SetFrom(nil) // one that cannot fail
	if l.Failed() || l.Err() != nil || !l.Fallible() {
		t.Fatalf("a latch that was not set has failed: %v", l.Err())
	}
	l.Set(first)
	l.Set(second)
	l.Set(nil)
	if l.Err() != first || !l.Failed() {
		t.Errorf("the reason is %v, want %v", l.Err(), first)
	}
	var other FailureLatch
	l.SetFrom(&other) // is fine
	if l.Err() != first {
		t.Errorf("a latch that is fine changes the reason to %v", l.Err())
	}
	other.Set(second)
	l.SetFrom(&other) // has failed already
	if l.Err() != first {
		t.Errorf("the reason of another latch replaces it: %v", l.Err())
	}
	var fresh FailureLatch
	fresh.SetFrom(&other)
	if fresh.Err() != second {
		t.Errorf("the reason is %v, want that of the other latch", fresh.Err())
	}
}

func TestInfallibleLatch(t *testing.T) {
	var never *FailureLatch
	if never.Failed() || never.Fallible() {
		t.Error("a nil latch can fail")
	}
	never.Set(nil)
	never.SetFrom(new(FailureLatch))
	defer func() {
		if recover() == nil {
			t.Error("a nil latch was set")
		}
	}()
	never.Set(errors.New("failed"))
}

// Of many that fail at a time one is the first, for all that ask.
func TestLatchShared(t *testing.T) {
	var l FailureLatch
	var seen [8]error
	var all sync.WaitGroup
	for i := range seen {
		all.Go(func() {
			l.Set(fmt.Errorf("reason %d", i))
			seen[i] = l.Err()
		})
	}
	all.Wait()
	for _, err := range seen {
		if err == nil || err != l.Err() {
			t.Errorf("one was told %v, the reason is %v", err, l.Err())
		}
	}
}
