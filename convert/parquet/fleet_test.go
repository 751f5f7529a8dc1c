package parquet

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/convert/internal/tables"
	"gprof/fixtures/judges"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// dataset is a directory of the file system to which runs are added.
type dataset string

func (d dataset) Create(name string) (io.WriteCloser, error) {
	path := filepath.Join(string(d), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	return os.Create(path)
}

// The query of a release's slowest requests, asked of many dumps of several
// versions, each converted apart, tells what a sort tells.
func TestP99ByVersion(t *testing.T) {
	t.Parallel()
	const dumps, versions, requests = 24, 3, 40
	dir, took := t.TempDir(), map[string][]int64{}
	for i := range dumps {
		b := streamtest.NewBuilder()
		version := fmt.Sprint("1.", i%versions)
		p := b.Process(stream.Process{Instance: uint64(i + 1), Pid: i + 1, Service: "shop", Version: version, Start: begin + stream.Time(i)*second})
		request := b.Event(stream.Event{Name: "request"})
		for n := range requests {
			d := int64(1_000_000 + (i*7919+n*104_729)%1_000_003 + i%versions*500_000)
			took[version] = append(took[version], d)
			p.Main.Interval(begin+stream.Time(n)*second, d, request)
		}
		if err := stream.Copy(New(dataset(dir), tables.Options{}), b.Source(), stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	var want []judges.Row
	for i := range versions {
		version := fmt.Sprint("1.", i)
		all := slices.Sorted(slices.Values(took[version]))
		at := func(hundredths int) float64 { return float64(all[(len(all)*hundredths+99)/100-1]) / 1e6 }
		want = append(want, judges.Row{"event": "request", "service": "shop", "version": version, "intervals": fmt.Sprint(len(all)),
			"processes": fmt.Sprint(dumps / versions), "p50_ms": at(50), "p99_ms": at(99)})
	}
	if diff := cmp.Diff(want, ask(t, dir, query(t, dir, "p99-by-version.sql"))[0]); diff != "" {
		t.Error(diff)
	}
}
