package recorder

import (
	"bytes"
	"compress/gzip"
	"gprof/recorder/internal/rt"
	"io"
	"runtime/pprof"
	"sync"
)

// cpuProfiling is a CPU profile that is being taken. The process has one at a
// time, and anybody may end it: what the runtime has written to its end is over,
// and StopCPUProfile would end somebody else's.
type cpuProfiling struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	ended rt.Time // of the last write
}

// Write is for the runtime.
func (p *cpuProfiling) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = rt.Now()
	return p.buf.Write(b)
}

// start begins a profile; p must not be in use.
func (p *cpuProfiling) start() error {
	p.buf.Reset()
	return pprof.StartCPUProfile(p)
}

// stop ends the profile, unless somebody did, and returns it gzipped, with the
// time at which sampling ended. The bytes are p's until the next start.
func (p *cpuProfiling) stop() (gzipped []byte, end rt.Time) {
	if b, ended := p.written(); complete(b) {
		return b, ended
	}
	end = rt.Now()
	pprof.StopCPUProfile()
	b, _ := p.written()
	return b, end
}

func (p *cpuProfiling) written() ([]byte, rt.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.buf.Bytes(), p.ended
}

// complete reports whether a gzip stream has its end.
func complete(gzipped []byte) bool {
	z, err := gzip.NewReader(bytes.NewReader(gzipped))
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, z)
	return err == nil
}
