package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gprof/fixtures/corpus"
)

// Of a large recording a part comes first, which says so, and then all, at the same address.
func TestViewGrowing(t *testing.T) {
	session := filepath.Join(t.TempDir(), "session")
	made, err := corpus.Write(session, corpus.Options{Bytes: 136_000_000, Stacks: 100, Processes: 2})
	if err != nil {
		t.Fatal(err)
	}
	address, ended := viewing(t, "--linger", "10s", session)
	_, profile, _ := strings.Cut(strings.ReplaceAll(strings.ReplaceAll(address, "%3A", ":"), "%2F", "/"), "from-url/")
	profile, _, _ = strings.Cut(profile, ".gz")
	size, first := length(t, profile+".gz"), shown(t, profile+".gz")
	if first.samples == 0 || first.samples > int64(made.Samples)/4 || !strings.Contains(first.name, " chunks of shop ") {
		t.Errorf("first %+v, of %d samples", first, made.Samples)
	}
	for ; length(t, profile+".gz") == size; time.Sleep(20 * time.Millisecond) {
	}
	last := shown(t, profile+".gz")
	if last.samples != int64(made.Samples) {
		t.Errorf("last %+v, of %d samples", last, made.Samples)
	}
	if strings.Contains(last.name, "chunks") {
		t.Errorf("last %+v", last)
	}
	code, stderr := ended()
	if code != 0 || !strings.Contains(stderr, "this is one of 8 chunks; reload the page when all are read\n") || !strings.Contains(stderr, "all is read: reload the page\n") {
		t.Errorf("exit code %d, stderr %s", code, stderr)
	}
}

// glance is what a profile shows: the name of a process, and samples by weight.
type glance struct {
	name    string
	samples int64
}

// length is how long what is served is now.
func length(t *testing.T, address string) int64 {
	t.Helper()
	res, err := http.Head(address)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.ContentLength
}

func shown(t *testing.T, address string) (g glance) {
	t.Helper()
	zipped, err := get(address, "https://profiler.firefox.com")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		t.Fatal(err)
	}
	var profile struct {
		Threads []struct {
			ProcessName string
			Samples     struct {
				Length int64
				Weight []int64
			}
		}
	}
	if err := json.NewDecoder(z).Decode(&profile); err != nil {
		t.Fatal(err)
	}
	for _, thread := range profile.Threads {
		g.name = thread.ProcessName
		if thread.Samples.Weight == nil {
			g.samples += thread.Samples.Length
		}
		for _, w := range thread.Samples.Weight {
			g.samples += w
		}
	}
	return g
}
