//go:build (amd64 || arm64) && !gprof_portable && !go1.28

package recorder_test

import (
	"crypto/sha256"
	"strings"
	"sync"
	"testing"
	"time"

	"gprof/recorder"
)

var (
	parseLabel  = recorder.NewLabel("parse", recorder.Category("SQL", "green"))
	clauseLabel = recorder.NewLabel("clause")
	idleLabel   = recorder.NewLabel("idle")
)

// Each of the functions below is in the middle of a stack when samples are taken.

//go:noinline
func parseAll(d time.Duration) {
	defer parseLabel.Begin().End()
	for until := cpuTime() + d; cpuTime() < until; {
		parseClause()
		idleLabel.Begin().End() // it has ended when samples are taken
	}
}

//go:noinline
func parseClause() {
	scope := clauseLabel.Begin()
	inner := idleLabel.Begin()
	inner.End()
	growing(40) // the stack moves while the label is open
	scope.End()
}

//go:noinline
func growing(n int) (sum [32]byte) {
	var room [256]byte
	if n > 0 {
		sum = growing(n - 1)
		room[n] = sum[0]
		return sum
	}
	return crunch(room[:])
}

//go:noinline
func crunch(b []byte) (sum [32]byte) {
	for range 200 {
		sum = sha256.Sum256(b)
	}
	return sum
}

// A label lies in the stack where it was begun: between the function that began it and the
// functions that this one called.
func TestLabels(t *testing.T) {
	rec := begin(t, recorder.Options{SampleHz: 1000})
	done := make(chan bool)
	go func() { // on a small stack
		parseAll(700 * time.Millisecond)
		done <- true
	}()
	<-done
	r := finish(t, rec)
	whole := 0
	for _, s := range r.signalSamples(t) {
		if !s.in(".parseAll") {
			continue
		}
		var order []string
		for _, name := range s.names {
			switch name = name[strings.LastIndexAny(name, ".")+1:]; name {
			case "crunch", "parseClause", "parseAll", "label parse", "label clause", "label idle":
				order = append(order, name)
			}
		}
		got := strings.Join(order, ", ")
		if got == "crunch, label clause, parseClause, label parse, parseAll" {
			whole++
		} else if strings.Contains(got, "crunch") || strings.Contains(got, "idle") && strings.Contains(got, "crunch") {
			t.Errorf("stack %v", s.names)
		}
	}
	if whole < 20 {
		t.Errorf("%d samples under both labels", whole)
	}
}

// holdLabels has more goroutines in labels than there is room for, until the function that it returns is called.
func holdLabels() (release func()) {
	var begun, ended sync.WaitGroup
	wait := make(chan bool)
	for range 5000 {
		begun.Add(1)
		ended.Go(func() {
			defer parseLabel.Begin().End()
			begun.Done()
			<-wait
		})
	}
	begun.Wait()
	return func() { close(wait); ended.Wait() }
}

// That goroutines of an earlier recording leave no room for a label is no sign that labels don't work.
func TestLabelsWithoutRoom(t *testing.T) {
	rec := begin(t, recorder.Options{})
	release := holdLabels()
	finish(t, rec)
	test := finish(t, begin(t, recorder.Options{})).meta("self-test.cpu")
	release()
	if strings.Contains(test, "without labels") {
		t.Errorf("self-test: %s", test)
	}
}

// Labels do not allocate. They may end in any order, and twice.
func TestLabelsEnd(t *testing.T) {
	rec := begin(t, recorder.Options{})
	if n := leastAllocs(func() {
		a := parseLabel.Begin()
		b := clauseLabel.Begin()
		a.End()
		b.End()
		a.End()
		parseLabel.Begin().End()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	var deep []recorder.LabelScope
	for range 100 { // more than a goroutine can have
		deep = append(deep, parseLabel.Begin())
	}
	for _, s := range deep {
		s.End()
	}
	holdLabels()()
	r := finish(t, rec)
	if r.lost() == 0 {
		t.Error("no label was lost")
	}
}
