package attach

import (
	"errors"
	"time"
)

// Options say what is sampled, and where to. The zero value, but for the session,
// works.
type Options struct {
	Session string // directory of the session, made if it is missing
	Service string // "": the name of the program
	Limit   int64  // bytes of a session that is new; 0: 64 MiB
	Hz      int    // samples in a second of CPU time, up to MaxHz; 0: DefaultHz

	NoOffCPU   bool // leave out when and where threads are off the processor
	NoChildren bool // of processes that are begun from now on record nothing
	Tree       bool // sample also those that were begun before, and those of these

	// Child is the pid of a child of this process, whose status its parent tells when it
	// has ended, see chunks.WriteExit; 0: none.
	Child int
}

// Bounds of [Options.Hz].
const (
	DefaultHz = 1000
	MaxHz     = 20_000
)

// ErrRate means that Options.Hz is out of bounds.
var ErrRate = errors.New("samples in a second: want 1 to 20000")

// ErrEnded means that none of the processes lives.
var ErrEnded = errors.New("no such process")

func (o *Options) fill() error {
	if o.Hz == 0 {
		o.Hz = DefaultHz
	}
	if o.Hz < 1 || o.Hz > MaxHz {
		return ErrRate
	}
	return nil
}

func (o *Options) period() time.Duration { return time.Second / time.Duration(o.Hz) }

// Summary is what came of sampling.
type Summary struct {
	Dirs      []string // of the processes that were recorded
	Programs  []string // that they ran: paths of files, each once
	Samples   int      // of the CPU
	Waits     int      // times that a thread was off the processor
	Lost      uint64   // records for which the kernel's buffer had no room
	Unwritten []string // why processes were not recorded
}
