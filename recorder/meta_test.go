package recorder_test

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

func TestMeta(t *testing.T) {
	rec := begin(t, recorder.Options{Service: "shop", Version: "1.2", Attrs: map[string]string{"b": "2", "a": "1"}, Limit: 3 << 20, ChunkSize: 64 << 10, CPU: recorder.CPUPprof, CounterHz: 5})
	r := finish(t, rec)
	host, _ := os.Hostname()
	want := map[string]string{
		rawformat.MetaService: "shop", rawformat.MetaVersion: "1.2", rawformat.MetaAttr + "a": "1", rawformat.MetaAttr + "b": "2",
		rawformat.MetaPid: strconv.Itoa(os.Getpid()), rawformat.MetaHost: host, rawformat.MetaGo: runtime.Version(), rawformat.MetaGoos: runtime.GOOS,
		rawformat.MetaGoarch: runtime.GOARCH, rawformat.MetaCPUs: strconv.Itoa(runtime.GOMAXPROCS(0)), rawformat.MetaLimit: "3145728", rawformat.MetaChunkSize: "65536",
		rawformat.MetaCPU: "pprof", rawformat.MetaInterval: "10000000", rawformat.MetaCounterHz: "5", rawformat.MetaArg: os.Args[0],
	}
	for key, value := range want {
		if got := r.meta(key); got != value {
			t.Errorf("meta %s is %q, want %q", key, got, value)
		}
	}
	for _, key := range []string{rawformat.MetaExe, rawformat.MetaStartReal, rawformat.MetaStartMono, rawformat.MetaClock} {
		if r.meta(key) == "" {
			t.Errorf("no meta %s", key)
		}
	}
	if r.Instance != rec.Instance() || r.Pid != uint32(os.Getpid()) {
		t.Errorf("instance %x of pid %d, want %x of %d", r.Instance, r.Pid, rec.Instance(), os.Getpid())
	}
	start, _ := strconv.ParseUint(r.meta(rawformat.MetaStartMono), 10, 64)
	if r.Exit == nil || r.Exit.Reason != rawformat.ExitStopped || r.Exit.Monotonic <= start || r.Exit.RangeStart != 1 || r.Exit.RangeEnd <= 1 || r.Exit.Discarded != 0 {
		t.Errorf("exit %+v", r.Exit)
	}
}

// Meta has the options that the recorder was started with, and what the build adds.
func TestMetaSettings(t *testing.T) {
	r := finish(t, begin(t, recorder.Options{Features: recorder.FeatureMarkers | recorder.FeatureStacks, Tracks: []string{"worker *", "-worker 3"}}))
	race := ""
	if raceEnabled {
		race = "race"
	}
	for key, want := range map[string]string{rawformat.MetaFeature: "markers,stacks", rawformat.MetaTracks: "worker *,-worker 3", rawformat.MetaSlowed: race} {
		var got []string
		for _, m := range r.Meta {
			if m.Key == key {
				got = append(got, m.Value)
			}
		}
		if strings.Join(got, ",") != want {
			t.Errorf("meta %s is %q, want %s", key, got, want)
		}
	}
}

// Meta is completed while the program goes on, and what it said at first stays.
func TestMetaIsCompleted(t *testing.T) {
	rec := begin(t, recorder.Options{Service: "shop"})
	sampler := rec.Stats().Sampler
	first := read(t, rec.Dir(), chunks.Unproven, chunks.Stale).Meta
	waitFor(t, "the self-tests", func() bool {
		return read(t, rec.Dir(), chunks.Unproven, chunks.Stale).meta(rawformat.MetaSelfTest+"cpu") != ""
	})
	r := finish(t, rec)
	if !slices.Equal(r.Meta[:min(len(first), len(r.Meta))], first) {
		t.Errorf("%v at first, %v at last", first, r.Meta)
	}
	if got := r.meta(rawformat.MetaSelfTest + "cpu"); got != sampler {
		t.Errorf("self-test %q, but Stats said %q", got, sampler)
	}
}

// On every platform meta says for each trick whether it is in use, and if not, why.
func TestMetaTricks(t *testing.T) {
	r := finish(t, begin(t, recorder.Options{}))
	for _, trick := range []string{"session", "cpu", "counters", "clock", "faults", "writers", "stacks"} {
		if r.meta(rawformat.MetaSelfTest+trick) == "" {
			t.Errorf("meta does not say what is in use for %s", trick)
		}
	}
	if said := strings.HasPrefix(r.meta(rawformat.MetaSelfTest+"cpu"), "no samples"); said != (r.meta(rawformat.MetaCPU) == "off") {
		t.Errorf("CPU samples %s: %s", r.meta(rawformat.MetaCPU), r.meta(rawformat.MetaSelfTest+"cpu"))
	}
}
