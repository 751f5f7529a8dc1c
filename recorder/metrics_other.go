//go:build !linux

package recorder

// systemMetrics are counters of the operating system: none here.
type systemMetrics struct{}

func (r *Recorder) probeSystem() {}

func (r *Recorder) probeThreads() {}

func (m *systemMetrics) close() error { return nil }
