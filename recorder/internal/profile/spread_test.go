package profile

import (
	"errors"
	"testing"

	"gprof/recorder/internal/rt"
)

// The samples of one stack lie at even distances.
func TestSpreadEvenly(t *testing.T) {
	slots, err := Spread([]Sample{{Count: 100, CPU: 1_000_000_007}}, 5000, 1_000_005_000)
	if err != nil || len(slots) != 100 {
		t.Fatalf("%d samples, %v, want 100", len(slots), err)
	}
	cpu := int64(0)
	for i, s := range slots {
		cpu += s.CPU
		if want := 5000 + rt.Time(i)*10_000_000 + 5_000_000; s.At != want {
			t.Errorf("sample %d at %d, want %d", i, s.At, want)
		}
	}
	if cpu != 1_000_000_007 {
		t.Errorf("%d ns of CPU, want 1000000007", cpu)
	}
}

// Stacks take turns; each keeps its count and CPU.
func TestSpreadTakesTurns(t *testing.T) {
	rows := []Sample{{Count: 3, CPU: 31}, {}, {Count: 1, CPU: 7}, {Count: 2, CPU: 20}}
	slots, err := Spread(rows, 100, 700)
	if err != nil {
		t.Fatal(err)
	}
	want := []Slot{{0, 150, 11}, {2, 250, 7}, {3, 350, 10}, {0, 450, 10}, {3, 550, 10}, {0, 650, 10}}
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
	for name, rows := range map[string][]Sample{
		"negative": {{Count: -1}},
		"cpu":      {{Count: 1, CPU: -1}},
		"large":    {{Count: 1 << 62}},
		"sum":      {{Count: maxSamples}, {Count: 1}},
	} {
		if _, err := Spread(rows, 0, 1); !errors.Is(err, errProfile) {
			t.Errorf("%s: %v, want %v", name, err, errProfile)
		}
	}
	if slots, err := Spread(nil, 0, 1); len(slots) != 0 || err != nil {
		t.Errorf("no rows: %v, %v", slots, err)
	}
}
