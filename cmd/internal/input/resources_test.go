package input

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

func TestSize(t *testing.T) {
	tests := []struct {
		text string
		want int64 // -1: refused
	}{
		{"0", 0}, {"4096", 4096}, {"4096b", 4096}, {"64MiB", 64 << 20}, {"10M", 10 << 20}, {"1g", 1 << 30}, {"2kb", 2048},
		{"", -1}, {"-1", -1}, {"1.5G", -1}, {"M", -1}, {"1T", -1}, {"1ib", -1}, {"1bk", -1}, {"99999999999G", -1}, {"9223372036854775807", -1}, {"1 M", -1},
	}
	for _, tt := range tests {
		got, err := parseSize(tt.text)
		if (err != nil) != (tt.want < 0) || err == nil && got != tt.want {
			t.Errorf("size %q is %d, %v; want %d", tt.text, got, err, tt.want)
		}
	}
}

// A small heap may grow by a multiple of itself, a large one by little; each collection
// decides anew.
func TestCollectorFollowsHeap(t *testing.T) {
	new(pacer).pace()
	for _, size := range []int{1 << 20, 128 << 20, 1 << 20} {
		live := make([]byte, size)
		small := size < smallGrowth
		for deadline := time.Now().Add(time.Minute); (growth(t) == heapGrowth) == small; runtime.GC() {
			if time.Now().After(deadline) {
				t.Fatalf("with %d bytes alive the heap may grow by %d %%", size, growth(t))
			}
		}
		runtime.KeepAlive(live)
	}
}

func growth(t *testing.T) uint64 {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	if metrics.Read(s); s[0].Value.Kind() != metrics.KindUint64 {
		t.Fatal("no metric", s[0].Name)
	}
	return s[0].Value.Uint64()
}

// Whoever asks for one core gets a runtime of one, and whoever asks for more than there are gets those.
func TestCores(t *testing.T) {
	all := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(all)
	for _, tt := range []struct{ jobs, want int }{{0, all}, {all + 1, all}, {1, 1}} {
		if (&Resources{Jobs: Cores(tt.jobs), Mem: 1 << 30}).Apply(); runtime.GOMAXPROCS(0) != tt.want {
			t.Errorf("-j %d: %d cores, want %d", tt.jobs, runtime.GOMAXPROCS(0), tt.want)
		}
	}
}
