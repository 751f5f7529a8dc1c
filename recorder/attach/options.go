package attach

import (
	"errors"
	"runtime"
	"time"

	"gprof/rawformat/callframe"
)

// Options say what to sample, and where to record it. Only Session must be set.
type Options struct {
	Session string // directory of the session, made if it is missing
	Service string // "": the name of the program
	Limit   int64  // bytes that a new session may take; 0: 64 MiB
	Hz      int    // samples per second of CPU time, up to MaxHz; 0: DefaultHz

	// StackBytes is how much of a thread's stack is copied with each sample, so that calls of code
	// without frame pointers can be followed, up to MaxStackBytes. 0: none; calls are followed by
	// frame pointers alone.
	StackBytes int

	NoOffCPU   bool // leave out when and where threads are off the processor
	NoChildren bool // do not sample processes that are begun from now on
	Tree       bool // also sample descendants that were begun before

	// Child is the pid of a child of this process, 0: none. Its parent writes its exit status
	// when it has ended, see session.WriteExit.
	Child int
}

// Bounds of [Options.Hz].
const (
	DefaultHz = 1000
	MaxHz     = 20_000
)

// ErrRate means that Options.Hz is out of bounds.
var ErrRate = errors.New("samples in a second: want 1 to 20000")

// Sizes of [Options.StackBytes].
const (
	DefaultStackBytes = 16 << 10
	MaxStackBytes     = 63 << 10 // a record of the kernel has 64 KiB
)

// Errors of [Options.StackBytes].
var (
	ErrStackBytes = errors.New("bytes of a stack: want 0 to 64512")
	ErrMachine    = errors.New("copied stacks are followed on amd64 and arm64 only")
)

// ErrEnded means that none of the processes is alive.
var ErrEnded = errors.New("no such process")

func (o *Options) fill() error {
	if o.Hz == 0 {
		o.Hz = DefaultHz
	}
	if o.Hz < 1 || o.Hz > MaxHz {
		return ErrRate
	}
	if o.StackBytes < 0 || o.StackBytes > MaxStackBytes {
		return ErrStackBytes
	}
	o.StackBytes = (o.StackBytes + 7) &^ 7
	if o.StackBytes > 0 && wantedRegisters() == 0 {
		return ErrMachine
	}
	return nil
}

// wantedRegisters are the bits of the registers by which copied stacks are followed, 0 on processors
// where they can't be.
func wantedRegisters() uint64 {
	switch runtime.GOARCH {
	case "amd64":
		return callframe.WantAMD64
	case "arm64":
		return callframe.WantARM64
	}
	return 0
}

func (o *Options) period() time.Duration { return time.Second / time.Duration(o.Hz) }

// Summary is the result of sampling.
type Summary struct {
	Dirs      []string // of the processes that were recorded
	Programs  []string // that they ran: paths of files, each once
	Samples   int      // of the CPU
	Waits     int      // times that a thread was off the processor
	Lost      uint64   // records for which the kernel's buffer had no room
	Unwritten []string // why processes were not recorded
}
