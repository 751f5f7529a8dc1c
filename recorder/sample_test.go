package recorder

import (
	"errors"
	"gprof/recorder/internal/rt"
	"testing"
)

// The samples of one stack lie at even distances.
func TestSpreadEvenly(t *testing.T) {
	slots, err := spread([]cpuSample{{count: 100, cpu: 1_000_000_007}}, 5000, 1_000_005_000)
	if err != nil || len(slots) != 100 {
		t.Fatalf("%d samples, %v, want 100", len(slots), err)
	}
	cpu := int64(0)
	for i, s := range slots {
		cpu += s.cpu
		if want := 5000 + rt.Time(i)*10_000_000 + 5_000_000; s.at != want {
			t.Errorf("sample %d at %d, want %d", i, s.at, want)
		}
	}
	if cpu != 1_000_000_007 {
		t.Errorf("%d ns of CPU, want 1000000007", cpu)
	}
}

// Stacks take turns; each keeps its count and CPU.
func TestSpreadTakesTurns(t *testing.T) {
	rows := []cpuSample{{count: 3, cpu: 31}, {}, {count: 1, cpu: 7}, {count: 2, cpu: 20}}
	slots, err := spread(rows, 100, 700)
	if err != nil {
		t.Fatal(err)
	}
	want := []slot{{0, 150, 11}, {2, 250, 7}, {3, 350, 10}, {0, 450, 10}, {3, 550, 10}, {0, 650, 10}}
	if len(slots) != len(want) {
		t.Fatalf("%v, want %v", slots, want)
	}
	for i, s := range slots {
		if s != want[i] {
			t.Errorf("sample %d: %v, want %v", i, s, want[i])
		}
	}
}

func TestSpreadBounds(t *testing.T) {
	for name, rows := range map[string][]cpuSample{
		"negative": {{count: -1}},
		"cpu":      {{count: 1, cpu: -1}},
		"large":    {{count: 1 << 62}},
		"sum":      {{count: maxSamples}, {count: 1}},
	} {
		if _, err := spread(rows, 0, 1); !errors.Is(err, errProfile) {
			t.Errorf("%s: %v, want %v", name, err, errProfile)
		}
	}
	if slots, err := spread(nil, 0, 1); len(slots) != 0 || err != nil {
		t.Errorf("no rows: %v, %v", slots, err)
	}
}
