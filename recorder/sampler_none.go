//go:build !linux || !amd64 || gprof_portable

package recorder

import (
	"errors"
	"runtime"
)

// sampler takes CPU samples by signals; here it can't.
type sampler struct{}

func (*sampler) open(*Recorder, int) error {
	return errors.New("not built for " + runtime.GOOS + "/" + runtime.GOARCH)
}

func (*sampler) describe(int) string { return "" }
func (*sampler) round(*Recorder)     {}
func (*sampler) rest()               {}
func (*sampler) samplePeriod() int64 { return 0 }
func (*sampler) close(*Recorder)     {}

func noteLabels(*Track) {}
